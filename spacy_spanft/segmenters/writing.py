"""Writing spans into a Doc."""

from collections.abc import Sequence
from itertools import chain
from operator import index
from typing import Any

from spacy.tokens import Doc, Span, SpanGroup

from ..errors import Errors, SpanftError
from ..util.names import SAMPLE, WRITER
from .types import Segment, Segmentation


def write_spans(doc: Doc, segmentation: Segmentation, *, key: str, writer: str) -> None:
    """Set doc.spans[key].

    segmentation (Segmentation): Its spans, disjoint and in order; see `checked`.
    writer (str): The name of the component.
    """
    # Half the time of doc[start:end], and it takes the label if there is one.
    spans = [Span(doc, *segment) for segment in segmentation]
    # The name tells a second run over a Doc, as in training, from a clash with another
    # component.
    doc.spans[key] = SpanGroup(doc, name=key, attrs={WRITER: writer}, spans=spans)


def checked(doc: Doc, segmentation: Segmentation, segmenter: str) -> Segmentation:
    """Check what a segmenter gave: anybody can register one.

    segmentation (Segmentation): Its spans. Spans of spaCy's will do as well.
    segmenter (str): What error messages call the segmenter.
    RETURNS (Segmentation): The spans as tuples.
    """
    if not isinstance(segmentation, Sequence) or isinstance(segmentation, str):
        kind = type(segmentation).__name__
        what = f"the Doc that begins {doc.text[:40]!r}"
        raise SpanftError(
            Errors.BAD_SEGMENTATION.format(segmenter=segmenter, type=kind, what=what)
        )
    n_tokens = len(doc)
    segments: list[Segment] = []
    after = 0
    for segment in segmentation:
        # Nearly all are pairs of ints, and a call would cost more than the check.
        is_pair = (
            type(segment) is tuple
            and len(segment) == 2
            and type(segment[0]) is int
            and type(segment[1]) is int
        )
        plain = segment if is_pair else _as_plain(segment)
        if plain is None or not after <= plain[0] < plain[1] <= n_tokens:
            raise SpanftError(
                Errors.BAD_SEGMENT.format(
                    segmenter=segmenter,
                    span=segment,
                    length=n_tokens,
                    text=doc.text[:40],
                )
            )
        segments.append(plain)
        after = plain[1]
    return segments


def _as_plain(segment: Any) -> Segment | None:
    """Turn into a tuple what says a start, an end and perhaps a label."""
    if isinstance(segment, Span):
        return segment.start, segment.end, segment.label_
    try:
        start, end, *label = segment
        places = index(start), index(end)
    except (TypeError, ValueError):
        return None
    if not label:
        return places
    is_label = len(label) == 1 and isinstance(label[0], str)
    return (*places, label[0]) if is_label else None


def other_writer(
    doc: Doc, segmentation: Segmentation, *, key: str, writer: str
) -> str | None:
    """Say who else wrote spans under a key.

    segmentation (Segmentation): What would be written now. If the very same is there,
        nothing is lost: `Doc.from_json` and `Doc.from_docs` drop the writer's name.
    key (str): The key in doc.spans.
    writer (str): The name of the component.
    RETURNS (Optional[str]): The other one, None if there is none.
    """
    if key not in doc.spans:
        return None
    group = doc.spans[key]
    other = group.attrs.get(WRITER)
    if other in (writer, SAMPLE):
        return None
    if other is None:
        there = [(span.start, span.end) for span in group]
        if there == [(segment[0], segment[1]) for segment in segmentation]:
            return None
    return repr(other) if other else "another component, or by your own code"


def with_singletons(segmentation: Segmentation, n_tokens: int) -> Segmentation:
    """Make every token that is in no span a span by itself.

    segmentation (Segmentation): The spans of a Doc, disjoint and in order.
    n_tokens (int): The number of its tokens.
    RETURNS (Segmentation): Spans that cover the whole Doc.
    """
    filled: list[Segment] = []
    after = 0
    for segment in chain(segmentation, [(n_tokens, n_tokens)]):
        filled.extend((i, i + 1) for i in range(after, segment[0]))
        filled.append(segment)
        after = segment[1]
    return filled[:-1]
