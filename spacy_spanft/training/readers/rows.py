"""Rows of `datasets` datasets, spaCy's binary data, and the cells of any rows."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example
from spacy.vocab import Vocab

from ...errors import SpanftError, listed, reported, shown
from ...ml.pairs import join_pair
from ...util.columns import TEXTS
from ...util.files import check_exists
from ...util.tables import Row, load_split

Incomplete = Literal["error", "skip"]


class DocBins(Corpus):
    """spaCy's reader of its binary data, with an error that names the file."""

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Read the Examples."""
        if not self.path.exists():
            check_exists(self.path)
        # Of a text that is too long for the pipeline.
        with reported(f"{shown(str(self.path))} cannot be read", ValueError):
            # Of files that are read one by one, spaCy would count the limit anew.
            yield from islice(super().__call__(nlp), self.limit or None)

    def read_docbin(self, vocab: Vocab, locs: Iterable[str | Path]) -> Iterator[Doc]:
        """Read the Docs."""
        for path in locs:  # of a folder, too
            message = f"{shown(str(path))} cannot be read: it is no DocBin, or damaged"
            with reported(message, Exception):  # zlib and msgpack raise various ones
                yield from super().read_docbin(vocab, [path])


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
    for i, cells in enumerate(dataset, 1):
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
            f'--{setting.replace("_", "-")} of a command, or "columns" in a task.json. '
            "If only some rows lack it, remove them, or skip them where a command has "
            "--incomplete skip."
        )
    return row.cells[column]


def text_of(row: Row, text: str, text_pair: str | None, separator: str) -> str:
    """Return the text of a row, or its two texts joined."""
    texts: list[str] = []
    for setting, column in zip(TEXTS, (text, text_pair), strict=True):
        value = "" if column is None else cell_of(row, setting, column)
        if not isinstance(value, str):
            where = f"{row.place} has {shown(value)} in column {column!r}"
            raise SpanftError(f"{where}, which is not a text.")
        texts.append(value)
    try:
        first, second = texts
        return first if text_pair is None else join_pair(first, second, separator)
    except SpanftError as error:
        raise SpanftError(f"{row.place}: {error}") from error


def check_length(nlp: Language, text: str, place: str) -> str:
    """Return a text, or raise if it is longer than the pipeline accepts."""
    if len(text) > nlp.max_length:
        raise SpanftError(
            f"{place} has {len(text):,} characters, but nlp.max_length is "
            f"{nlp.max_length:,}. Split it into several texts."
        )
    return text


def _named(value: Any, names: list[str]) -> Any:
    if isinstance(value, list):
        return [_named(item, names) for item in value]
    # GLUE's test data has -1 where the label is secret.
    return names[value] if isinstance(value, int) and value >= 0 else None
