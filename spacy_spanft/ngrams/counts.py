"""Counts as plain mappings: checking, ordering, adding and ranking them."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from math import inf, log2
from numbers import Integral
from typing import Literal, TypeAlias

from ..errors import SpanftError, check_setting, shown

Ranking: TypeAlias = Literal["count", "pmi"]

_WORD = re.compile(r"\S+")
_NGRAM = re.compile(r"\S+(?: \S+)+")


def check_counts(ngrams: Mapping[str, int], words: Mapping[str, int]) -> None:
    """Raise for what cannot be the count of an n-gram, or of a word."""
    for name, counts, shape in (("ngrams", ngrams, _NGRAM), ("words", words, _WORD)):
        for text, count in counts.items():
            if not isinstance(text, str) or not shape.fullmatch(text):
                raise SpanftError(
                    f"{shown(text)} cannot stand in {name}: n-grams are two or more "
                    "words with single spaces between them, words have no white space."
                )
            is_count = isinstance(count, Integral) and count >= 1
            expected = "a whole number of 1 or more"
            check_setting(f"The count of {shown(text)}", count, is_count, expected)


def in_order(counts: Mapping[str, int]) -> dict[str, int]:
    """Sort by count, then the shorter first, then by the alphabet.

    What an n-gram is made of occurs at least as often, so with this order it always
    comes before it: the top k hold all pieces of the n-grams in them.
    """
    # Three stable sorts by simple keys take half the time of one by a tuple.
    ngrams = sorted(counts)
    ngrams.sort(key=lambda ngram: ngram.count(" "))
    ngrams.sort(key=counts.__getitem__, reverse=True)
    return {ngram: int(counts[ngram]) for ngram in ngrams}


def words_in(ngrams: Iterable[str], words: Mapping[str, int]) -> dict[str, int]:
    """Keep the words that occur in some n-gram, in their order."""
    used = {word for ngram in ngrams for word in ngram.split(" ")}
    return {word: count for word, count in words.items() if word in used}


def folded(counts: Mapping[str, int]) -> dict[str, int]:
    """Fold case, and add the counts of what is then the same."""
    lower: Counter[str] = Counter()
    for text, count in counts.items():
        lower[text.lower()] += count
    return dict(lower)


def pmi(
    ngram: str, ngrams: Mapping[str, int], words: Mapping[str, int], n_tokens: int
) -> float:
    """Return the pointwise mutual information of the words of an n-gram, in bits.

    For two words it is log2 p(a b) / (p(a) p(b)), with p(x) = count(x) / n_tokens.
    For more words, see `NgramDictionary.pmi`. A piece that was cut from the dictionary
    takes no part in it.
    """
    count_of_all = ngrams[ngram]
    parts = ngram.split(" ")
    missing = [part for part in parts if part not in words]
    if missing or n_tokens < 1:
        raise SpanftError(
            f"PMI needs the counts of the single words (missing: {missing[:1]}) and "
            f"the number of tokens ({n_tokens:,}). Pass words=... and "
            "provenance=Provenance(n_tokens=...) to NgramDictionary."
        )
    total = log2(n_tokens)
    n = len(parts)
    # best[j]: the log probability of the best segmentation of the first j words.
    best = [0.0] + [-inf] * n
    for end in range(1, n + 1):
        for start in range(end):
            piece = parts[start:end]
            count = words[piece[0]] if len(piece) == 1 else ngrams.get(" ".join(piece))
            if count and len(piece) < n:
                best[end] = max(best[end], best[start] + log2(count) - total)
    return log2(count_of_all) - total - best[n]
