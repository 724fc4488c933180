"""Files of facts beside pipelines: JSON objects whose values have known types."""

import json
import sys
from pathlib import Path
from typing import Any

from ..errors import ComparisonError


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
