"""How much an n-gram is more than its parts."""

from collections.abc import Mapping
from math import inf, log2
from typing import Literal, TypeAlias

from ..errors import DictionaryError, Errors

Ranking: TypeAlias = Literal["count", "pmi"]


def pmi(
    ngram: str, ngrams: Mapping[str, int], words: Mapping[str, int], n_tokens: int
) -> float:
    """Pointwise mutual information of the words of an n-gram, in bits.

    For two words it is log2 p(a b) / (p(a) p(b)), with p(x) = count(x) / n_tokens.
    For more, the product below the line is that of the best segmentation of the
    n-gram into shorter pieces (Levine et al., 2021, "PMI-Masking"): "new york of"
    gains nothing from "new york". A piece that was cut from the dictionary takes
    no part in it.

    ngram (str): The n-gram.
    ngrams (Mapping[str, int]): The n-grams with their counts.
    words (Mapping[str, int]): The single words with theirs.
    n_tokens (int): The number of tokens counted.
    RETURNS (float): The PMI.
    """
    parts = ngram.split(" ")
    for part in parts:
        if part not in words:
            raise DictionaryError(Errors.NO_WORD_COUNTS.format(word=part))
    if n_tokens < 1:
        raise DictionaryError(Errors.NO_TOKEN_COUNT)
    total = log2(n_tokens)
    n = len(parts)
    # best[j]: the log probability of the best segmentation of the first j words.
    best = [0.0] + [-inf] * n
    for end in range(1, n + 1):
        for start in range(end):
            if end - start == n:
                continue
            piece = parts[start:end]
            count = words[piece[0]] if len(piece) == 1 else ngrams.get(" ".join(piece))
            if count:
                best[end] = max(best[end], best[start] + log2(count) - total)
    return log2(ngrams[ngram]) - total - best[n]
