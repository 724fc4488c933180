"""Segmentations that are tried here: controls, an oracle's, and dropout."""

import random
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example

from spacy_spanft.segmenters.ngram import NgramSegmenter
from spacy_spanft.segmenters.random import DEFAULT_LENGTHS
from spacy_spanft.segmenters.registry import Segmentation, registry

GAPS = "fewlabels.GapSegmenter.v1"
WORDS = "fewlabels.WordSegmenter.v1"
DRAWN = "fewlabels.DrawnSegmenter.v1"
CAPITALS = "fewlabels.CapitalSegmenter.v1"
ORACLE = "fewlabels.OracleSegmenter.v1"
SPANS_KEY = "ngrams"
# Each text that is known, with its entities of two tokens or more.
_answers: dict[str, Segmentation] = {}


@registry.segmenters(WORDS)
class WordSegmenter:
    """Makes no spans, so that each token is a piece."""

    def __call__(self, docs: Sequence[Doc]) -> list[Segmentation]:
        """Cut Docs.

        docs (Sequence[Doc]): The Docs.
        RETURNS (list[Segmentation]): No spans, for each Doc.
        """
        return [[] for _ in docs]


@registry.segmenters(DRAWN)
class DrawnSegmenter:
    """Cuts Docs by a dictionary whose n-grams are drawn from all that there could be.

    Like n-grams, and unlike random spans, it cuts the same words alike wherever they
    are; and its spans are as long as random ones.
    """

    def __init__(self, lengths: Sequence[float] = DEFAULT_LENGTHS) -> None:
        """Make a segmenter.

        lengths (Sequence[float]): Which share of the pieces has one token, two, and so
            on.
        """
        # An n-gram is asked for where no longer one was found.
        at_most = np.cumsum(lengths)
        self._shares = dict(enumerate(np.array(lengths) / at_most, 1))

    def __call__(self, docs: Sequence[Doc]) -> list[Segmentation]:
        """Cut Docs, from the head, the longest n-gram first.

        docs (Sequence[Doc]): The Docs.
        RETURNS (list[Segmentation]): Spans of two tokens or more, for each Doc.
        """
        return [self._segment([token.lower_ for token in doc]) for doc in docs]

    def _segment(self, words: Sequence[str]) -> Segmentation:
        found, start = [], 0
        while start < len(words):
            end = start + self._longest(words[start : start + len(self._shares)])
            if end - start > 1:
                found.append((start, end))
            start = end
        return found

    def _longest(self, words: Sequence[str]) -> int:
        for n in range(len(words), 1, -1):
            if _number_of(words[:n]) < self._shares[n]:
                return n
        return 1


def _number_of(words: Sequence[str]) -> float:
    """Draw a number from 0 to 1: the same words have always the same one."""
    drawn = blake2b(" ".join(words).encode("utf8", "replace"), digest_size=8).digest()
    return int.from_bytes(drawn, "big") / 2**64


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


def spans_of(example: Example) -> Segmentation:
    """Read the spans that a segmenter wrote to a text."""
    return [(span.start, span.end) for span in example.predicted.spans[SPANS_KEY]]


def write_spans(doc: Doc, spans: Segmentation) -> None:
    """Write spans to a text, in place of those that it has."""
    doc.spans[SPANS_KEY] = [doc[start:end] for start, end, *_ in spans]


def drop(
    spans: Segmentation, n_tokens: int, chance: random.Random, share: float
) -> Segmentation:
    """Cut some spans into tokens, and join some pieces with the next one.

    As BPE-dropout does for subwords, it shows a head many segmentations of a text.

    spans (Segmentation): The spans of a Doc, disjoint and in order.
    n_tokens (int): How many tokens the Doc has.
    chance (Random): Decides.
    share (float): Of the spans that are cut into tokens, and of the ends of pieces that
        are lost.
    RETURNS (Segmentation): Other spans of two tokens or more.
    """
    ends = {*range(1, n_tokens + 1)}
    for start, end, *_ in spans:
        if chance.random() >= share:
            ends -= {*range(start + 1, end)}
    found, begin = [], 0
    for end in sorted(ends):
        if end < n_tokens and chance.random() < share:
            continue  # joined with what comes next
        if end - begin > 1:
            found.append((begin, end))
        begin = end
    return found


class Dropout:
    """Cuts each text of a batch anew, each time that it comes."""

    def __init__(self, seed: int, share: float = 0.1) -> None:
        """Make one.

        seed (int): Decides.
        share (float): See `drop`.
        """
        self._chance = random.Random(seed)
        self._share = share
        self._cuts: dict[int, Segmentation] = {}

    def __call__(self, batch: Sequence[Example]) -> Sequence[Example]:
        """Cut texts.

        batch (Sequence[Example]): The texts, with the spans that a segmenter wrote when
            they come first.
        RETURNS (Sequence[Example]): The same.
        """
        for example in batch:
            cut = self._cuts.setdefault(id(example), spans_of(example))
            doc = example.predicted
            write_spans(doc, drop(cut, len(doc), self._chance, self._share))
        return batch
