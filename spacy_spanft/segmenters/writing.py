"""Segmentations on their way into a Doc: checked, split at separators, written."""

from collections.abc import Sequence
from itertools import chain, pairwise
from operator import index
from typing import Any

import numpy as np
from spacy.attrs import ORTH
from spacy.tokens import Doc, Span, SpanGroup

from ..errors import SpanftError, shown
from ..util import SAMPLE, WRITER
from . import Segment, Segmentation, Segmenter


def write_spans(doc: Doc, segmentation: Segmentation, *, key: str, writer: str) -> None:
    """Set doc.spans[key] in the name of a component, to spans that were checked."""
    # Half the time of doc[start:end], and it takes the label if there is one.
    spans = [Span(doc, *segment) for segment in segmentation]
    # The name tells a second run over a Doc from a clash with another component.
    doc.spans[key] = SpanGroup(doc, name=key, attrs={WRITER: writer}, spans=spans)


def checked(doc: Doc, segmentation: Segmentation, segmenter: str) -> Segmentation:
    """Check the spans of a segmenter, perhaps spaCy's, and return them as tuples."""
    n_tokens = len(doc)
    segments: list[Segment] = []
    after = 0
    for segment in segmentation:
        # Nearly all are pairs of ints, and a call would cost more than the check.
        is_pair = type(segment) is tuple and len(segment) == 2
        is_plain = is_pair and type(segment[0]) is type(segment[1]) is int
        plain = segment if is_plain else _as_plain(segment)
        if plain is None or not after <= plain[0] < plain[1] <= n_tokens:
            raise SpanftError(
                f"{segmenter} gave the span {shown(segment)} for a Doc of "
                f"{n_tokens} tokens ({shown(doc.text[:40])}). Spans are (start, end) "
                "or (start, end, label), disjoint, in order and inside the Doc."
            )
        segments.append(plain)
        after = plain[1]
    return segments


def _as_plain(segment: Any) -> Segment | None:
    """Turn a start, an end and perhaps a label into a tuple; None if they are not."""
    if isinstance(segment, Span):
        return segment.start, segment.end, segment.label_
    try:
        start, end, *label = segment
        bounds = index(start), index(end)
    except (TypeError, ValueError):
        return None
    if not label:
        return bounds
    is_label = len(label) == 1 and isinstance(label[0], str)
    return (*bounds, label[0]) if is_label else None


def other_writer(
    doc: Doc, segmentation: Segmentation, *, key: str, writer: str
) -> str | None:
    """Return who else wrote other spans under a key; None if nobody did."""
    if key not in doc.spans:
        return None
    group = doc.spans[key]
    other = group.attrs.get(WRITER)
    if other in (writer, SAMPLE):
        return None
    if other is None:  # `Doc.from_json` and `Doc.from_docs` drop the writer's name
        bounds = [(span.start, span.end) for span in group]
        if bounds == [(segment[0], segment[1]) for segment in segmentation]:
            return None
    return repr(other) if other else "another component, or by your own code"


def with_singletons(segmentation: Segmentation, n_tokens: int) -> Segmentation:
    """Make every token of a Doc that is in no span a span by itself."""
    filled: list[Segment] = []
    after = 0
    for segment in chain(segmentation, [(n_tokens, n_tokens)]):
        filled.extend((i, i + 1) for i in range(after, segment[0]))
        filled.append(segment)
        after = segment[1]
    return filled[:-1]


def split_at_separators(
    docs: Sequence[Doc],
    segmentations: list[Segmentation],
    separator: str,
    segment: Segmenter,
) -> list[Segmentation]:
    """Cut a Doc once more, each text by itself, where a span holds the separator."""
    split: list[Segmentation] = []
    for doc, spans in zip(docs, segmentations, strict=True):
        orth = doc.vocab.strings[separator]
        separators = np.flatnonzero(doc.to_array(ORTH) == orth).tolist()
        longer = [span for span in spans if span[1] - span[0] > 1]
        crosses = any(span[0] <= i < span[1] for i in separators for span in longer)
        split.append(_cut_parts(doc, separators, segment) if crosses else spans)
    return split


def _cut_parts(doc: Doc, separators: list[int], segment: Segmenter) -> Segmentation:
    bounds = pairwise([-1, *separators, len(doc)])
    parts = [(a + 1, doc[a + 1 : b].as_doc()) for a, b in bounds if a + 1 < b]
    segmentations = segment([part for _, part in parts])
    return [
        (span[0] + begin, span[1] + begin, *span[2:])
        for (begin, _), spans in zip(parts, segmentations, strict=True)
        for span in spans
    ]
