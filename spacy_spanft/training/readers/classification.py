"""Corpora for text classification: single texts or pairs, with labels or scores."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.training import Example

from ...errors import SpanftError, listed, shown, warn
from ...ml.encoder.loading import SETTINGS
from ...ml.pairs import SEPARATOR, join_pair, split_pair
from ...util.tables import Format, Row, read_table
from ...util.text_files import UTF8, ErrorHandling
from ..gold import PLACE, SCORE
from .rows import DocBins, Incomplete, cell_of, check_length, rows_from_dataset, text_of

Corpus = Callable[[Language], Iterator[Example]]
NO_PATH = "This corpus has no path. Set it: --paths.train FILE --paths.dev FILE"


class Columns(NamedTuple):
    """The names of the columns. See `table_corpus`."""

    text: str = "text"
    text_pair: str | None = None
    label: str | None = "label"
    labels: dict[str, str] | None = None
    score: str | None = None
    separator: str = SEPARATOR
    incomplete: Incomplete = "error"
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
    format (Optional[Literal["tsv", "csv", "jsonl", "parquet"]]): None goes by the
        file's ending.
    header (Optional[list[str]]): The names of the columns, if the file has no header.
    errors (str): "strict" raises at invalid UTF-8, "replace" replaces it.
    limit (int): Read only so many rows; 0 reads all.
    incomplete (Literal["error", "skip"]): Whether to raise for a row that lacks a
        text or its label, or to skip it, as needed with QQP and SNLI.
    encoding (str): The encoding of the file, such as "latin-1".
    label_separator (Optional[str]): Stands between several labels in one cell, such as
        the comma in "sport,news".
    """
    if path is None:
        raise SpanftError(NO_PATH)
    columns = Columns(
        *(text, text_pair, label, labels, score),
        *(separator, incomplete, label_separator),
    )
    if format is None and is_docbins(path):
        return DocBins(path, limit=limit)
    how: Any = {"format": format, "header": header, "errors": errors}
    read = partial(read_table, path, **how, encoding=encoding, broken="keep")
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
    split (str): The split.
    limit (int): Read only so many rows; 0 reads all.
    """
    columns = Columns(text, text_pair, label, labels, score, separator, incomplete)
    read = partial(rows_from_dataset, name, config, split)
    return _corpus(read, f"split {split!r} of {name!r}", columns, limit)


def is_docbins(path: str | Path) -> bool:
    """Whether a path is a .spacy file, or a folder, in which spaCy looks for them."""
    folder = Path(path)
    if folder.is_dir() and not any(folder.rglob("*.spacy")):
        raise SpanftError(f"{str(path)!r} is a folder without .spacy files.")
    return folder.is_dir() or folder.suffix == ".spacy"


def _corpus(
    read: Callable[[], Iterator[Row]], source: str, columns: Columns, limit: int
) -> Corpus:
    answer = columns.score or columns.label
    names = [*filter(None, (columns.text, columns.text_pair, answer))]
    if len({*names}) < len(names):
        raise SpanftError(f"The columns {listed(names)} must differ.")

    def corpus(nlp: Language) -> Iterator[Example]:
        if columns.text_pair is not None:
            _check_pipeline(nlp, columns.separator)
        rows = list(islice(_whole_rows(read(), columns, source), limit or None))
        if not rows:
            raise SpanftError(f"There are no rows in {source}.")
        # All is checked before the first Example, which needs all labels anyway.
        how = columns.text, columns.text_pair, columns.separator
        texts = [check_length(nlp, text_of(row, *how), row.place) for row in rows]
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
        others = {getattr(owner, "separator", None) for owner in owners}
        for other in {*others, attrs.get("separator")} - {None, separator}:
            raise SpanftError(
                f"The corpus joins pairs with {separator!r}, but {name!r} has "
                f"separator = {other!r}. Set both to ${{nlp.tokenizer.separator}}."
            )


def _whole_rows(rows: Iterable[Row], columns: Columns, source: str) -> Iterator[Row]:
    """Yield rows with their source, perhaps without incomplete ones: say how many."""
    n_rows = n_left_out = n_rejected = 0
    may_skip = columns.incomplete == "skip"
    has_answers = "answer" not in (columns.text, columns.text_pair, columns.label)
    for row in rows:
        n_rows += 1
        # As Prodigy writes, where it is not itself what is learned.
        if has_answers and row.cells.get("answer") in ("reject", "ignore"):
            n_rejected += 1
            continue
        if row.problem and not (may_skip and row.cells):  # what is no JSON object
            raise SpanftError(f"{row.place} of {source} {row.problem}")
        if may_skip and _is_incomplete(row, columns):
            n_left_out += 1
        else:
            yield row.of(source)
    if n_left_out:
        warn(
            f"Rows of {source} that lack a text or a label, and are left out: "
            f"{n_left_out:,} of {n_rows:,}."
        )
    if n_rejected:
        warn(f'Rows of {source} whose answer is "reject", left out: {n_rejected:,}.')


def _is_incomplete(row: Row, columns: Columns) -> bool:
    texts = [name for name in (columns.text, columns.text_pair) if name is not None]
    if row.problem or any(_is_missing(row.cells.get(name)) for name in texts):
        return True
    answer = columns.score or columns.label
    value = None if answer is None else row.cells.get(answer)
    if value == "" and columns.label_separator is not None:  # none of the labels
        return False
    # "-" stands for no label in SNLI.
    return answer is not None and (_is_missing(value) or str(value).strip() == "-")


def _is_missing(value: Any) -> bool:
    return value is None or str(value).strip() in ("", "nan", "NaN")  # as of pandas


def _cats_of(rows: Sequence[Row], columns: Columns) -> Iterable[dict[str, float]]:
    """Return the cats of each row, with all labels of all rows."""
    if columns.score is not None:
        return [{SCORE: _number(row, columns.score)} for row in rows]
    if columns.label is None:
        return [{} for _ in rows]
    labels = [_labels_of(row, columns.label, columns) for row in rows]
    known = columns.labels.values() if columns.labels else sorted({*chain(*labels)})
    return ({label: float(label in names) for label in known} for names in labels)


def _label_cell(row: Row, setting: str, column: str) -> Any:
    value = cell_of(row, setting, column)
    if _is_missing(value):
        raise SpanftError(
            f"{row.place} has no label: column {shown(column)} holds {shown(value)}. "
            "Remove such rows, or skip them: --incomplete skip "
            '(incomplete = "skip" in a config).'
        )
    return value


def _number(row: Row, column: str) -> float:
    value = _label_cell(row, "score", column)
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise SpanftError(
            f"{row.place} has {shown(value)} in column {shown(column)}, which is not a "
            "finite number, such as 3.5. If these are labels, use --label."
        )
    return number


def _labels_of(row: Row, column: str, columns: Columns) -> set[str]:
    """Return the labels of a row, without outer white space, and renamed."""
    if columns.label_separator and cell_of(row, "label", column) == "":
        return set()  # of several labels, none may hold
    value, new_names = _label_cell(row, "label", column), columns.labels
    if columns.label_separator and isinstance(value, str):
        value = [x for x in value.split(columns.label_separator) if x.strip()]
    names = set()
    for label in value if isinstance(value, list) else [value]:
        if not isinstance(label, str | int | float) or not str(label).strip():
            raise SpanftError(
                f"{row.place} has {shown(label)} for a label, not a string or number."
            )
        name = str(label).strip()
        if new_names is not None and name not in new_names:
            raise SpanftError(
                f"{row.place} has the label {shown(name)}; labels: {listed(new_names)}."
            )
        names.add(name if new_names is None else new_names[name])
    return names
