"""Corpora for text classification: one text or two, with labels or with a score."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.training import Corpus as DocBins
from spacy.training import Example

from ..corpus.blocks import ErrorHandling
from ..errors import Errors, PairError, ReaderError, SettingError
from ..pairs import SEPARATOR, check_separator, join_pair, split_pair
from .rows import (
    Format,
    Incomplete,
    Row,
    cell_of,
    check_limit,
    rows_from_dataset,
    rows_from_file,
)

Corpus = Callable[[Language], Iterator[Example]]

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
) -> Corpus:
    """Build `spacy-spanft.TableCorpus.v1`: Examples from a TSV, CSV or JSONL file.

    path (Optional[Union[str, Path]]): The file, which may be packed. A .spacy file,
        or a folder of them, is read as spacy.Corpus.v1 does, whatever the columns; with
        a text_pair, each text in it must have a separator.
    text (str): The column of the text, or of the first of two.
    text_pair (Optional[str]): The column of the second text; None for single texts.
    label (Optional[str]): The column of the label, of a list of labels (JSONL), or of
        the score; None reads the texts alone.
    labels (Optional[dict[str, str]]): What each value of the column is called; None
        calls it what it is.
    score (Optional[str]): The column of a number, which becomes doc.cats["score"], in
        the place of labels.
    separator (str): Stands between two texts; that of the pipeline's tokenizer.
    format (Optional[Literal["tsv", "csv", "jsonl"]]): None goes by the file's ending.
    header (Optional[list[str]]): The names of the columns, if the file has none.
    errors (str): "strict" raises at bytes that are no UTF-8, "replace" replaces them.
    limit (int): Read only so many rows; 0 reads all.
    incomplete (Literal["error", "skip"]): Whether to raise for a row that lacks cells
        or its label, or to leave it out, as one must with QQP and SNLI.
    RETURNS (Callable[[Language], Iterator[Example]]): The corpus.
    """
    if path is None:
        raise ReaderError(Errors.NO_READER_PATH)
    _check_incomplete(incomplete)
    columns = Columns(text, text_pair, label, labels, score, separator, incomplete)
    is_docbin = str(path).endswith(".spacy") or Path(path).is_dir()
    if format is None and is_docbin:
        return _docbin_corpus(path, columns, limit)
    how: Any = {"format": format, "header": header, "errors": errors}
    read = partial(rows_from_file, path, **how, incomplete=incomplete)
    return _corpus(read, repr(str(path)), columns, limit)


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

    name (str): Its name on the hub ("glue"), or a local folder.
    config (Optional[str]): Its configuration ("mrpc").
    split (str): The split.
    text (str): The column of the text, or of the first of two.
    text_pair (Optional[str]): The column of the second text; None for single texts.
    label (Optional[str]): The column of the label, of a list of labels, or of the
        score; None reads the texts alone. Numbers that have names are given by them.
    labels (Optional[dict[str, str]]): What each value of the column is called.
    score (Optional[str]): The column of a number, in the place of labels.
    separator (str): Stands between two texts; that of the pipeline's tokenizer.
    limit (int): Read only so many rows; 0 reads all.
    incomplete (Literal["error", "skip"]): Whether to raise for a row without label, or
        to leave it out.
    RETURNS (Callable[[Language], Iterator[Example]]): The corpus.
    """
    _check_incomplete(incomplete)
    columns = Columns(text, text_pair, label, labels, score, separator, incomplete)
    read = partial(rows_from_dataset, name, config, split)
    return _corpus(read, f"split {split!r} of {name!r}", columns, limit)


def _check_incomplete(value: str) -> None:
    if value not in ("error", "skip"):
        place = {"name": "incomplete", "value": value, "expected": '"error" or "skip"'}
        raise SettingError(Errors.BAD_SETTING.format(**place))


def _docbin_corpus(path: str | Path, columns: Columns, limit: int) -> Corpus:
    """Read DocBins, and check that they hold pairs, where pairs are expected."""
    check_limit(limit)

    def corpus(nlp: Language) -> Iterator[Example]:
        if not Path(path).exists():
            raise ReaderError(Errors.NOT_FOUND.format(path=str(path), cwd=Path.cwd()))
        if columns.text_pair is not None:
            _check_pipeline(nlp, columns.separator)
        n_examples = 0
        for example in DocBins(path, limit=limit)(nlp):
            if columns.text_pair is not None:
                pair = split_pair(example.predicted, columns.separator)
                if pair.second is None:
                    place = {"source": repr(str(path)), "separator": columns.separator}
                    raise ReaderError(Errors.NO_PAIR.format(**place, text=pair.first))
            n_examples += 1
            yield example
        if not n_examples:
            raise ReaderError(Errors.NO_ROWS.format(source=repr(str(path))))

    return corpus


def _corpus(
    read: Callable[[], Iterator[Row]], source: str, columns: Columns, limit: int
) -> Corpus:
    check_limit(limit)
    if columns.labels is not None and columns.score is not None:
        raise ReaderError(Errors.LABELS_AND_SCORE.format(score=columns.score))

    if columns.text_pair is not None:
        check_separator(columns.separator)

    def corpus(nlp: Language) -> Iterator[Example]:
        if columns.text_pair is not None:
            _check_pipeline(nlp, columns.separator)
        whole = (row for row in read() if not _is_left_out(row, source, columns))
        rows = list(islice(whole, limit or None))
        if not rows:
            raise ReaderError(Errors.NO_ROWS.format(source=source))
        # Everything is checked before the first Example: the labels of all rows must
        # be known for it anyway.
        texts = [_text_of(row, source, columns) for row in rows]
        for text, cats in zip(texts, _cats_of(rows, source, columns), strict=True):
            predicted = nlp.make_doc(text)
            if columns.text_pair is not None:
                split_pair(predicted, columns.separator)  # is the separator a token?
            reference = predicted.copy()
            reference.cats = cats
            yield Example(predicted, reference)

    return corpus


def _is_left_out(row: Row, source: str, columns: Columns) -> bool:
    column = columns.score or columns.label
    if columns.incomplete == "error" or column is None:
        return False
    return cell_of(row, source, "label", column) in _NO_LABEL


def _check_pipeline(nlp: Language, separator: str) -> None:
    """Raise for a component that takes something else for a separator."""
    for name, component in nlp.pipeline:
        model: Any = getattr(component, "model", None)
        attrs = getattr(model, "attrs", {})
        other = getattr(component, "separator", None) or attrs.get("separator")
        if other is not None and other != separator:
            place = {"separator": separator, "name": name, "other": other}
            raise PairError(Errors.OTHER_SEPARATOR.format(**place))


def _text_of(row: Row, source: str, columns: Columns) -> str:
    first = _string(row, source, "text", columns.text)
    if columns.text_pair is None:
        return first
    second = _string(row, source, "text_pair", columns.text_pair)
    try:
        return join_pair(first, second, columns.separator)
    except PairError as error:
        raise ReaderError(f"{row.place} of {source}: {error}") from error


def _string(row: Row, source: str, setting: str, column: str) -> str:
    value = cell_of(row, source, setting, column)
    place = {"place": row.place, "source": source, "column": column}
    if not isinstance(value, str):
        raise ReaderError(Errors.NO_TEXT_IN.format(**place, value=value))
    try:
        value.encode("utf8")
    except UnicodeEncodeError as error:
        message = Errors.BAD_TEXT_IN.format(**place, reason=error.reason)
        raise ReaderError(message) from error
    return value


def _cats_of(
    rows: Sequence[Row], source: str, columns: Columns
) -> list[dict[str, float]]:
    """Give each row its cats, with all labels of all rows."""
    if columns.score is not None:
        return [{SCORE: _number(row, source, columns.score)} for row in rows]
    if columns.label is None:
        return [{} for _ in rows]
    cells = [_label_cell(row, source, "label", columns.label) for row in rows]
    name = partial(_names_of, source=source, labels=columns.labels)
    found = [name(row, cell) for row, cell in zip(rows, cells, strict=True)]
    known = columns.labels.values() if columns.labels else sorted(set().union(*found))
    return [{label: float(label in mine) for label in known} for mine in found]


def _label_cell(row: Row, source: str, setting: str, column: str) -> Any:
    value = cell_of(row, source, setting, column)
    if value is None or value == "":
        place = {"place": row.place, "source": source}
        message = Errors.NO_LABEL_IN.format(**place, column=column, value=value)
        raise ReaderError(message)
    return value


def _number(row: Row, source: str, column: str) -> float:
    value = _label_cell(row, source, "score", column)
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        place = {"place": row.place, "source": source}
        message = Errors.NO_NUMBER.format(**place, value=value, column=column)
        raise ReaderError(message)
    return number


def _names_of(
    row: Row, value: Any, source: str, labels: dict[str, str] | None
) -> set[str]:
    values = value if isinstance(value, list) else [value]
    for one in values:
        if not isinstance(one, str | int | float):
            place = {"place": row.place, "source": source}
            raise ReaderError(Errors.BAD_LABEL_IN.format(**place, value=one))
    found = {str(one) for one in values}
    if labels is None:
        return found
    for label in sorted(found - labels.keys()):
        place = {"place": row.place, "source": source, "value": label}
        there = ", ".join(map(repr, labels))
        raise ReaderError(Errors.UNKNOWN_LABEL.format(**place, labels=there))
    return {labels[label] for label in found}
