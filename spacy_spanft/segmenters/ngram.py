"""The n-gram segmenter: greedy from the head, longest match first."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from spacy.attrs import IDS
from spacy.language import Language
from spacy.tokens import Doc

from ..ngrams.dictionary import NgramDictionary, default_dictionary
from ..util.pipelines import batches_of
from . import Segmentation
from .matcher import NgramMatcher, take_from_head

# Below this many tokens, array operations cost more than what they save; above it,
# the arrays leave the cache.
_TOKENS_PER_BATCH = 20_000
_FILE = "dictionary.tsv.gz"


class NgramSegmenter:
    """Cuts Docs with an n-gram dictionary."""

    def __init__(self, dictionary: NgramDictionary | None = None) -> None:
        """Make a segmenter; without a dictionary, of the default English one."""
        self._dictionary = dictionary
        self._matcher: NgramMatcher | None = None

    @property
    def dictionary(self) -> NgramDictionary:
        """The dictionary that cuts."""
        if self._dictionary is None:
            self._dictionary = default_dictionary()
        return self._dictionary

    @dictionary.setter
    def dictionary(self, dictionary: NgramDictionary) -> None:
        self._dictionary = dictionary
        self._matcher = None

    @property
    def has_default(self) -> bool:
        """Whether no dictionary was given, or read, so far."""
        return self._dictionary is None

    def __call__(self, docs: Sequence[Doc]) -> list[Segmentation]:
        """Return the n-grams in Docs: spans of two tokens or more, for each Doc."""
        if self._matcher is None:
            self._matcher = NgramMatcher(self.dictionary)
        matcher, batches = self._matcher, batches_of(docs, _TOKENS_PER_BATCH)
        return [spans for batch in batches for spans in self._segment(batch, matcher)]

    def _segment(
        self, docs: Sequence[Doc], matcher: NgramMatcher
    ) -> list[Segmentation]:
        attr = IDS[self.dictionary.attr]
        ids = np.concatenate([doc.to_array(attr) for doc in docs])
        ends = np.cumsum([len(doc) for doc in docs])
        starts = ends - [len(doc) for doc in docs]
        lengths = matcher.longest(ids, starts)
        heads = take_from_head(lengths)
        heads = heads[lengths[heads] > 1]
        # Which of the matches are in which Doc, and where they begin in it.
        bounds = np.searchsorted(heads, np.append(starts, len(ids)))
        first = heads - np.repeat(starts, np.diff(bounds))
        ends = first + lengths[heads]
        pairs = list(zip(first.tolist(), ends.tolist(), strict=True))
        return [pairs[a:b] for a, b in pairwise(bounds.tolist())]

    def initialize(self, nlp: Language, dictionary: NgramDictionary | None) -> None:
        """Take over the dictionary of a config's [initialize] block; None keeps it."""
        if dictionary is not None:
            self.dictionary = dictionary

    def to_bytes(self) -> bytes:
        """Return the dictionary's file, so that the pipeline needs no other one."""
        return self.dictionary.to_bytes()

    def from_bytes(self, data: bytes) -> "NgramSegmenter":
        """Read the dictionary from the result of `to_bytes`."""
        self.dictionary = NgramDictionary.from_bytes(data, name="The pipeline's data")
        return self

    def to_disk(self, path: str | Path) -> None:
        """Save the dictionary to a folder, which is made."""
        self.dictionary.to_disk(Path(path) / _FILE)

    def from_disk(self, path: str | Path) -> "NgramSegmenter":
        """Read the dictionary from the folder that `to_disk` wrote."""
        self.dictionary = NgramDictionary.from_disk(Path(path) / _FILE)
        return self


def make_ngram_segmenter() -> NgramSegmenter:
    """Build `spacy-spanft.NgramSegmenter.v1`, whose dictionary is read later."""
    return NgramSegmenter()
