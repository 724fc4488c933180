"""Rows of `datasets` datasets, spaCy's binary data, and the cells of any rows."""

from collections.abc import Iterator
from typing import Any, Literal

from spacy.language import Language
from spacy.training import Corpus, Example

from ...errors import SpanftError, listed, shown
from ...ngrams.text import load_split
from ...util.tables import Row

Incomplete = Literal["error", "skip"]


class DocBins(Corpus):
    """spaCy's reader of its binary data, with an error that names the file."""

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Read the Examples."""
        try:
            yield from super().__call__(nlp)
        except Exception as error:  # zlib and msgpack raise various ones
            raise SpanftError(
                f"{shown(str(self.path))} cannot be read: it is no DocBin, or damaged."
            ) from error


def rows_from_dataset(
    name: str, config: str | None = None, split: str = "train"
) -> Iterator[Row]:
    """Read a dataset. Class labels that it stores as numbers become their names."""
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


def cell_of(row: Row, setting: str, column: str) -> Any:
    """Return one cell of a row; the setting that names the column is for the error."""
    if column not in row.cells:
        where = row.place[0].lower() + row.place[1:]
        raise SpanftError(
            f"There is no column {shown(column)} in {where}. It has: "
            f"{listed(row.cells)}. Name the right one: {setting} = in a config, "
            f'--{setting.replace("_", "-")} of a command, or "columns" in a task.json.'
        )
    return row.cells[column]


def check_length(nlp: Language, text: str, place: str) -> None:
    """Raise for a text that is longer than the pipeline accepts."""
    if len(text) > nlp.max_length:
        raise SpanftError(
            f"{place} has {len(text):,} characters of text, and the pipeline takes "
            f"{nlp.max_length:,} (nlp.max_length). Split it into several texts."
        )


def _named(value: Any, names: list[str]) -> Any:
    if isinstance(value, list):
        return [_named(item, names) for item in value]
    # GLUE's test data has -1 where the label is secret.
    return names[value] if isinstance(value, int) and value >= 0 else None
