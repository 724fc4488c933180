"""Corpora for named entities: tokens with tags (IOB1, IOB2, BILUO or BIOES).

From files with CoNLL's columns, or from `datasets` datasets.
"""

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, biluo_to_iob, iob_to_biluo
from spacy.vocab import Vocab

from ...errors import SpanftError, shown
from ...ngrams.text import ErrorHandling
from .classification import NO_PATH
from .offsets import OFFSETS_ENDING, offsets_corpus
from .rows import cell_of, check_length, rows_from_dataset
from .tables import lines_of

Corpus = Callable[[Language], Iterator[Example]]
# The cells of each line: the token first, its tag last.
Sentence = list[list[str]]
CONLL_ENDING = re.compile(r"\.(conll|iob)(\.gz|\.bz2|\.zst)?$", re.IGNORECASE)
_NEW_DOCUMENT = "-DOCSTART-"
# No second tag after a comma, which data of several annotators has.
_TAG = re.compile(r"O|[BILUES]-(?!\S*,[BIO]\b)\S+")
# The other letters of BILUO and BIOES, in those of IOB.
_IOB = {"U": "B", "S": "B", "L": "I", "E": "I"}


def conll_corpus(
    path: str | Path | None,
    unit: Literal["sentence", "document"] = "sentence",
    gold_tokens: bool = True,
    spans_key: str | None = None,
    errors: ErrorHandling = "strict",
    limit: int = 0,
) -> Corpus:
    """Build `spacy-spanft.ConllCorpus.v1`: Examples with entities, from a file.

    CoNLL's columns: the token first, its tag (IOB1, IOB2, BILUO or BIOES) last, the
    part of speech second of three or more, with tabs or spaces between them. Blank
    lines end sentences, lines with -DOCSTART- documents. A file that ends in .jsonl or
    .json holds texts with character offsets instead, as Prodigy, doccano and Label
    Studio (JSON-MIN) export them.

    path (Optional[Union[str, Path]]): The file, which may be compressed.
    unit (Literal["sentence", "document"]): What becomes one Doc, of CoNLL's columns.
    gold_tokens (bool): Whether the pipeline gets the tokens of CoNLL's columns, as for
        published scores, or tokenizes the text itself.
    spans_key (Optional[str]): A key in doc.spans for the entities too, for spancat.
    errors (str): "strict" raises at invalid UTF-8, "replace" replaces it.
    limit (int): Read only so many Docs; 0 reads all.
    RETURNS (Callable[[Language], Iterator[Example]]): The corpus.
    """
    if path is None:
        raise SpanftError(NO_PATH)
    if str(path).endswith(".spacy"):
        raise SpanftError(
            f"{shown(str(path))} is in spaCy's own format, not in columns. Read it "
            'with @readers = "spacy.Corpus.v1".'
        )
    if OFFSETS_ENDING.search(str(path)):
        return offsets_corpus(path, spans_key, errors=errors, limit=limit)
    source = shown(str(path))

    def corpus(nlp: Language) -> Iterator[Example]:
        units = list(_documents(path, source, errors))
        if not units:
            raise SpanftError(f"There are no rows in {source}.")
        first = units[0][0]
        if len(first) > 1 and [row[0] for row in first][:2] == ["1", "2"]:
            raise SpanftError(
                f"The first column of {source} numbers the tokens, but must hold them."
            )
        if unit == "sentence":
            units = [[sentence] for document in units for sentence in document]
        elif len(units) == 1 and len(units[0]) > 1:
            warnings.warn(
                f'With unit = "document", all of {source} is one Doc, {len(units[0])} '
                "sentences long: it has no line with -DOCSTART-.",
                stacklevel=2,
            )
        for number, sentences in enumerate(units[: limit or None], 1):
            rows = [row for sentence in sentences for row in sentence]
            reference = _doc_of_tags(
                nlp.vocab,
                [[row[0] for row in sentence] for sentence in sentences],
                [[row[-1] for row in sentence] for sentence in sentences],
                pos=[row[1] for row in rows] if len(rows[0]) > 2 else None,
            )
            if not gold_tokens:
                check_length(nlp, reference.text, f"Doc {number} of {source}")
            yield _example(nlp, reference, spans_key, gold_tokens)

    return corpus


def ner_dataset_corpus(
    name: str,
    config: str | None = None,
    split: str = "train",
    tokens: str = "tokens",
    tags: str = "ner_tags",
    spans_key: str | None = None,
    limit: int = 0,
) -> Corpus:
    """Build `spacy-spanft.NerDataset.v1`: Examples from a `datasets` dataset.

    The pipeline gets the dataset's own tokens, as for published scores. Rows without
    tokens are skipped.

    name (str): Its name on the hub ("lhoestq/conll2003"), or a local folder.
    config (Optional[str]): Its configuration.
    split (str): The split.
    tokens (str): The column with the tokens of each sentence.
    tags (str): The column with their tags, as strings or as class labels.
    spans_key (Optional[str]): A key in doc.spans for the entities too, for spancat.
    limit (int): Read only so many rows; 0 reads all.
    """
    source = f"split {split!r} of {name!r}"

    def read() -> Iterator[tuple[list[str], list[str]]]:
        for row in rows_from_dataset(name, config, split):
            words = cell_of(row, source, "tokens", tokens)
            row_tags = cell_of(row, source, "tags", tags)
            where = f"{row.place} of {source}"
            for column, cells in ((tokens, words), (tags, row_tags)):
                is_list = isinstance(cells, list)
                if not is_list or not all(isinstance(c, str) and c for c in cells):
                    raise SpanftError(
                        f"{where} has {shown(cells)} in column {column!r}, but must "
                        "have a list of strings, none of them empty. Tags may be "
                        "numbers if they are class labels (ClassLabel)."
                    )
            if len(words) != len(row_tags):
                raise SpanftError(
                    f"{where} has {len(words)} tokens, but {len(row_tags)} tags."
                )
            for tag in row_tags:
                _check_tag(tag, where)
            if words:
                yield words, row_tags

    def corpus(nlp: Language) -> Iterator[Example]:
        sentences = list(islice(read(), limit or None))
        if not sentences:
            raise SpanftError(f"There are no rows in {source}.")
        for words, row_tags in sentences:
            reference = _doc_of_tags(nlp.vocab, [words], [row_tags])
            yield _example(nlp, reference, spans_key)

    return corpus


def _documents(
    path: str | Path, source: str, errors: ErrorHandling
) -> Iterator[list[Sentence]]:
    """Read the documents of a file, and check every line."""
    document: list[Sentence] = []
    sentence: Sentence = []
    n_columns = 0
    for number, line in enumerate(lines_of(path, errors), 1):
        is_new_document = line.lstrip().startswith(_NEW_DOCUMENT)
        if is_new_document or not line.strip():
            sentence = []
            if is_new_document and document:
                yield document
                document = []
            continue
        cells = _cells(line)
        n_columns = n_columns or len(cells)
        _check_cells(cells, n_columns, f"Line {number} of {source}")
        if not sentence:
            document.append(sentence)
        sentence.append(cells)
    if document:
        yield document


def _cells(line: str) -> list[str]:
    if "\t" in line:
        return [cell.strip(" ") for cell in line.rstrip().split("\t")]
    return [cell for cell in line.rstrip("\r\n").split(" ") if cell]


def _check_cells(cells: list[str], n_columns: int, where: str) -> None:
    if len(cells) < 2 or not cells[0]:
        raise SpanftError(
            f"{where} is {shown(' '.join(cells))}, but must be a token and its tag, "
            "with a tab or a space between them (CoNLL's columns)."
        )
    if len(cells) != n_columns:
        raise SpanftError(
            f"{where} has {len(cells)} columns, but the first line has {n_columns}. "
            "Is there a space inside a token?"
        )
    _check_tag(cells[-1], where)


def _check_tag(tag: str, where: str) -> None:
    if not _TAG.fullmatch(tag):
        raise SpanftError(
            f"{where} has the tag {shown(tag)}, but tags must be O, or B- or I- and a "
            "label, such as B-PER, in the last column (IOB1, IOB2, BILUO or BIOES). "
            "Lines that begin with # are not comments."
        )


def _doc_of_tags(
    vocab: Vocab,
    words: Sequence[Sequence[str]],
    tags: Sequence[Sequence[str]],
    pos: list[str] | None = None,
) -> Doc:
    """Build a Doc of sentences, with the entities that spaCy reads from the tags."""
    # A sentence at a time: in IOB1, I- at its beginning begins an entity.
    biluo = [iob_to_biluo([_to_iob(tag) for tag in sentence]) for sentence in tags]
    return Doc(
        vocab,
        words=[word for sentence in words for word in sentence],
        tags=pos,
        ents=biluo_to_iob(tag for sentence in biluo for tag in sentence),
        sent_starts=[i == 0 for sentence in words for i in range(len(sentence))],
    )


def _to_iob(tag: str) -> str:
    return tag if tag == "O" else _IOB.get(tag[0], tag[0]) + tag[1:]


def _example(
    nlp: Language, reference: Doc, spans_key: str | None, gold_tokens: bool = True
) -> Example:
    if spans_key is not None:
        reference.spans[spans_key] = list(reference.ents)
    if not gold_tokens:
        return Example(nlp.make_doc(reference.text), reference)
    words = [token.text for token in reference]
    return Example(Doc(nlp.vocab, words=words), reference)
