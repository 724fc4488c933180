"""What a dictionary finds in text that it was not counted on."""

import warnings
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from typing_extensions import Unpack

from ..ngrams.counting.settings import CountSettings
from ..ngrams.dictionary import NgramDictionary
from ..ngrams.text.sample import LineSample
from .ngram import NgramSegmenter
from .writing import with_singletons


class Coverage(NamedTuple):
    """How much of a text is inside n-grams.

    n_tokens (int): The tokens of the text.
    n_covered (int): Those inside a match.
    n_spans (int): The spans, a token outside of all matches counted as one.
    """

    n_tokens: int
    n_covered: int
    n_sentences: int
    n_spans: int

    @property
    def share(self) -> float:
        """The share of the tokens inside a match."""
        return self.n_covered / max(1, self.n_tokens)

    @property
    def spans_per_sentence(self) -> float:
        """The average number of spans in a sentence."""
        return self.n_spans / max(1, self.n_sentences)


def held_out_coverage(
    dictionary: NgramDictionary,
    sample: LineSample,
    *,
    lang: str | None,
    **settings: Unpack[CountSettings],
) -> Coverage:
    """Measure what a dictionary would cover had the sample not been counted.

    Counts add up, so nothing needs to be held out while counting: the n-grams that
    would have been kept are those whose count without the sample is large enough.

    dictionary (NgramDictionary): Counted on a corpus that holds the sample.
    sample (LineSample): Lines of that corpus.
    lang (Optional[str]): The language of the tokenizer; None splits at white space.
    **settings: How the dictionary was counted.
    RETURNS (Coverage): The coverage of the sample.
    """
    counted_alike = {**settings, "min_count": 1, "n_process": 1, "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there need not be any n-gram in the sample
        inside = NgramDictionary.from_blocks(
            [b"\n".join([*sample.lines, b""])],
            ["sample"],
            **counted_alike,  # type: ignore[arg-type]
        )
    threshold = settings.get("min_count", 10)
    left = {
        ngram: count - inside.get(ngram, 0)
        for ngram, count in dictionary.items()
        if count - inside.get(ngram, 0) >= threshold
    }
    held_out = NgramDictionary(left, attr=dictionary.attr)
    nlp = spacy.blank(lang or "xx")
    nlp.add_pipe("sentencizer")
    lines = (line.decode("utf8") for line in sample.lines)
    docs = list(nlp.pipe(_docs(lines, nlp, lang is None)))
    return coverage(docs, held_out)


def _docs(
    lines: Iterable[str], nlp: Language, is_tokenized: bool
) -> Iterator[str | Doc]:
    for line in lines:
        yield Doc(nlp.vocab, words=line.split()) if is_tokenized else line


def coverage(docs: list[Doc], dictionary: NgramDictionary) -> Coverage:
    """Measure how much of some Docs is inside n-grams.

    docs (list[Doc]): The Docs, with sentences.
    """
    n_tokens = sum(len(doc) for doc in docs)
    # What is left of a small text without its held-out part may well be empty.
    segmentations = NgramSegmenter(dictionary)(docs) if dictionary else []
    lengths = [end - start for spans in segmentations for start, end, *_ in spans]
    n_sentences = sum(sum(1 for _ in doc.sents) for doc in docs)
    n_spans = n_tokens - sum(lengths) + len(lengths)
    return Coverage(n_tokens, sum(lengths), n_sentences, n_spans)


def piece_lengths(docs: list[Doc], dictionary: NgramDictionary) -> list[float]:
    """Measure which share of the pieces has one token, which two, and so on.

    dictionary (NgramDictionary): Cuts them; tokens in no span are pieces too.
    RETURNS (list[float]): The shares, as the random segmenter takes them.
    """
    lengths = [
        end - start
        for doc, found in zip(docs, NgramSegmenter(dictionary)(docs), strict=True)
        for start, end, *_ in with_singletons(found, len(doc))
    ]
    if not lengths:
        return [1.0]
    shares = np.bincount(lengths)[1:] / len(lengths)
    return [float(share) for share in shares]
