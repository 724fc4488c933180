"""Files of facts beside pipelines: JSON objects whose values have known types."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import ComparisonError, shown


def read_text(path: Path) -> str:
    """Read a file.

    path (Path): The file.
    RETURNS (str): Its text.
    """
    try:
        return path.read_text("utf8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ComparisonError(f"{path} is damaged: {reason}.") from error


def to_object(path: Path, text: str) -> dict[str, Any]:
    """Read a JSON object.

    path (Path): The file that it comes from, for errors.
    text (str): The JSON.
    RETURNS (dict[str, Any]): The object.
    """
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ComparisonError(f"{path} is damaged: {error}.") from error
    if not isinstance(values, dict):
        reason = f"{text.strip()[:40]!r} is not a JSON object"
        raise ComparisonError(f"{path} is damaged: {reason}.")
    return values


def value_of(
    path: Path,
    values: dict[str, Any],
    key: str,
    is_right: Callable[[Any], bool],
    expected: str,
) -> Any:
    """Take a value from a JSON object.

    path (Path): The file that it comes from, for errors.
    values (dict[str, Any]): The object.
    is_right (Callable[[Any], bool]): Whether a value may be there.
    expected (str): What may be there, in words.
    RETURNS (Any): The value.
    """
    value = values.get(key)
    if key not in values or is_right(value) is not True:
        reason = f"{key!r} is {shown(value)}, but must be {expected}"
        if key not in values:
            reason = f"{key!r} is missing, which must be {expected}"
        raise ComparisonError(f"{path} is damaged: {reason}.")
    return value


def is_whole(value: Any) -> bool:
    """Say whether a value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Say whether a value is a finite number."""
    is_any = is_whole(value) or isinstance(value, float)
    return is_any and abs(value) <= sys.float_info.max


def is_amount(value: Any) -> bool:
    """Say whether a value is a finite number of 0 or more."""
    return is_number(value) and value >= 0


def is_amount_or_none(value: Any) -> bool:
    """Say whether a value is such a number, or null."""
    return value is None or is_amount(value)


def are_strings(value: Any) -> bool:
    """Say whether a value is an object of strings."""
    return isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
