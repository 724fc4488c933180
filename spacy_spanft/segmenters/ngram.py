"""The n-gram segmenter: greedy from the head, longest match first."""

import warnings
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import spacy
from spacy.attrs import IDS
from spacy.language import Language
from spacy.tokens import Doc
from typing_extensions import Unpack

from ..ngrams.dictionary import NgramDictionary
from ..ngrams.provenance import CountSettings
from ..ngrams.readers import default_dictionary
from . import Segmentation
from .matcher import NgramMatcher, take_from_head

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
        self._dictionary: NgramDictionary | None = None
        self._matcher: NgramMatcher | None = None
        if dictionary is not None:
            self.dictionary = dictionary

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
        if not dictionary:
            warnings.warn(
                "The dictionary of the segmenter has no n-grams, so there are no spans "
                "of two words or more. Was it built with too high a min_count?",
                stacklevel=2,
            )

    @property
    def has_default(self) -> bool:
        """Whether no dictionary was given, or read, so far."""
        return self._dictionary is None

    def __call__(self, docs: Sequence[Doc]) -> list[Segmentation]:
        """Return the n-grams in Docs: spans of two tokens or more, for each Doc."""
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
        if batch:
            segmentations.extend(self._segment(batch, self._matcher))
        return segmentations

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
        pairs = list(
            zip(first.tolist(), (first + lengths[heads]).tolist(), strict=True)
        )
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
    """Make the segmenter in a config. Its dictionary is read at initialization.

    RETURNS (NgramSegmenter): The segmenter.
    """
    return NgramSegmenter()


class Coverage(NamedTuple):
    """How much of a text is inside n-grams.

    n_sentences (int): The number of its sentences.
    share (float): The share of the tokens inside a match.
    spans_per_sentence (float): A token outside of all matches counts as a span.
    """

    n_sentences: int
    share: float
    spans_per_sentence: float


def held_out_coverage(
    dictionary: NgramDictionary, lines: list[bytes], **settings: Unpack[CountSettings]
) -> Coverage:
    """Measure what a dictionary would cover had these lines not been counted.

    Counts add up, so nothing needs to be held out while counting: the n-grams that
    would have been kept are those whose count without the lines is large enough.

    dictionary (NgramDictionary): Counted on a corpus that holds the lines.
    lines (list[bytes]): Some of its lines.
    **settings: How it was counted.
    RETURNS (Coverage): The coverage of the lines.
    """
    tokenizer, threshold = settings["tokenizer"], settings["min_count"]
    counting = CountSettings(
        tokenizer=tokenizer, attr=settings["attr"], max_n=settings["max_n"], min_count=1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there need not be any n-gram in the lines
        block = b"\n".join([*lines, b""])
        inside = NgramDictionary.from_blocks([block], ["sample"], **counting)
        rest = {ngram: n - inside.get(ngram, 0) for ngram, n in dictionary.items()}
        kept = {ngram: count for ngram, count in rest.items() if count >= threshold}
        segmenter = NgramSegmenter(NgramDictionary(kept, attr=dictionary.attr))
    is_split = tokenizer == "whitespace"
    nlp = spacy.blank("xx" if is_split else str(tokenizer))
    nlp.add_pipe("sentencizer")
    texts = (line.decode("utf8") for line in lines)
    made = (Doc(nlp.vocab, words=t.split()) if is_split else t for t in texts)
    docs = list(nlp.pipe(made))
    n_tokens = sum(map(len, docs))
    n_sentences = sum(sum(1 for _ in doc.sents) for doc in docs)
    lengths = [end - start for spans in segmenter(docs) for start, end, *_ in spans]
    n_spans = n_tokens - sum(lengths) + len(lengths)
    return Coverage(
        n_sentences, sum(lengths) / max(1, n_tokens), n_spans / max(1, n_sentences)
    )
