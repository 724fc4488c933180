"""Segmentations that are tried here: an oracle's, what n-grams leave, and dropout."""

import random
from collections.abc import Iterable, Iterator, Sequence

from spacy.tokens import Doc
from spacy.training import Example

from spacy_spanft.segmenters.ngram import NgramSegmenter
from spacy_spanft.segmenters.registry import registry
from spacy_spanft.segmenters.types import Segmentation

GAPS = "fewlabels.GapSegmenter.v1"
CAPITALS = "fewlabels.CapitalSegmenter.v1"
ORACLE = "fewlabels.OracleSegmenter.v1"
# How many spans are cut into tokens in an epoch, and how many ends of pieces are lost.
DROPOUT = 0.1
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


@registry.segmenters(GAPS)
class GapSegmenter:
    """Cuts Docs at the default dictionary's n-grams, and makes spans of what is left.

    What is common is in n-grams, so that names and rare phrases are between them, as
    keywords are between the stop words. Punctuation stands alone.
    """

    def __init__(self) -> None:
        """Make a segmenter."""
        self._ngrams = NgramSegmenter()

    def __call__(self, docs: Sequence[Doc]) -> list[Segmentation]:
        """Cut Docs.

        docs (Sequence[Doc]): The Docs.
        RETURNS (list[Segmentation]): Spans of two tokens or more, for each Doc.
        """
        found = zip(docs, self._ngrams(docs), strict=True)
        return [sorted([*spans, *_gaps(doc, spans)]) for doc, spans in found]


@registry.segmenters(CAPITALS)
class CapitalSegmenter:
    """Makes spans of words with capitals side by side, which most names in texts are.

    An encoder that lower-cases its texts does not see them.
    """

    def __call__(self, docs: Sequence[Doc]) -> list[Segmentation]:
        """Cut Docs.

        docs (Sequence[Doc]): The Docs.
        RETURNS (list[Segmentation]): Spans of two tokens or more, for each Doc.
        """
        capitals = ([token.text[:1].isupper() for token in doc] for doc in docs)
        return [list(_runs(is_one)) for is_one in capitals]


def _gaps(doc: Doc, spans: Segmentation) -> Iterator[tuple[int, int]]:
    """Find the runs of two tokens or more outside spans and punctuation."""
    is_taken = [token.is_punct or token.is_space for token in doc]
    for start, end, *_ in spans:
        is_taken[start:end] = [True] * (end - start)
    return _runs([not taken for taken in is_taken])


def _runs(is_one: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Find the runs of two tokens or more that are of a kind."""
    begin = 0
    for i, one in enumerate([*is_one, False]):
        if not one:
            if i - begin > 1:
                yield begin, i
            begin = i + 1


def drop(spans: Segmentation, n_tokens: int, chance: random.Random) -> Segmentation:
    """Cut some spans into tokens, and join some pieces with the next one.

    As BPE-dropout does for subwords, it shows a head many segmentations of a text.

    spans (Segmentation): The spans of a Doc, disjoint and in order.
    n_tokens (int): How many tokens the Doc has.
    chance (Random): Decides.
    RETURNS (Segmentation): Other spans of two tokens or more.
    """
    ends = {*range(1, n_tokens + 1)}
    for start, end, *_ in spans:
        if chance.random() >= DROPOUT:
            ends -= {*range(start + 1, end)}
    found, begin = [], 0
    for end in sorted(ends):
        if end < n_tokens and chance.random() < DROPOUT:
            continue  # joined with what comes next
        if end - begin > 1:
            found.append((begin, end))
        begin = end
    return found
