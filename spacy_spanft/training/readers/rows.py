"""Rows of tables and of `datasets` datasets, each with its place for messages."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from spacy.language import Language

from ...errors import SpanftError, listed, shown
from ...ngrams.text import load_split

Incomplete = Literal["error", "skip"]


class Row(NamedTuple):
    """A row.

    place (str): Where it stands, for messages: "Line 3".
    cells (dict[str, Any]): The values by column.
    """

    place: str
    cells: dict[str, Any]


def check_length(nlp: Language, text: str, place: str) -> None:
    """Raise for a text that is longer than the pipeline accepts.

    place (str): Where the text stands, for the message.
    """
    if len(text) > nlp.max_length:
        raise SpanftError(
            f"{place} has {len(text):,} characters of text, and the pipeline takes "
            f"{nlp.max_length:,} (nlp.max_length). Split it into several texts, or "
            "raise that number in a callback of the config's [nlp] after_creation."
        )


def cell_of(row: Row, source: str, setting: str, column: str) -> Any:
    """Return one cell of a row.

    source (str): Where the row comes from, for the message.
    setting (str): The setting that names the column, for the message.
    column (str): The column.
    RETURNS (Any): The value.
    """
    if column not in row.cells:
        raise SpanftError(
            f"There is no column {shown(column)} in {row.place.lower()} of {source}. "
            f"It has: {listed(row.cells)}. Name the right one: "
            f"--{setting.replace('_', '-')} NAME where a command has it, "
            f'{setting} = "..." in a config, or "columns" in the task.json of an '
            "experiment."
        )
    return row.cells[column]


def rows_from_dataset(
    name: str, config: str | None = None, split: str = "train"
) -> Iterator[Row]:
    """Read a dataset. Class labels that it stores as numbers become their names.

    name (str): Its name on the hub, or a local folder.
    config (Optional[str]): Its configuration.
    split (str): The split.
    YIELDS (Row): The rows.
    """
    dataset = load_split(name, config, split, streaming=False)
    # ClassLabel has names, alone or as the feature of a list.
    features = {
        column: getattr(feature, "feature", feature)
        for column, feature in dataset.features.items()
    }
    for i, cells in enumerate(dataset):
        for column, feature in features.items():
            if hasattr(feature, "names"):
                cells[column] = _named(cells[column], feature.names)
        yield Row(f"Row {i}", cells)


def _named(value: Any, names: list[str]) -> Any:
    if isinstance(value, list):
        return [_named(item, names) for item in value]
    # GLUE's test data has -1 where the label is secret.
    return names[value] if isinstance(value, int) and value >= 0 else None
