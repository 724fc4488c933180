"""Entities as spans: what a segmentation would give that knew the answers."""

from collections.abc import Iterable, Sequence

from spacy.tokens import Doc
from spacy.training import Example

from spacy_spanft.segmenters.registry import registry
from spacy_spanft.segmenters.types import Segmentation

ORACLE = "fewlabels.OracleSegmenter.v1"
# Each text that is known, with its entities of two tokens or more.
_answers: dict[str, Segmentation] = {}


@registry.segmenters(ORACLE)
class OracleSegmenter:
    """Cuts Docs at the entities that they should have."""

    def __call__(self, docs: Sequence[Doc]) -> list[Segmentation]:
        """Cut Docs.

        docs (Sequence[Doc]): The Docs.
        RETURNS (list[Segmentation]): Spans of two tokens or more, for each Doc.
        """
        return [_answers.get(doc.text, []) for doc in docs]


def tell(examples: Iterable[Example]) -> None:
    """Let all oracles know the entities of texts."""
    for example in examples:
        doc = example.reference
        spans = [(span.start, span.end) for span in doc.ents if len(span) > 1]
        _answers[doc.text] = spans
