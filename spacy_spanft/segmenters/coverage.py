"""How much of a text a dictionary covers, and the lengths of its pieces."""

import warnings
from typing import NamedTuple

import numpy as np
import spacy
from spacy.tokens import Doc
from typing_extensions import Unpack

from ..ngrams.counting.settings import CountSettings
from ..ngrams.dictionary import NgramDictionary
from ..ngrams.text.blocks import LineSample
from .ngram import NgramSegmenter
from .writing import with_singletons


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
    threshold = settings.get("min_count", 10)
    settings.update({"min_count": 1, "n_process": 1, "progress": False})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there need not be any n-gram in the sample
        block = b"\n".join([*sample.lines, b""])
        inside = NgramDictionary.from_blocks([block], ["sample"], **settings)
        rest = {ngram: n - inside.get(ngram, 0) for ngram, n in dictionary.items()}
        kept = {ngram: count for ngram, count in rest.items() if count >= threshold}
        segmenter = NgramSegmenter(NgramDictionary(kept, attr=dictionary.attr))
    nlp = spacy.blank(lang or "xx")
    nlp.add_pipe("sentencizer")
    lines = [line.decode("utf8") for line in sample.lines]
    made = lines if lang else [Doc(nlp.vocab, words=line.split()) for line in lines]
    docs = list(nlp.pipe(made))
    n_tokens = sum(map(len, docs))
    n_sentences = sum(sum(1 for _ in doc.sents) for doc in docs)
    lengths = [end - start for spans in segmenter(docs) for start, end, *_ in spans]
    n_spans = n_tokens - sum(lengths) + len(lengths)
    return Coverage(
        n_sentences, sum(lengths) / max(1, n_tokens), n_spans / max(1, n_sentences)
    )


def piece_lengths(docs: list[Doc], dictionary: NgramDictionary) -> list[float]:
    """Measure which share of the pieces has one token, which two, and so on.

    dictionary (NgramDictionary): Cuts them; tokens in no span are pieces too.
    RETURNS (list[float]): The shares, as the random segmenter takes them.
    """
    lengths = [
        end - start
        for doc, spans in zip(docs, NgramSegmenter(dictionary)(docs), strict=True)
        for start, end, *_ in with_singletons(spans, len(doc))
    ]
    if not lengths:
        return [1.0]
    shares = np.bincount(lengths)[1:] / len(lengths)
    return [float(share) for share in shares]
