"""Corpora for entities and spans: tags of tokens, or texts with character offsets."""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, biluo_to_iob, iob_to_biluo
from spacy.vocab import Vocab

from ...errors import SpanftError, listed, reported, shown, warn
from ...util.tables import Row, read_table
from ...util.text_files import UTF8, ErrorHandling, lines_of
from .classification import NO_PATH, Corpus
from .rows import cell_of, check_length, rows_from_dataset

# The cells of each line: the token first, its tag last.
Sentence = list[list[str]]
_PACKED = r"(\.gz|\.bz2|\.zst)?$"
CONLL_ENDING = re.compile(rf"\.(conll\d*|iob2?|bio)(\.txt)?{_PACKED}", re.IGNORECASE)
_OFFSETS_ENDING = re.compile(rf"\.(jsonl|ndjson|json){_PACKED}", re.IGNORECASE)
_NEW_DOCUMENT = "-DOCSTART-"
# No second tag after a comma, which data of several annotators has.
_TAG = re.compile(r"O|[BILUES]-(?!\S*,[BIO]\b)\S+")
# The other letters of BILUO and BIOES, in those of IOB.
_IOB = {"U": "B", "S": "B", "L": "I", "E": "I"}
# The keys of rows that may hold spans, and how many rows are searched for them.
_KEYS = ("spans", "entities", "ents", "label", "labels")
_N_SEARCHED = 100


def conll_corpus(
    path: str | Path | None,
    unit: Literal["sentence", "document"] = "sentence",
    gold_tokens: bool = True,
    spans_key: str | None = None,
    errors: ErrorHandling = "strict",
    limit: int = 0,
    encoding: str = UTF8,
) -> Corpus:
    """Build `spacy-spanft.ConllCorpus.v1`: Examples with entities, from a file.

    CoNLL's columns: the token first, its tag (IOB1, IOB2, BILUO or BIOES) last, the
    part of speech second of three or more, with tabs or spaces between them. Blank
    lines end sentences, lines with -DOCSTART- documents. A file that ends in .jsonl or
    .json holds texts with character offsets instead:

    - Prodigy: JSONL with "spans": [{"start", "end", "label"}]; of rows with an
      "answer", only accepted ones are read. Or "ents", as `spanft predict` writes.
    - doccano: JSONL with "label" or "labels": [[start, end, label]], or with
      "entities": [{"start_offset", "end_offset", "label"}].
    - Label Studio: JSON-MIN, a list of rows with "label": [{"start", "end",
      "labels": [...]}].

    Spans that begin or end inside a token become whole tokens, with a warning.

    path (Optional[Union[str, Path]]): The file, which may be compressed.
    unit (Literal["sentence", "document"]): What becomes one Doc, of CoNLL's columns.
    gold_tokens (bool): Whether the pipeline gets the tokens of CoNLL's columns, as for
        published scores, or tokenizes the text itself.
    spans_key (Optional[str]): A key in doc.spans for the entities too, for spancat. A
        Doc whose spans overlap has no entities then.
    limit (int): Read only so many Docs; 0 reads all.
    errors (str): "strict" raises at invalid UTF-8, "replace" replaces it.
    encoding (str): The encoding of the file, such as "latin-1".
    """
    if path is None:
        raise SpanftError(NO_PATH)
    source = shown(str(path))

    def read_columns(nlp: Language) -> Iterator[Example]:
        units = list(_documents(lines_of(path, errors, encoding), source))
        if not units:
            raise SpanftError(f"There are no rows in {source}.")
        if [row[0] for row in units[0][0][:2]] == ["1", "2"]:
            raise SpanftError(
                f"The first column of {source} numbers the tokens, but must hold them."
            )
        if unit == "sentence":
            units = [[sentence] for document in units for sentence in document]
        for sentences in units[: limit or None]:
            reference = _doc_of(nlp.vocab, sentences)
            yield _example(nlp, reference, spans_key, gold_tokens)

    def read_offsets(nlp: Language) -> Iterator[Example]:
        rows = list(_annotated_rows(path, source, errors, encoding))
        if not any(_offsets(row.cells) for row in rows):
            raise SpanftError(
                f"No row of {source} has spans with character offsets, such as "
                '"spans": [{"start": 0, "end": 5, "label": "PER"}].'
            )
        for doc in list(_docs_of_offsets(nlp, rows[: limit or None], spans_key)):
            yield Example(nlp.make_doc(doc.text), doc)

    return read_offsets if _OFFSETS_ENDING.search(str(path)) else read_columns


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
    tokens are skipped. The other settings are those of `spacy-spanft.DatasetCorpus.v1`.

    tokens (str): The column with the tokens of each sentence.
    tags (str): The column with their tags, as strings or as class labels.
    spans_key (Optional[str]): A key in doc.spans for the entities too, for spancat.
    """
    source = f"split {split!r} of {name!r}"

    def read() -> Iterator[Sentence]:
        for row in (x.of(source) for x in rows_from_dataset(name, config, split)):
            words = _strings(row, "tokens", tokens)
            row_tags = _strings(row, "tags", tags)
            if len(words) != len(row_tags):
                raise SpanftError(
                    f"{row.place} has {len(words)} tokens, but {len(row_tags)} tags."
                )
            for tag in row_tags:
                _check_tag(tag, row.place)
            if words:
                yield [[*pair] for pair in zip(words, row_tags, strict=True)]

    def corpus(nlp: Language) -> Iterator[Example]:
        for sentence in islice(read(), limit or None):
            yield _example(nlp, _doc_of(nlp.vocab, [sentence]), spans_key)

    return corpus


def has_offsets(path: str | Path) -> bool:
    """Whether one of a file's first rows has a list of spans, or of other offsets."""
    if not _OFFSETS_ENDING.search(str(path)):
        return False
    rows = _annotated_rows(path, shown(str(path)), "replace")
    try:
        first = [row.cells for row in islice(rows, _N_SEARCHED)]
    except SpanftError:  # in another encoding, or broken: its reader says so
        return False
    return any(
        _offsets(x)
        or (isinstance(x.get("spans"), list) and not isinstance(x.get("label"), str))
        for x in first
    )


def _strings(row: Row, setting: str, column: str) -> list[str]:
    cells = cell_of(row, setting, column)
    if not isinstance(cells, list) or not all(isinstance(c, str) for c in cells):
        raise SpanftError(
            f"{row.place} has {shown(cells)} in column {column!r}, not strings."
        )
    return cells


def _documents(lines: Iterable[str], source: str) -> Iterator[list[Sentence]]:
    """Yield the documents of a file in columns, and check every line."""
    document: list[Sentence] = []
    sentence: Sentence = []
    n_columns = 0
    for number, line in enumerate(lines, 1):
        is_new_document = line.lstrip().startswith(_NEW_DOCUMENT)
        if is_new_document or not line.strip():
            sentence = []
            if is_new_document and document:
                yield document
                document = []
            continue
        if "\t" in line:
            cells = [cell.strip(" ") for cell in line.rstrip().split("\t")]
        else:
            cells = [cell for cell in line.rstrip("\r\n").split(" ") if cell]
        n_columns = n_columns or len(cells)
        where = f"Line {number} of {source}"
        if len(cells) < 2 or not cells[0]:
            raise SpanftError(
                f"{where} is {shown(' '.join(cells))}, but must be a token and its tag."
            )
        if len(cells) != n_columns:
            raise SpanftError(
                f"{where} has {len(cells)} columns, but the first line has "
                f"{n_columns}. Is there a space inside a token?"
            )
        _check_tag(cells[-1], where)
        if not sentence:
            document.append(sentence)
        sentence.append(cells)
    if document:
        yield document


def _check_tag(tag: str, where: str) -> None:
    if not _TAG.fullmatch(tag):
        raise SpanftError(
            f"{where} has the tag {shown(tag)}, but tags must be O, or B- or I- and a "
            "label (IOB1, IOB2, BILUO or BIOES). Lines with # are not comments."
        )


def _doc_of(vocab: Vocab, sentences: list[Sentence]) -> Doc:
    """Build a Doc of sentences, with the entities that spaCy reads from the tags."""
    rows = [row for sentence in sentences for row in sentence]
    tags = [[row[-1] for row in sentence] for sentence in sentences]
    iob = [[_IOB.get(tag[0], tag[0]) + tag[1:] for tag in row] for row in tags]
    # A sentence at a time: in IOB1, I- at its beginning begins an entity.
    biluo = [tag for sentence in iob for tag in iob_to_biluo(sentence)]
    return Doc(
        vocab,
        words=[row[0] for row in rows],
        tags=[row[1] for row in rows] if len(rows[0]) > 2 else None,
        ents=biluo_to_iob(biluo),
        sent_starts=[i == 0 for sentence in sentences for i in range(len(sentence))],
    )


def _example(
    nlp: Language, reference: Doc, spans_key: str | None, gold_tokens: bool = True
) -> Example:
    if spans_key is not None:
        reference.spans[spans_key] = list(reference.ents)
    if not gold_tokens:
        return Example(nlp.make_doc(reference.text), reference)
    words = [token.text for token in reference]
    return Example(Doc(nlp.vocab, words=words), reference)


def _annotated_rows(
    path: Any, source: str, errors: ErrorHandling, encoding: str = UTF8
) -> Iterator[Row]:
    """Yield the rows that no annotator has rejected."""
    rows: Iterable[Row] = ()
    if ".json" not in Path(str(path).lower()).suffixes:
        how: Any = {"errors": errors, "encoding": encoding}
        rows = read_table(path, format="jsonl", **how)
    else:
        with reported(f"{source} is not a JSON list of objects", ValueError, TypeError):
            items = json.loads("".join(lines_of(path, errors, encoding)))
            rows = [Row(f"Item {n}", dict(item)) for n, item in enumerate(items, 1)]
    for row in rows:
        if row.cells.get("answer", "accept") == "accept":
            yield row.of(source)


def _docs_of_offsets(
    nlp: Language, rows: list[Row], spans_key: str | None
) -> Iterator[Doc]:
    widened = []
    for row in rows:
        text = row.cells.get("text")
        if not isinstance(text, str):
            raise SpanftError(f'{row.place} has no "text", but {listed(row.cells)}.')
        doc = nlp.make_doc(check_length(nlp, text, row.place))
        spans = []
        for start, end, label in _spans_of(row, text):
            span: Any = doc.char_span(start, end, label, alignment_mode="expand")
            if (span.start_char, span.end_char) != (start, end):
                before, after = shown(text[start:end]), shown(span.text)
                widened.append(f"{before} ({row.place}), read as {after}")
            spans.append(span)
        if spans_key is not None:
            doc.spans[spans_key] = spans
        tokens = [token.i for span in spans for token in span]
        if len(set(tokens)) == len(tokens):
            doc.set_ents(spans)
        elif spans_key is None:
            raise SpanftError(
                f"{row.place} has spans that overlap, which entities cannot: "
                f"{listed([span.text for span in spans])}. Read them for spancat: "
                "init --pipeline spancat, convert --spans-key sc, or spans_key in a "
                "config."
            )
        yield doc
    if widened:
        warn(
            "Spans that begin or end inside a token are read as whole tokens: "
            f"{len(widened):,}, the first is {widened[0]}."
        )


def _offsets(cells: dict[str, Any]) -> list[Any]:
    """Return the value of the key that holds objects or triples."""
    for key in _KEYS:
        items: Any = cells.get(key)
        is_list = isinstance(items, list) and len(items) > 0
        if is_list and all(isinstance(item, dict | list) for item in items):
            return list(items)
    return []


def _spans_of(row: Row, text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, the end and the label of each span, without outer space."""
    for item in _offsets(row.cells):
        try:
            if isinstance(item, list):
                start, end, label = item
            else:
                start = item["start" if "start" in item else "start_offset"]
                end = item["end" if "end" in item else "end_offset"]
                label = item["label"] if "label" in item else item["labels"]
            labels = label if isinstance(label, list) else [label]
            chars = text[start:end]
            is_inside = 0 <= start < end <= len(text) and bool(chars.strip())
        except (KeyError, TypeError, ValueError):
            is_inside = False
        if not is_inside or not all(isinstance(x, str) and x for x in labels):
            raise SpanftError(
                f"{row.place} has the span {shown(item)}, but needs a start, an end "
                f"and a label, with characters of the text between them: {shown(text)}"
            )
        start += len(chars) - len(chars.lstrip())
        end -= len(chars) - len(chars.rstrip())
        for label in labels:
            yield start, end, label
