"""Corpora for text classification: single texts or pairs, with labels or scores."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.training import Corpus as DocBins
from spacy.training import Example

from ...errors import SpanftError, shown
from ...ml.encoder.loading import SETTINGS
from ...ml.pairs import SEPARATOR, split_pair
from ...ngrams.text.blocks import ErrorHandling
from .columns import Columns, cats_of, check_columns, is_left_out, text_of, warn_no_text
from .docbins import is_docbins
from .rows import Incomplete, Row, check_length, rows_from_dataset
from .tables import Format, rows_from_file

Corpus = Callable[[Language], Iterator[Example]]
NO_PATH = (
    "This corpus has no path. Set it in the config or on the command line: "
    "--paths.train train.tsv --paths.dev dev.tsv"
)


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

    path (Optional[Union[str, Path]]): The file, which may be compressed. A .spacy file,
        or a folder of them, is read as spacy.Corpus.v1 does, whatever the columns.
    text (str): The column of the text, or of the first text of a pair.
    text_pair (Optional[str]): The column of the second text; None for single texts.
    label (Optional[str]): The column of the label, or of a list of labels; None reads
        the texts alone.
    labels (Optional[dict[str, str]]): New names of the labels, in their order; None
        keeps the values of the column.
    score (Optional[str]): The column of a number, which becomes doc.cats["score"], in
        place of labels.
    separator (str): Stands between two texts; that of the pipeline's tokenizer.
    format (Optional[Literal["tsv", "csv", "jsonl"]]): None goes by the file's ending.
    header (Optional[list[str]]): The names of the columns, if the file has no header.
    errors (str): "strict" raises at invalid UTF-8, "replace" replaces it.
    limit (int): Read only so many rows; 0 reads all.
    incomplete (Literal["error", "skip"]): Whether to raise for a row that lacks cells
        or its label, or to skip it, as needed with QQP and SNLI.
    RETURNS (Callable[[Language], Iterator[Example]]): The corpus.
    """
    if path is None:
        raise SpanftError(NO_PATH)
    columns = Columns(text, text_pair, label, labels, score, separator, incomplete)
    check_columns(columns)
    if format is None and is_docbins(path):
        return DocBins(path, limit=limit)
    how: Any = {"format": format, "header": header, "errors": errors}
    read = partial(rows_from_file, path, **how, incomplete=incomplete)
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

    Class labels that are stored as numbers become their names.

    name (str): Its name on the hub ("glue"), or a local folder.
    config (Optional[str]): Its configuration ("mrpc").
    split (str): The split.
    text (str): The column of the text, or of the first text of a pair.
    text_pair (Optional[str]): The column of the second text; None for single texts.
    label (Optional[str]): The column of the label, or of a list of labels.
    labels (Optional[dict[str, str]]): New names of the labels, in their order.
    score (Optional[str]): The column of a number, in place of labels.
    separator (str): Stands between two texts; that of the pipeline's tokenizer.
    limit (int): Read only so many rows; 0 reads all.
    incomplete (Literal["error", "skip"]): Whether to raise for a row without a label.
    RETURNS (Callable[[Language], Iterator[Example]]): The corpus.
    """
    columns = Columns(text, text_pair, label, labels, score, separator, incomplete)
    check_columns(columns)
    read = partial(rows_from_dataset, name, config, split)
    return _corpus(read, f"split {split!r} of {name!r}", columns, limit)


def _corpus(
    read: Callable[[], Iterator[Row]], source: str, columns: Columns, limit: int
) -> Corpus:
    def corpus(nlp: Language) -> Iterator[Example]:
        if columns.text_pair is not None:
            _check_pipeline(nlp, columns.separator)
        whole = (row for row in read() if not is_left_out(row, source, columns))
        rows = list(islice(whole, limit or None))
        if not rows:
            raise SpanftError(f"There are no rows in {source}.")
        # Everything is checked before the first Example, which needs the labels of all
        # rows anyway.
        texts = [text_of(row, source, columns) for row in rows]
        for row, text in zip(rows, texts, strict=True):
            check_length(nlp, text, f"{row.place} of {source}")
        all_cats = cats_of(rows, source, columns)
        warn_no_text(rows, source, columns)
        for row, text, cats in zip(rows, texts, all_cats, strict=True):
            predicted = nlp.make_doc(text)
            if columns.text_pair is not None:
                _check_is_pair(predicted, columns.separator, f"{row.place} of {source}")
            reference = predicted.copy()
            reference.cats = cats
            yield Example(predicted, reference)

    return corpus


def _check_pipeline(nlp: Language, separator: str) -> None:
    """Raise for a component with another separator."""
    for name, component in nlp.pipeline:
        model: Any = getattr(component, "model", None)
        attrs = getattr(model, "attrs", {})
        # The encoder keeps its settings in one object.
        owners = [component, attrs.get(SETTINGS)]
        separators = [getattr(owner, "separator", None) for owner in owners]
        other = next(filter(None, [*separators, attrs.get("separator")]), None)
        if other is not None and other != separator:
            raise SpanftError(
                f"The corpus joins pairs with {separator!r}, but {name!r} has "
                f"separator = {other!r}. Set both to ${{nlp.tokenizer.separator}}."
            )


def _check_is_pair(doc: Any, separator: str, place: str) -> None:
    """Raise if the tokenizer does not know the separator."""
    try:
        split_pair(doc, separator)
    except SpanftError as error:
        raise SpanftError(f"{place}: {error}") from error
