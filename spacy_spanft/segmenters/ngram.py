"""The n-gram segmenter: greedy from the head, longest match first."""

import warnings
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from spacy.attrs import IDS
from spacy.language import Language
from spacy.tokens import Doc

from ..errors import Errors, SpanftError, Warnings
from ..ngrams.dictionary import NgramDictionary
from ..ngrams.readers import default_dictionary
from .matcher import NgramMatcher, take_from_head
from .types import Segmentation, check_docs

# Below this many tokens, array operations cost more than what they save; above it,
# the arrays leave the cache.
_TOKENS_PER_BATCH = 20_000
_FILE = "dictionary.tsv.gz"


class NgramSegmenter:
    """Cuts Docs with an n-gram dictionary."""

    def __init__(self, dictionary: NgramDictionary | None = None) -> None:
        """Make a segmenter.

        dictionary (Optional[NgramDictionary]): The dictionary; None takes the default
            English one when it is first needed.
        """
        self._dictionary = dictionary
        self._matcher: NgramMatcher | None = None
        _warn_if_empty(dictionary)

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
        _warn_if_empty(dictionary)

    @property
    def has_default(self) -> bool:
        """Whether no dictionary was given, or read, so far."""
        return self._dictionary is None

    def __call__(self, docs: Sequence[Doc]) -> list[Segmentation]:
        """Find the n-grams in Docs.

        docs (Sequence[Doc]): The Docs.
        RETURNS (list[Segmentation]): Spans of two tokens or more, for each Doc.
        """
        check_docs(docs)
        if self._matcher is None:
            self._matcher = NgramMatcher(self.dictionary)
        segmentations: list[Segmentation] = []
        batch: list[Doc] = []
        n_tokens = 0
        for doc in docs:
            batch.append(doc)
            n_tokens += len(doc)
            if n_tokens >= _TOKENS_PER_BATCH:
                segmentations.extend(self._segment(batch, self._matcher))
                batch, n_tokens = [], 0
        segmentations.extend(self._segment(batch, self._matcher))
        return segmentations

    def _segment(
        self, docs: Sequence[Doc], matcher: NgramMatcher
    ) -> list[Segmentation]:
        if not docs:
            return []
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
        pairs = list(
            zip(first.tolist(), (first + lengths[heads]).tolist(), strict=True)
        )
        cuts = bounds.tolist()
        return [pairs[a:b] for a, b in pairwise(cuts)]

    def initialize(self, nlp: Language, dictionary: NgramDictionary | None) -> None:
        """Take over the dictionary of a config's [initialize] block.

        nlp (Language): The pipeline.
        dictionary (Optional[NgramDictionary]): The dictionary; None keeps what is
            there.
        """
        if dictionary is not None:
            self.dictionary = dictionary

    def to_bytes(self) -> bytes:
        """Write the dictionary, so that the pipeline needs no other file.

        RETURNS (bytes): The dictionary's file.
        """
        return self.dictionary.to_bytes()

    def from_bytes(self, data: bytes) -> "NgramSegmenter":
        """Read the dictionary.

        data (bytes): What `to_bytes` wrote.
        RETURNS (NgramSegmenter): The segmenter.
        """
        self.dictionary = NgramDictionary.from_bytes(data, name="The pipeline's data")
        return self

    def to_disk(self, path: str | Path) -> None:
        """Save the dictionary.

        path (Union[str, Path]): A folder; it is made.
        """
        self.dictionary.to_disk(Path(path) / _FILE)

    def from_disk(self, path: str | Path) -> "NgramSegmenter":
        """Read the dictionary.

        path (Union[str, Path]): The folder that `to_disk` wrote.
        RETURNS (NgramSegmenter): The segmenter.
        """
        file = Path(path) / _FILE
        if not file.exists():
            raise SpanftError(Errors.NOT_SAVED.format(path=file))
        self.dictionary = NgramDictionary.from_disk(file)
        return self


def make_ngram_segmenter() -> NgramSegmenter:
    """Make the segmenter in a config. Its dictionary is read at initialization.

    RETURNS (NgramSegmenter): The segmenter.
    """
    return NgramSegmenter()


def _warn_if_empty(dictionary: NgramDictionary | None) -> None:
    if dictionary is not None and not dictionary:
        warnings.warn(Warnings.EMPTY_DICTIONARY, stacklevel=3)
