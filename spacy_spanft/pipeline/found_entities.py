"""Entities that were found, written to a Doc with what is known of them."""

from collections.abc import Sequence

import numpy as np
from spacy.attrs import ENT_IOB, ENT_TYPE
from spacy.tokens import Doc, Span, SpanGroup

from ..errors import check_setting
from ..util.names import WRITER
from .gold_tags import BEGIN


def write_entities(doc: Doc, found: Sequence[Span]) -> None:
    """Write entities beside those that are there already; blocked tokens stay so.

    doc (Doc): The Doc.
    found (Sequence[Span]): The entities.
    """
    iob, kind = doc.to_array([ENT_IOB, ENT_TYPE]).T
    blocked = np.flatnonzero((iob == BEGIN) & (kind == 0)).tolist()
    doc.set_ents([*doc.ents, *found], blocked=[doc[i : i + 1] for i in blocked])


def write_scores(
    doc: Doc, key: str, found: Sequence[Span], scores: Sequence[float]
) -> None:
    """Write the probabilities of entities, beside those of an earlier run.

    doc (Doc): The Doc.
    key (str): The key in doc.spans, which no segmenter may have written.
    found (Sequence[Span]): The entities.
    scores (Sequence[float]): Their probabilities.
    """
    before = doc.spans.get(key, SpanGroup(doc))
    expected = "a key of doc.spans that no segmenter writes"
    check_setting("scores_key", key, WRITER not in before.attrs, expected)
    known = zip(before, before.attrs.get("scores", ()), strict=False)
    score_of = {_place(span): score for span, score in known}
    score_of |= zip(map(_place, found), scores, strict=True)
    scored = [span for span in doc.ents if _place(span) in score_of]
    attrs = {"scores": [score_of[_place(span)] for span in scored]}
    doc.spans[key] = SpanGroup(doc, spans=scored, attrs=attrs)


def _place(span: Span) -> tuple[int, int, int]:
    return span.start, span.end, span.label
