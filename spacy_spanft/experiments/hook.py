"""The only module of the experiments that imports the code of spans."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from spacy.language import Language
from spacy.tokens import Doc

from ..ngrams.dictionary import NgramDictionary
from ..ngrams.readers import default_dictionary
from ..pipeline.scorers import regression_scores
from ..pipeline.span_segmenter import SpanSegmenter
from ..segmenters import registry
from ..segmenters.ngram import NgramSegmenter
from ..segmenters.nltk_chunk import has_phrase_data
from ..segmenters.random import piece_lengths
from ..util import SPAN_BLOCKS

if TYPE_CHECKING:
    from ..explanation import Explanation as Explanation

__all__ = [
    "NGRAM_SEGMENTER",
    "NLTK_SEGMENTER",
    "RANDOM_SEGMENTER",
    "SPAN_BLOCKS",
    "SpanSegmenter",
    "explained",
    "has_phrase_data",
    "lengths_of_ngrams",
    "n_ngrams_of",
    "registry",
    "regression_scores",
    "segmenter_of",
    "spans_of",
]

NGRAM_SEGMENTER = "spacy-spanft.NgramSegmenter.v1"
RANDOM_SEGMENTER = "spacy-spanft.RandomSegmenter.v1"
NLTK_SEGMENTER = "spacy-spanft.NltkChunkSegmenter.v1"


def segmenter_of(nlp: Language) -> SpanSegmenter | None:
    """Return the first segmenter of a pipeline."""
    components = (component for _, component in nlp.pipeline)
    segmenters = (c for c in components if isinstance(c, SpanSegmenter))
    return next(segmenters, None)


def spans_of(doc: Doc, segmenter: SpanSegmenter | None) -> list[tuple[int, int]]:
    """Return the spans that a segmenter wrote, in characters."""
    group = doc.spans.get(segmenter.spans_key, []) if segmenter is not None else []
    return [(span.start_char, span.end_char) for span in group]


def n_ngrams_of(segmenter: SpanSegmenter | None) -> int | None:
    """Return the size of a segmenter's dictionary, if it has one."""
    inner = None if segmenter is None else segmenter.segmenter
    return len(inner.dictionary) if isinstance(inner, NgramSegmenter) else None


def lengths_of_ngrams(docs: list[Doc], dictionary: str | Path | None) -> list[float]:
    """Measure the lengths of the pieces into which n-grams cut texts.

    dictionary (Optional[Union[str, Path]]): The n-grams; None for the default ones.
    RETURNS (list[float]): The share of pieces of one token, of two, and so on.
    """
    ngrams = (
        NgramDictionary.from_disk(dictionary) if dictionary else default_dictionary()
    )
    return [round(share, 4) for share in piece_lengths(docs, ngrams)]


def explained(
    nlp: Language, component: str, texts: Iterable[str]
) -> "Iterator[Explanation]":
    """Trace the labels of texts to their phrases, if the component has spans."""
    from ..explanation import explain_pipe, text_classifiers

    if component in text_classifiers(nlp):
        yield from explain_pipe(nlp, texts, component=component)
