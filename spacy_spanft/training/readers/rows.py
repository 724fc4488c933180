"""Rows of a table, wherever they come from, and those of `datasets` datasets."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from spacy.language import Language

from ...errors import Errors, ReaderError, check_setting
from ...errors.shortening import listed, meant
from ...ngrams.text.hub import load_split

Incomplete = Literal["error", "skip"]
# What spreadsheets also put between cells.
_OTHER_SEPARATORS = (";", "\t", "|", ",")


class Row(NamedTuple):
    """One row.

    place (str): Where it stands, for messages: "Line 3".
    cells (dict[str, Any]): Columns to values.
    """

    place: str
    cells: dict[str, Any]


def check_limit(limit: int) -> None:
    """Raise for a number of rows that cannot be read.

    limit (int): How many; 0 for all.
    """
    is_right = isinstance(limit, int) and limit >= 0
    check_setting("limit", limit, is_right, "0 (for all) or more")


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Raise for a setting that is none of its choices.

    name (str): The setting.
    value (Any): What it is set to.
    choices (Sequence[str]): What it can be.
    """
    expected = " or ".join(f'"{choice}"' for choice in choices)
    check_setting(name, value, value in choices, expected)


def check_length(nlp: Language, text: str, place: str) -> None:
    """Raise for a text that the pipeline takes for too long.

    place (str): Where it stands, for the message.
    """
    if len(text) > nlp.max_length:
        how_long = {"length": len(text), "longest": nlp.max_length}
        raise ReaderError(Errors.TEXT_TOO_LONG.format(place=place, **how_long))


def cell_of(row: Row, source: str, setting: str, column: str) -> Any:
    """Read one cell of a row.

    source (str): Where it comes from, for the message.
    setting (str): The setting that names the column, for the message.
    RETURNS (Any): What is in it.
    """
    if column not in row.cells:
        raise ReaderError(
            Errors.NO_COLUMN_IN.format(
                setting=setting,
                option=setting.replace("_", "-"),
                column=column,
                source=source,
                place=row.place.lower(),
                columns=listed(row.cells),
                hint=separator_in(row.cells) or meant(column, row.cells),
            )
        )
    return row.cells[column]


def separator_in(columns: Collection[str]) -> str:
    """Hint at what else may separate the columns of a table that has only one.

    RETURNS (str): The hint; "" if there is none.
    """
    for separator in _OTHER_SEPARATORS if len(columns) == 1 else ():
        if separator in next(iter(columns)):
            return (
                f" Are its columns separated by {separator!r}? Save it with commas "
                f"(.csv) or tabs (.tsv)."
            )
    return ""


def rows_from_dataset(
    name: str, config: str | None = None, split: str = "train"
) -> Iterator[Row]:
    """Read a dataset. Labels that it keeps as numbers are given by their names.

    name (str): Its name on the hub, or a local folder.
    config (Optional[str]): Its configuration.
    """
    dataset = load_split(name, config, split, streaming=False)
    names = {
        column: known
        for column, feature in dataset.features.items()
        if (known := _names_of(feature)) is not None
    }
    for i, cells in enumerate(dataset):
        for column, known in names.items():
            cells[column] = _named(cells[column], known)
        yield Row(f"Row {i}", cells)


def _names_of(feature: Any) -> list[str] | None:
    """Find the names of the labels that a column holds, also in lists."""
    feature = getattr(feature, "feature", feature)
    names: list[str] | None = getattr(feature, "names", None)
    return names


def _named(value: Any, names: list[str]) -> Any:
    if isinstance(value, list):
        return [_named(one, names) for one in value]
    if not isinstance(value, int):
        return value
    # GLUE's test data has -1 where the label is secret.
    return names[value] if value >= 0 else None
