"""Writing spans into a Doc."""

from itertools import chain

from spacy.tokens import Doc, Span, SpanGroup

from ..errors import Errors, SpanftError
from .types import Segment, Segmentation

# The groups carry the name of the component that wrote them, so that a second run
# over a Doc, as in training, is told from a clash with another component.
_WRITER = "written_by"


def write_spans(
    doc: Doc, segmentation: Segmentation, *, key: str, writer: str, segmenter: str
) -> None:
    """Set doc.spans[key].

    doc (Doc): The Doc.
    segmentation (Segmentation): Its spans, disjoint and in order.
    key (str): The key.
    writer (str): The name of the component.
    segmenter (str): What error messages call the segmenter.
    """
    spans = []
    behind = 0
    for segment in segmentation:
        start, end = segment[0], segment[1]
        if not behind <= start < end <= len(doc):
            raise SpanftError(
                Errors.BAD_SEGMENT.format(
                    segmenter=segmenter,
                    span=segment,
                    length=len(doc),
                    text=doc.text[:40],
                )
            )
        # Half the time of doc[start:end], and it takes the label if there is one.
        spans.append(Span(doc, *segment))
        behind = end
    doc.spans[key] = SpanGroup(doc, name=key, attrs={_WRITER: writer}, spans=spans)


def is_written_by(doc: Doc, key: str, writer: str) -> bool:
    """Say whether a component may write its spans into a Doc.

    doc (Doc): The Doc.
    key (str): The key in doc.spans.
    writer (str): The name of the component.
    RETURNS (bool): Whether the key is free, or the component wrote it before.
    """
    spans = doc.spans
    return key not in spans or spans[key].attrs.get(_WRITER) == writer


def with_singletons(segmentation: Segmentation, n_tokens: int) -> Segmentation:
    """Make every token that is in no span a span by itself.

    segmentation (Segmentation): The spans of a Doc, disjoint and in order.
    n_tokens (int): The number of its tokens.
    RETURNS (Segmentation): Spans that cover the whole Doc.
    """
    filled: list[Segment] = []
    behind = 0
    for segment in chain(segmentation, [(n_tokens, n_tokens)]):
        filled.extend((i, i + 1) for i in range(behind, segment[0]))
        filled.append(segment)
        behind = segment[1]
    return filled[:-1]
