"""Corpora for named entities from CoNLL's columns: a token a line, its tag last."""

import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from ...errors import Errors, ReaderError, Warnings
from ...errors.shortening import shown
from ...ngrams.text.blocks import ErrorHandling
from .rows import check_choice, check_length, check_limit
from .tables import read_text
from .tags import check_tag, doc_of_tags, example_of

Corpus = Callable[[Language], Iterator[Example]]
# What files with such columns are called.
CONLL_ENDING = re.compile(r"\.(conll|iob)(\.gz|\.bz2|\.zst)?$", re.IGNORECASE)


class Sentence(NamedTuple):
    """The lines of a sentence.

    line (int): The number of the first one.
    rows (list[list[str]]): The cells of each: the token first, its tag last.
    """

    line: int
    rows: list[list[str]]


_LINE_END = re.compile(r"\r\n|\n|\r")
_NEW_DOCUMENT = "-DOCSTART-"


def conll_corpus(
    path: str | Path | None,
    unit: Literal["sentence", "document"] = "sentence",
    gold_tokens: bool = True,
    spans_key: str | None = None,
    errors: ErrorHandling = "strict",
    limit: int = 0,
) -> Corpus:
    """Build `spacy-spanft.ConllCorpus.v1`: Examples from a file with columns.

    Two columns or more, with tabs or spaces between them: the token is the first one,
    its tag, IOB1 or IOB2 (or BILUO, or BIOES), the last one, and what stands second of
    three or more is the part of speech. Blank lines end sentences, lines with
    -DOCSTART- documents.

    path (Optional[Union[str, Path]]): The file, which may be compressed.
    unit (Literal["sentence", "document"]): What becomes one Doc.
    gold_tokens (bool): Whether the pipeline gets the file's own tokens, as published
        scores do, or cuts the text itself, as it will have to.
    spans_key (Optional[str]): A key in doc.spans for the entities too, for spancat.
    errors (str): "strict" raises at bytes that are no UTF-8, "replace" replaces them.
    limit (int): Read only so many Docs; 0 reads all.
    RETURNS (Callable[[Language], Iterator[Example]]): The corpus.
    """
    if path is None:
        raise ReaderError(Errors.NO_READER_PATH)
    check_choice("unit", unit, ("sentence", "document"))
    check_limit(limit)
    if str(path).endswith(".spacy"):
        raise ReaderError(Errors.IS_DOCBIN.format(path=str(path)))
    source = shown(str(path))

    def corpus(nlp: Language) -> Iterator[Example]:
        documents = list(_read(path, source, errors))
        if not documents:
            raise ReaderError(Errors.NO_ROWS.format(source=source))
        _check_first(documents[0][0], source)
        if unit == "document":
            units = documents
            if len(units) == 1 and len(units[0]) > 1:
                place = {"source": source, "n_sentences": len(units[0])}
                warnings.warn(Warnings.ONE_DOCUMENT.format(**place), stacklevel=2)
        else:
            units = [[sentence] for document in documents for sentence in document]
        for sentences in units[: limit or None]:
            reference = _gold_doc(nlp.vocab, sentences)
            if not gold_tokens:
                where = f"Line {sentences[0].line} of {source}"
                check_length(nlp, reference.text, where)
            yield example_of(nlp, reference, spans_key, gold_tokens=gold_tokens)

    return corpus


def _read(
    path: str | Path, source: str, errors: ErrorHandling
) -> Iterator[list[Sentence]]:
    """Read the documents of a file, as sentences, and check every line."""
    sentences: list[Sentence] = []
    is_open = False
    n_columns = 0
    for number, line in enumerate(_LINE_END.split(read_text(path, errors)), 1):
        is_new_document = line.lstrip().startswith(_NEW_DOCUMENT)
        if is_new_document and sentences:
            yield sentences
            sentences = []
        if is_new_document or not line.strip():
            is_open = False
            continue
        cells = _cells(line)
        n_columns = n_columns or len(cells)
        _check_line(line, cells, n_columns, f"Line {number} of {source}")
        if not is_open:
            sentences.append(Sentence(number, []))
            is_open = True
        sentences[-1].rows.append(cells)
    if sentences:
        yield sentences


def _check_first(sentence: Sentence, source: str) -> None:
    """Raise if the first column numbers the tokens, as in some other formats."""
    words = [row[0] for row in sentence.rows]
    counts = ([str(i + start) for i in range(len(words))] for start in (0, 1))
    if len(words) > 1 and len(sentence.rows[0]) > 2 and words in counts:
        cell = sentence.rows[0][1]
        raise ReaderError(Errors.NUMBERED.format(source=source, cell=cell))


def _cells(line: str) -> list[str]:
    if "\t" in line:
        return [cell.strip(" ") for cell in line.rstrip().split("\t")]
    return [cell for cell in line.split(" ") if cell]


def _check_line(line: str, cells: list[str], n_columns: int, place: str) -> None:
    try:
        _check(cells, n_columns, place)
    except ReaderError as error:
        if not line.startswith("#"):
            raise
        raise ReaderError(f"{error}{Errors.NO_COMMENTS}") from error


def _check(cells: list[str], n_columns: int, place: str) -> None:
    if len(cells) < 2 or not cells[0]:
        raise ReaderError(Errors.NO_TAG.format(place=place, cells=" ".join(cells)))
    if len(cells) != n_columns:
        there = {"place": place, "found": len(cells), "expected": n_columns}
        raise ReaderError(Errors.OTHER_COLUMNS.format(**there))
    check_tag(cells[-1], place)


def _gold_doc(vocab: Vocab, sentences: list[Sentence]) -> Doc:
    rows = [row for sentence in sentences for row in sentence.rows]
    return doc_of_tags(
        vocab,
        [[row[0] for row in sentence.rows] for sentence in sentences],
        [[row[-1] for row in sentence.rows] for sentence in sentences],
        pos=[row[1] for row in rows] if len(rows[0]) > 2 else None,
    )
