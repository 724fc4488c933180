"""From the columns of a row to a text, or a pair of texts, and its labels or score.

`source` is where rows come from, for messages.
"""

import math
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...errors import SpanftError, listed, shown
from ...ml.pairs import check_separator, join_pair
from .rows import Incomplete, Row, cell_of

# What a score is called in doc.cats.
SCORE = "score"
# Values of a missing label; SNLI has "-".
_NO_LABEL = (None, "", "-")


class Columns(NamedTuple):
    """The names of the columns. See `table_corpus`."""

    text: str
    text_pair: str | None
    label: str | None
    labels: dict[str, str] | None
    score: str | None
    separator: str
    incomplete: Incomplete


def check_columns(columns: Columns) -> None:
    """Raise for settings that contradict each other."""
    if columns.labels is not None and columns.score is not None:
        raise SpanftError(
            f"labels renames labels, but score = {columns.score!r} reads numbers in "
            "their place. Remove one of them."
        )
    names = [columns.text, columns.text_pair, columns.score or columns.label]
    if twice := next((n for n in names if n is not None and names.count(n) > 1), None):
        raise SpanftError(
            f"The column {shown(twice)} is named twice: texts and labels must be in "
            "different columns."
        )
    if columns.text_pair is not None:
        check_separator(columns.separator)


def is_left_out(row: Row, source: str, columns: Columns) -> bool:
    """Whether a row has no label, and such rows are skipped."""
    column = columns.score or columns.label
    if columns.incomplete == "error" or column is None:
        return False
    value = cell_of(row, source, "label", column)
    return (value.strip() if isinstance(value, str) else value) in _NO_LABEL


def text_of(row: Row, source: str, columns: Columns) -> str:
    """Return the text of a row, or its two texts joined."""
    first = _string(row, source, "text", columns.text)
    if columns.text_pair is None:
        return first
    second = _string(row, source, "text_pair", columns.text_pair)
    try:
        return join_pair(first, second, columns.separator)
    except SpanftError as error:
        raise SpanftError(f"{row.place} of {source}: {error}") from error


def warn_no_text(rows: Sequence[Row], source: str, columns: Columns) -> None:
    """Warn about rows without a text."""
    for name in filter(None, (columns.text, columns.text_pair)):
        blank = [row.place for row in rows if not row.cells[name].strip()]
        if blank:
            warnings.warn(
                f"{len(blank):,} of {len(rows):,} rows of {source} have no text in "
                f"column {shown(name)}, the first is {blank[0].lower()}. A model can "
                "only guess their labels: remove them unless they are intended.",
                stacklevel=3,
            )


def cats_of(
    rows: Sequence[Row], source: str, columns: Columns
) -> list[dict[str, float]]:
    """Return the cats of each row, with all labels of all rows."""
    if columns.score is not None:
        return [{SCORE: _number(row, source, columns.score)} for row in rows]
    if columns.label is None:
        return [{} for _ in rows]
    labels = [_labels_of(row, source, columns) for row in rows]
    known = columns.labels.values() if columns.labels else sorted(set().union(*labels))
    return [{label: float(label in names) for label in known} for names in labels]


def _string(row: Row, source: str, setting: str, column: str) -> str:
    value = cell_of(row, source, setting, column)
    if not isinstance(value, str):
        raise SpanftError(
            f"{row.place} of {source} has {shown(value)} in column {shown(column)}, "
            "which is not a text."
        )
    return value


def _label_cell(row: Row, source: str, setting: str, column: str) -> Any:
    value = cell_of(row, source, setting, column)
    if value is None or (isinstance(value, str) and not value.strip()):
        raise SpanftError(
            f"{row.place} of {source} has no label: column {shown(column)} holds "
            f"{shown(value)}. Remove such rows, skip them (incomplete = "
            '"skip"), or read the texts alone (label = null, or --no-label of convert).'
        )
    return value


def _number(row: Row, source: str, column: str) -> float:
    value = _label_cell(row, source, "score", column)
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise SpanftError(
            f"{row.place} of {source} has {shown(value)} in column {shown(column)}, "
            "which is not a finite number. If the column holds labels, set label = "
            "and not score =."
        )
    return number


def _labels_of(row: Row, source: str, columns: Columns) -> set[str]:
    """Return the labels of a row, renamed."""
    value = _label_cell(row, source, "label", columns.label or "")
    names = set()
    for label in value if isinstance(value, list) else [value]:
        name = str(label) if isinstance(label, str | int | float) else ""
        if not name.strip():
            raise SpanftError(
                f"{row.place} of {source} has {shown(label)} for a label. Labels are "
                "strings or numbers, or lists of them."
            )
        if columns.labels is not None and name not in columns.labels:
            raise SpanftError(
                f"{row.place} of {source} has the label {shown(name)}, but labels "
                f"names only: {listed(columns.labels)}."
            )
        names.add(name if columns.labels is None else columns.labels[name])
    return names
