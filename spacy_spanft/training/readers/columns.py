"""What the columns of a row hold: one text or two, and labels or a score."""

import math
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from ...errors import (
    Errors,
    PairError,
    ReaderError,
    Warnings,
    check_setting,
    without_code,
)
from ...errors.shortening import listed
from ...ml.pairs import check_separator, join_pair
from .rows import Incomplete, Row, cell_of, check_choice

# What a score is called in doc.cats.
SCORE = "score"
# What stands where there is no label; the last is what SNLI has.
_NO_LABEL = (None, "", "-")


class Columns(NamedTuple):
    """What is where in a row. See `table_corpus`."""

    text: str
    text_pair: str | None
    label: str | None
    labels: dict[str, str] | None
    score: str | None
    separator: str
    incomplete: Incomplete


def check_columns(columns: Columns) -> None:
    """Raise for settings that contradict each other, or can never be right.

    columns (Columns): The settings.
    """
    check_choice("incomplete", columns.incomplete, ("error", "skip"))
    if columns.labels is not None and columns.score is not None:
        raise ReaderError(Errors.LABELS_AND_SCORE.format(score=columns.score))
    _check_distinct(columns)
    for name in (columns.labels or {}).values():
        is_name = isinstance(name, str) and name.strip() and not _why_not_utf8(name)
        expected = "a table of names, none of them empty"
        check_setting("labels", columns.labels, bool(is_name), expected)
    if columns.text_pair is not None:
        check_separator(columns.separator)


def _check_distinct(columns: Columns) -> None:
    """Raise if two settings name the same column."""
    seen: dict[str, str] = {}
    for name in ("text", "text_pair", "label" if columns.score is None else "score"):
        column = getattr(columns, name)
        if column in seen:
            place = {"column": column, "one": seen[column], "other": name}
            raise ReaderError(Errors.SAME_COLUMN.format(**place))
        if column is not None:
            seen[column] = name


def is_left_out(row: Row, source: str, columns: Columns) -> bool:
    """Tell whether a row has no label, and rows without labels are not wanted.

    source (str): Where it comes from, for the message.
    columns (Columns): What is where in it.
    RETURNS (bool): Whether to leave it out.
    """
    column = columns.score or columns.label
    if columns.incomplete == "error" or column is None:
        return False
    value = cell_of(row, source, "label", column)
    return (value.strip() if isinstance(value, str) else value) in _NO_LABEL


def text_of(row: Row, source: str, columns: Columns) -> str:
    """Read the text of a row, or join the two of a pair.

    source (str): Where it comes from, for the message.
    columns (Columns): What is where in it.
    RETURNS (str): The text.
    """
    first = _string(row, source, "text", columns.text)
    if columns.text_pair is None:
        return first
    second = _string(row, source, "text_pair", columns.text_pair)
    try:
        return join_pair(first, second, columns.separator)
    except PairError as error:
        raise ReaderError(f"{row.place} of {source}: {without_code(error)}") from error


def check_texts(rows: Sequence[Row], source: str, columns: Columns) -> None:
    """Warn of rows whose text, or one of whose texts, is but white space.

    Raises if no row has any text.

    rows (Sequence[Row]): The rows, which all have texts.
    source (str): Where they come from, for the message.
    columns (Columns): What is where in them.
    """
    names = [name for name in (columns.text, columns.text_pair) if name is not None]
    if not any(row.cells[name].strip() for row in rows for name in names):
        place = {"source": source, "columns": listed(names)}
        raise ReaderError(Errors.NO_TEXT_AT_ALL.format(**place, n_rows=len(rows)))
    for column in names:
        blank = [row.place for row in rows if not row.cells[column].strip()]
        if blank:
            n = {"n": len(blank), "n_rows": len(rows), "place": blank[0].lower()}
            message = Warnings.NO_TEXT_IN_ROWS.format(source=source, column=column, **n)
            warnings.warn(message, stacklevel=3)


def cats_of(
    rows: Sequence[Row], source: str, columns: Columns
) -> list[dict[str, float]]:
    """Give each row its cats, with all labels of all rows.

    source (str): Where they come from, for the message.
    columns (Columns): What is where in them.
    RETURNS (list[dict[str, float]]): The cats of each.
    """
    if columns.score is not None:
        return [{SCORE: _number(row, source, columns.score)} for row in rows]
    if columns.label is None:
        return [{} for _ in rows]
    cells = [_label_cell(row, source, "label", columns.label) for row in rows]
    name = partial(_names_of, source=source, labels=columns.labels)
    found = [name(row, cell) for row, cell in zip(rows, cells, strict=True)]
    known = columns.labels.values() if columns.labels else sorted(set().union(*found))
    return [{label: float(label in mine) for label in known} for mine in found]


def _string(row: Row, source: str, setting: str, column: str) -> str:
    value = cell_of(row, source, setting, column)
    place = {"place": row.place, "source": source, "column": column, "value": value}
    if not isinstance(value, str):
        raise ReaderError(Errors.NO_TEXT_IN.format(**place))
    if reason := _why_not_utf8(value):
        raise ReaderError(Errors.BAD_TEXT_IN.format(**place, reason=reason))
    return value


def _why_not_utf8(text: str) -> str | None:
    """JSON can name half a character, which nothing can be done with later."""
    try:
        text.encode("utf8")
    except UnicodeEncodeError as error:
        return error.reason
    return None


def _label_cell(row: Row, source: str, setting: str, column: str) -> Any:
    value = cell_of(row, source, setting, column)
    if value is None or (isinstance(value, str) and not value.strip()):
        place = {"place": row.place, "source": source}
        message = Errors.NO_LABEL_IN.format(**place, column=column, value=value)
        raise ReaderError(message)
    return value


def _number(row: Row, source: str, column: str) -> float:
    value = _label_cell(row, source, "score", column)
    # What Python alone takes for a number (True, "1_000") is none in a table.
    is_odd = isinstance(value, bool) or "_" in str(value)
    try:
        number = math.nan if is_odd else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        place = {"place": row.place, "source": source}
        message = Errors.NO_NUMBER.format(**place, value=value, column=column)
        raise ReaderError(message)
    return number


def _names_of(
    row: Row, value: Any, source: str, labels: dict[str, str] | None
) -> set[str]:
    place = {"place": row.place, "source": source}
    found = set()
    for one in value if isinstance(value, list) else [value]:
        name = str(one) if isinstance(one, str | int | float) else ""
        if not name.strip():
            raise ReaderError(Errors.BAD_LABEL_IN.format(**place, value=one))
        if reason := _why_not_utf8(name):
            message = Errors.BAD_LABEL_TEXT_IN.format(
                **place, value=name, reason=reason
            )
            raise ReaderError(message)
        if labels is not None and name not in labels:
            there = listed(labels)
            message = Errors.UNKNOWN_LABEL.format(**place, value=name, labels=there)
            raise ReaderError(message)
        found.add(name if labels is None else labels[name])
    return found
