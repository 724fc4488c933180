"""Corpora for text classification: single texts or pairs, with labels or scores.

What all corpora share is here, too: spaCy's binary data, datasets, and cells of rows.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from spacy.language import Language
from spacy.training import Corpus as DocBinCorpus
from spacy.training import Example

from ...errors import SpanftError, listed, shown
from ...ml.encoder.loading import SETTINGS
from ...ml.pairs import SEPARATOR, check_separator, join_pair, split_pair
from ...ngrams.text import load_split
from ...util.tables import Format, Row, read_table
from ...util.text_files import UTF8, ErrorHandling
from ..gold import PLACE, SCORE

Corpus = Callable[[Language], Iterator[Example]]
Incomplete = Literal["error", "skip"]
NO_PATH = (
    "This corpus has no path. Set it in the config or on the command line: "
    "--paths.train train.tsv --paths.dev dev.tsv"
)
_NO_LABEL = ("", "nan", "NaN")  # as pandas writes them
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")


class _Columns(NamedTuple):
    """The names of the columns. See `table_corpus`."""

    text: str
    text_pair: str | None
    label: str | None
    labels: dict[str, str] | None
    score: str | None
    separator: str
    incomplete: Incomplete
    label_separator: str | None = None


def table_corpus(
    path: str | Path | None,
    text: str = "text",
    text_pair: str | None = None,
    label: str | None = "label",
    labels: dict[str, str] | None = None,
    score: str | None = None,
    separator: str = SEPARATOR,
    format: Format | None = None,
    header: list[str] | None = None,
    errors: ErrorHandling = "strict",
    limit: int = 0,
    incomplete: Incomplete = "error",
    encoding: str = UTF8,
    label_separator: str | None = None,
) -> Corpus:
    """Build `spacy-spanft.TableCorpus.v1`: Examples from CSV, TSV, JSONL or Parquet.

    path (Optional[Union[str, Path]]): The file, which may be compressed. A .spacy file,
        or a folder of them, is read as spacy.Corpus.v1 does, whatever the columns.
    text (str): The column of the text, or of the first text of a pair.
    text_pair (Optional[str]): The column of the second text; None for single texts.
    label (Optional[str]): The column of the label, or of a list of labels; None reads
        the texts alone.
    labels (Optional[dict[str, str]]): New names of the labels, in their order.
    score (Optional[str]): The column of a number, which becomes doc.cats["score"], in
        place of labels.
    separator (str): Stands between two texts; that of the pipeline's tokenizer.
    format, header, errors, encoding: As in `spacy_spanft.util.tables.read_table`.
    limit (int): Read only so many rows; 0 reads all.
    incomplete (Literal["error", "skip"]): Whether to raise for a row that lacks cells
        or its label, or to skip it, as needed with QQP and SNLI.
    label_separator (Optional[str]): Stands between several labels in one cell, such as
        the comma in "sport,news".
    """
    if path is None:
        raise SpanftError(NO_PATH)
    names = (text, text_pair, label, labels, score)
    columns = _Columns(*names, separator, incomplete, label_separator)
    if format is None and is_docbins(path):
        return DocBins(path, limit=limit)
    how: Any = {"format": format, "header": header, "errors": errors}
    read = partial(read_table, path, **how, encoding=encoding, broken=incomplete)
    return _corpus(read, shown(str(path)), columns, limit)


def dataset_corpus(
    name: str,
    config: str | None = None,
    split: str = "train",
    text: str = "text",
    text_pair: str | None = None,
    label: str | None = "label",
    labels: dict[str, str] | None = None,
    score: str | None = None,
    separator: str = SEPARATOR,
    limit: int = 0,
    incomplete: Incomplete = "error",
) -> Corpus:
    """Build `spacy-spanft.DatasetCorpus.v1`: Examples from a `datasets` dataset.

    Class labels that are stored as numbers become their names. The other settings are
    those of `spacy-spanft.TableCorpus.v1`.

    name (str): Its name on the hub ("glue"), or a local folder.
    config (Optional[str]): Its configuration ("mrpc").
    """
    columns = _Columns(text, text_pair, label, labels, score, separator, incomplete)
    read = partial(rows_from_dataset, name, config, split)
    return _corpus(read, f"split {split!r} of {name!r}", columns, limit)


def is_docbins(path: str | Path) -> bool:
    """Whether a path is a .spacy file, or a folder, in which spaCy looks for them."""
    folder = Path(path)
    if folder.is_dir() and not any(folder.rglob("*.spacy")):
        raise SpanftError(f"{str(path)!r} is a folder without .spacy files.")
    return folder.is_dir() or folder.suffix == ".spacy"


def _corpus(
    read: Callable[[], Iterator[Row]], source: str, columns: _Columns, limit: int
) -> Corpus:
    names = [columns.text, columns.text_pair, columns.score or columns.label]
    if twice := next((n for n in names if n is not None and names.count(n) > 1), None):
        raise SpanftError(f"The column {shown(twice)} is named twice.")
    if columns.text_pair is not None:
        check_separator(columns.separator)

    def corpus(nlp: Language) -> Iterator[Example]:
        if columns.text_pair is not None:
            _check_pipeline(nlp, columns.separator)
        placed = (row.of(source) for row in read())
        whole = (row for row in placed if not _is_left_out(row, columns))
        rows = list(islice(whole, limit or None))
        if not rows:
            raise SpanftError(f"There are no rows in {source}.")
        # Everything is checked before the first Example, which needs the labels of all
        # rows anyway.
        texts = [_text_of(row, columns) for row in rows]
        for row, text in zip(rows, texts, strict=True):
            check_length(nlp, text, row.place)
        gold = _cats_of(rows, columns)
        for row, text, cats in zip(rows, texts, gold, strict=True):
            predicted = nlp.make_doc(text)
            reference = predicted.copy()
            reference.cats = cats
            reference.user_data[PLACE] = row.place.removesuffix(f" of {source}")
            yield Example(predicted, reference)

    return corpus


def _check_pipeline(nlp: Language, separator: str) -> None:
    """Raise if the tokenizer or a component has another separator."""
    split_pair(nlp.make_doc(join_pair("a", "b", separator)), separator)
    for name, component in nlp.pipeline:
        attrs = getattr(getattr(component, "model", None), "attrs", {})
        # The encoder keeps its settings in one object.
        owners = (component, attrs.get(SETTINGS))
        separators = [getattr(owner, "separator", None) for owner in owners]
        other = next(filter(None, [*separators, attrs.get("separator")]), separator)
        if other != separator:
            raise SpanftError(
                f"The corpus joins pairs with {separator!r}, but {name!r} has "
                f"separator = {other!r}. Set both to ${{nlp.tokenizer.separator}}."
            )


def _is_left_out(row: Row, columns: _Columns) -> bool:
    """Whether a row has no label, and such rows are skipped."""
    column = columns.score or columns.label
    if columns.incomplete == "error" or column is None:
        return False
    value = cell_of(row, "label", column)
    return _is_missing(value) or value == "-"  # as in SNLI


def _is_missing(value: Any) -> bool:
    return value is None or str(value).strip() in _NO_LABEL


def _text_of(row: Row, columns: _Columns) -> str:
    """Return the text of a row, or its two texts joined."""
    names = {"text": columns.text, "text_pair": columns.text_pair}
    texts = []
    for setting, column in names.items():
        if column is None:
            continue
        texts.append(cell_of(row, setting, column))
        if not isinstance(texts[-1], str):
            raise SpanftError(
                f"{row.place} has {shown(texts[-1])} in column {shown(column)}, which "
                "is not a text."
            )
    if columns.text_pair is None:
        return str(texts[0])
    try:
        return join_pair(texts[0], texts[1], columns.separator)
    except SpanftError as error:
        raise SpanftError(f"{row.place}: {error}") from error


def _cats_of(rows: Sequence[Row], columns: _Columns) -> list[dict[str, float]]:
    """Return the cats of each row, with all labels of all rows."""
    if columns.score is not None:
        return [{SCORE: _number(row, columns.score)} for row in rows]
    if columns.label is None:
        return [{} for _ in rows]
    new_names, separator = columns.labels, columns.label_separator
    labels = [labels_of(row, columns.label, separator, new_names) for row in rows]
    known = new_names.values() if new_names else sorted(set().union(*labels))
    return [{label: float(label in names) for label in known} for names in labels]


def _label_cell(row: Row, setting: str, column: str) -> Any:
    value = cell_of(row, setting, column)
    if _is_missing(value):
        raise SpanftError(
            f"{row.place} has no label: column {shown(column)} holds {shown(value)}. "
            'Remove such rows, skip them (incomplete = "skip"), or read the texts '
            "alone (label = null)."
        )
    return value


def _number(row: Row, column: str) -> float:
    value = _label_cell(row, "score", column)
    if isinstance(value, str) and _DECIMAL_COMMA.fullmatch(value):
        raise SpanftError(
            f"{row.place} has {shown(value)} in column {shown(column)}. Write numbers "
            f"with a point: {value.strip().replace(',', '.')}."
        )
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise SpanftError(
            f"{row.place} has {shown(value)} in column {shown(column)}, which is not a "
            "finite number. If the column holds labels, set label = and not score =."
        )
    return number


def labels_of(
    row: Row,
    column: str,
    separator: str | None = None,
    new_names: dict[str, str] | None = None,
) -> set[str]:
    """Return the labels of a row, without outer white space, and renamed."""
    value = _label_cell(row, "label", column)
    if separator is not None and isinstance(value, str):
        value = [x for x in value.split(separator) if x.strip()]
    names = set()
    for label in value if isinstance(value, list) else [value]:
        if not isinstance(label, str | int | float) or not str(label).strip():
            raise SpanftError(
                f"{row.place} has {shown(label)} for a label. Labels are strings or "
                "numbers, or lists of them."
            )
        name = str(label).strip()
        if new_names is not None and name not in new_names:
            raise SpanftError(
                f"{row.place} has the label {shown(name)}, but labels names only: "
                f"{listed(new_names)}."
            )
        names.add(name if new_names is None else new_names[name])
    return names


class DocBins(DocBinCorpus):
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
