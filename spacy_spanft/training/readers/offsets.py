"""Entities and spans as annotation tools export them: texts with character offsets.

Prodigy: JSONL with "spans": [{"start", "end", "label"}]; of rows with an "answer", only
accepted ones are read. doccano: JSONL with "label" or "labels": [[start, end, label]],
or "entities": [{"start_offset", "end_offset", "label"}]. Label Studio: JSON-MIN, a list
of rows with "label": [{"start", "end", "labels": [...]}].
"""

import json
import re
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from ...errors import SpanftError, listed, shown
from ...ngrams.text import ErrorHandling
from .rows import Row, check_length
from .tables import lines_of, rows_from_file

OFFSETS_ENDING = re.compile(r"\.(jsonl|ndjson|json)(\.gz|\.bz2|\.zst)?$", re.IGNORECASE)
_KEYS = ("spans", "entities", "label", "labels")
_N_LOOKED_AT = 100


def has_offsets(path: str | Path) -> bool:
    """Whether a file has texts with character offsets of entities or spans.

    path (Union[str, Path]): The file, of whose rows the first 100 are read.
    """
    if not OFFSETS_ENDING.search(str(path)):
        return False
    rows = _rows(path, shown(str(path)), "replace")
    return any(_offsets(row.cells) for row in islice(rows, _N_LOOKED_AT))


def offsets_corpus(
    path: str | Path,
    spans_key: str | None = None,
    *,
    errors: ErrorHandling = "strict",
    limit: int = 0,
) -> Callable[[Language], Iterator[Example]]:
    """Read texts with character offsets; see `spacy-spanft.ConllCorpus.v1`.

    Spans that begin or end inside a token become whole tokens, with a warning.

    path (Union[str, Path]): The file.
    spans_key (Optional[str]): A key in doc.spans for the spans, which may overlap; a
        Doc with overlapping spans has no entities.
    errors (str): "strict" raises at invalid UTF-8, "replace" replaces it.
    limit (int): Read only so many Docs; 0 reads all.
    RETURNS (Callable[[Language], Iterator[Example]]): The corpus.
    """
    source = shown(str(path))

    def corpus(nlp: Language) -> Iterator[Example]:
        rows = [
            row
            for row in _rows(path, source, errors)
            if row.cells.get("answer", "accept") == "accept"
        ]
        if not any(_offsets(row.cells) for row in rows):
            raise SpanftError(
                f"No row of {source} has spans with character offsets, such as "
                '"spans": [{"start": 0, "end": 5, "label": "PER"}]. From Label Studio, '
                "export JSON-MIN."
            )
        docs, widened = [], []
        for row in rows[: limit or None]:
            where = f"{row.place} of {source}"
            text = row.cells.get("text")
            if not isinstance(text, str):
                raise SpanftError(f'{where} has no "text", but {listed(row.cells)}.')
            check_length(nlp, text, where)
            doc = nlp.make_doc(text)
            spans = []
            for start, end, label in _spans_of(row, text, where):
                span: Any = doc.char_span(start, end, label, alignment_mode="expand")
                if (span.start_char, span.end_char) != (start, end):
                    before, after = shown(text[start:end]), shown(span.text)
                    widened.append(f"{before} ({where}), read as {after}")
                spans.append(span)
            _annotate(doc, spans, spans_key, where)
            docs.append(doc)
        if widened:
            warnings.warn(
                f"Spans of {source} that begin or end inside a token are read as whole "
                f"tokens: {len(widened):,}, the first is {widened[0]}. Check that "
                "offsets are counted in characters.",
                stacklevel=2,
            )
        for doc in docs:
            yield Example(nlp.make_doc(doc.text), doc)

    return corpus


def _rows(path: str | Path, source: str, errors: ErrorHandling) -> Iterator[Row]:
    if ".json" not in Path(path).suffixes:
        yield from rows_from_file(path, format="jsonl", errors=errors)
        return
    try:
        rows = json.loads("".join(lines_of(path, errors)))
    except (ValueError, RecursionError) as error:
        raise SpanftError(f"{source} is not valid JSON: {error}") from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise SpanftError(f"{source} is not a JSON list of objects.")
    for number, cells in enumerate(rows, 1):
        yield Row(f"Item {number}", cells)


def _offsets(cells: dict[str, Any]) -> list[Any]:
    """Return the value of the key that holds objects or triples."""
    for key in _KEYS:
        items: Any = cells.get(key)
        is_list = isinstance(items, list) and len(items) > 0
        if is_list and all(isinstance(item, dict | list) for item in items):
            return list(items)
    return []


def _spans_of(row: Row, text: str, where: str) -> Iterator[tuple[int, int, str]]:
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
        if not is_inside or not all(isinstance(label, str) for label in labels):
            raise SpanftError(
                f"{where} has the span {shown(item)}, but needs a start, an end and a "
                f"label, with characters of the text between them: {shown(text)}"
            )
        start += len(chars) - len(chars.lstrip())
        end -= len(chars) - len(chars.rstrip())
        for label in labels:
            yield start, end, label


def _annotate(doc: Doc, spans: list[Span], key: str | None, where: str) -> None:
    """Set the spans as entities, and in a group; overlapping ones only in a group."""
    if key is not None:
        doc.spans[key] = spans
    tokens = [token.i for span in spans for token in span]
    if len(set(tokens)) == len(tokens):
        doc.set_ents(spans)
    elif key is None:
        raise SpanftError(
            f"{where} has spans that overlap, which entities cannot: "
            f"{listed([span.text for span in spans])}. Remove some, or set "
            'spans_key = "sc" to train spancat.'
        )
