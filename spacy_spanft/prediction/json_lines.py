"""Predictions as JSON lines."""

import json
import math
import shutil
from collections.abc import Iterable, Mapping
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any

from ..errors import Errors, SpanftError


def encode(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Write rows.

    rows (Iterable[Mapping[str, Any]]): The rows.
    RETURNS (bytes): A line for each.
    """
    return "".join(_line(row) for row in rows).encode("utf8", errors="backslashreplace")


def join(parts: Iterable[Path], target: Path) -> None:
    """Put files of lines together.

    parts (Iterable[Path]): The files, in order.
    target (Path): The file to write.
    """
    with open(target, "wb") as file:
        for part in parts:
            with open(part, "rb") as one:
                shutil.copyfileobj(one, file)


def _line(row: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(row, ensure_ascii=False, allow_nan=False, default=_plain)
    except ValueError:  # not a number, which JSON does not have
        row = _without_nan(row)
        text = json.dumps(row, ensure_ascii=False, default=_plain)
    return f"{text}\n"


def _plain(value: Any) -> Any:
    """Write what a Parquet file may hold, and JSON may not."""
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    kind = type(value).__name__
    raise SpanftError(Errors.NOT_IN_JSON.format(kind=kind))


def _without_nan(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nan(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
