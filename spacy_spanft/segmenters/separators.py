"""Keeps spans from crossing the separator between two texts."""

from collections.abc import Callable, Sequence

import numpy as np
from spacy.attrs import ORTH
from spacy.tokens import Doc

from .types import Segmentation

Segment = Callable[[Sequence[Doc]], list[Segmentation]]


def split_at_separators(
    docs: Sequence[Doc],
    segmentations: list[Segmentation],
    separator: str,
    segment: Segment,
) -> list[Segmentation]:
    """Cut a Doc once more, each text by itself, where a span holds the separator.

    segmentations (list[Segmentation]): The spans of each.
    separator (str): The text of the token between two texts.
    segment (Callable): Cuts Docs.
    RETURNS (list[Segmentation]): The spans of each, none longer than one token with a
        separator in it.
    """
    return [
        _cut_parts(doc, places, segment) if _crosses(spans, places) else spans
        for doc, spans in zip(docs, segmentations, strict=True)
        for places in [_separators(doc, separator)]
    ]


def _separators(doc: Doc, separator: str) -> list[int]:
    orth = doc.vocab.strings[separator]
    found: list[int] = np.flatnonzero(doc.to_array(ORTH) == orth).tolist()
    return found


def _crosses(spans: Segmentation, places: list[int]) -> bool:
    return any(
        span[0] <= place < span[1] and span[1] - span[0] > 1
        for place in places
        for span in spans
    )


def _cut_parts(doc: Doc, places: list[int], segment: Segment) -> Segmentation:
    begins = [0, *(place + 1 for place in places)]
    ends = [*places, len(doc)]
    parts = [(a, doc[a:b].as_doc()) for a, b in zip(begins, ends, strict=True) if a < b]
    found = segment([part for _, part in parts])
    return [
        (span[0] + begin, span[1] + begin, *span[2:])
        for (begin, _), spans in zip(parts, found, strict=True)
        for span in spans
    ]
