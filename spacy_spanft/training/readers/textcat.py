"""Corpora for text classification: one text or two, with labels or with a score."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus as DocBins
from spacy.training import Example

from ...errors import Errors, PairError, ReaderError, without_code
from ...errors.shortening import listed, shown
from ...ml.encoder.settings import SETTINGS
from ...ml.pairs import SEPARATOR, split_pair
from ...ngrams.text.blocks import ErrorHandling
from .columns import Columns, cats_of, check_columns, check_texts, is_left_out, text_of
from .rows import Incomplete, Row, check_length, check_limit, rows_from_dataset
from .tables import Format, check_format, rows_from_file

Corpus = Callable[[Language], Iterator[Example]]


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
    columns = Columns(text, text_pair, label, labels, score, separator, incomplete)
    check_columns(columns)
    check_format(format)
    if format is None and is_docbins(path):
        return _docbin_corpus(path, columns, limit)
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
    columns = Columns(text, text_pair, label, labels, score, separator, incomplete)
    check_columns(columns)
    read = partial(rows_from_dataset, name, config, split)
    return _corpus(read, f"split {split!r} of {name!r}", columns, limit)


def is_docbins(path: str | Path) -> bool:
    """Tell whether a path names data in spaCy's own format.

    path (Union[str, Path]): A file, or a folder: then there is nothing else in it.
    RETURNS (bool): Whether `spacy.training.Corpus` reads it.
    """
    folder = Path(path)
    if not folder.is_dir():
        return str(path).endswith(".spacy")
    # As spaCy looks into folders: into those in it, too, and at no hidden file.
    inside = (one.relative_to(folder) for one in folder.rglob("*") if one.is_file())
    files = sorted(
        str(file)
        for file in inside
        if not any(part.startswith(".") for part in file.parts)
    )
    if not files or not all(file.endswith(".spacy") for file in files):
        place = {"path": str(path), "files": listed(files)}
        raise ReaderError(Errors.OTHER_FOLDER.format(**place))
    return True


def _docbin_corpus(path: str | Path, columns: Columns, limit: int) -> Corpus:
    """Read DocBins, and check that they hold pairs, where pairs are expected."""
    check_limit(limit)

    def corpus(nlp: Language) -> Iterator[Example]:
        if not Path(path).exists():
            where = {"path": str(path), "cwd": str(Path.cwd())}
            raise ReaderError(Errors.NOT_FOUND.format(**where))
        if columns.text_pair is not None:
            _check_pipeline(nlp, columns.separator)
        n_examples = 0
        for example in DocBins(path, limit=limit)(nlp):
            if columns.text_pair is not None:
                pair = split_pair(example.predicted, columns.separator)
                if pair.second is None:
                    place = {"source": shown(str(path)), "separator": columns.separator}
                    raise ReaderError(Errors.NO_PAIR.format(**place, text=pair.first))
            n_examples += 1
            yield example
        if not n_examples:
            raise ReaderError(Errors.NO_ROWS.format(source=shown(str(path))))

    return corpus


def _corpus(
    read: Callable[[], Iterator[Row]], source: str, columns: Columns, limit: int
) -> Corpus:
    check_limit(limit)

    def corpus(nlp: Language) -> Iterator[Example]:
        if columns.text_pair is not None:
            _check_pipeline(nlp, columns.separator)
        whole = (row for row in read() if not is_left_out(row, source, columns))
        rows = list(islice(whole, limit or None))
        if not rows:
            raise ReaderError(Errors.NO_ROWS.format(source=source))
        # Everything is checked before the first Example: the labels of all rows must
        # be known for it anyway.
        texts = [text_of(row, source, columns) for row in rows]
        for row, text in zip(rows, texts, strict=True):
            check_length(nlp, text, f"{row.place} of {source}")
        all_cats = cats_of(rows, source, columns)
        check_texts(rows, source, columns)
        for row, text, cats in zip(rows, texts, all_cats, strict=True):
            predicted = nlp.make_doc(text)
            if columns.text_pair is not None:
                _check_is_token(predicted, columns.separator, row, source)
            reference = predicted.copy()
            reference.cats = cats
            yield Example(predicted, reference)

    return corpus


def _check_pipeline(nlp: Language, separator: str) -> None:
    """Raise for a component that takes something else for a separator."""
    for name, component in nlp.pipeline:
        model: Any = getattr(component, "model", None)
        attrs = getattr(model, "attrs", {})
        made = [component, attrs.get(SETTINGS)]  # the encoder's are in one place
        found = [getattr(one, "separator", None) for one in made]
        other = next(filter(None, [*found, attrs.get("separator")]), None)
        if other is not None and other != separator:
            place = {"separator": separator, "name": name, "other": other}
            raise PairError(Errors.OTHER_SEPARATOR.format(**place))


def _check_is_token(doc: Doc, separator: str, row: Row, source: str) -> None:
    """Raise for a pair whose tokenizer knows no separator."""
    try:
        split_pair(doc, separator)
    except PairError as error:
        raise PairError(f"{row.place} of {source}: {without_code(error)}") from error
