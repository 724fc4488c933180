"""The random segmenter: the paper's control for what the n-grams know."""

import zlib
from collections.abc import Sequence

import numpy as np
from spacy.tokens import Doc

from ..errors import check_setting
from ..ngrams.dictionary import NgramDictionary
from . import Segmentation
from .ngram import NgramSegmenter
from .writing import with_singletons

# Which share of the pieces has one to five tokens where the default dictionary cuts
# WikiText-103's validation part, by `python -m benchmarks.span_lengths`.
DEFAULT_LENGTHS = (0.703, 0.227, 0.059, 0.009, 0.002)


class RandomSegmenter:
    """Cuts Docs at random positions, the same Doc always at the same ones.

    lengths (Sequence[float]): How likely a span of one token is, of two, and so on;
        they need not add up to 1. The default is what the English default dictionary
        gives.
    seed (int): Another seed cuts elsewhere.
    """

    def __init__(
        self, lengths: Sequence[float] = DEFAULT_LENGTHS, seed: int = 0
    ) -> None:
        """Build `spacy-spanft.RandomSegmenter.v1`."""
        weights = np.array(lengths, np.float64)
        is_right = 0 < weights.sum() < np.inf and bool((weights >= 0).all())
        expected = "one or more weights of 0 or more, of which one is larger than 0"
        check_setting("lengths", list(lengths), is_right, expected)
        self._thresholds = np.cumsum(weights / weights.sum())[:-1]
        self._seed = int(seed) % 2**64  # a seed may be negative

    def __call__(self, docs: Sequence[Doc]) -> list[Segmentation]:
        """Return spans of two tokens or more, for each Doc."""
        return [self._segment(doc) for doc in docs]

    def _segment(self, doc: Doc) -> Segmentation:
        # The text decides, not Python's hash, which differs from run to run.
        text = zlib.crc32(doc.text.encode("utf8", errors="replace"))
        random = np.random.default_rng([self._seed, text])
        draws = random.random(len(doc))
        lengths = np.searchsorted(self._thresholds, draws, side="right") + 1
        ends = np.minimum(np.cumsum(lengths), len(doc))
        starts = np.concatenate([[0], ends])[:-1]
        is_span = ends - starts > 1
        return list(zip(starts[is_span].tolist(), ends[is_span].tolist(), strict=True))


def piece_lengths(docs: list[Doc], dictionary: NgramDictionary) -> list[float]:
    """Measure which share of spans and other tokens has one token, two, and so on."""
    lengths = [
        end - start
        for doc, spans in zip(docs, NgramSegmenter(dictionary)(docs), strict=True)
        for start, end, *_ in with_singletons(spans, len(doc))
    ]
    if not lengths:
        return [1.0]
    shares = np.bincount(lengths)[1:] / len(lengths)
    return [float(share) for share in shares]
