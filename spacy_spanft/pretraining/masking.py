"""Which words are masked: spans, single words, or n-grams, in one run of words.

A run is as many words in a row as may be masked. The budget is a share of its words
(of its tokens for n-grams), and each way of masking spends it exactly, on average.

Whoever draws spans until the budget is spent, or their places first, makes spans too
short, or the share wrong. So the lengths are drawn first, for a process that never
began: the spans follow each other without end, and the budget is a window on it. The
window opens inside a span of which `debt` words still count; from there on every
span that begins in the window is taken whole. As many words begin outside as hang
over the end, so both the lengths and the share are exact. Only then the spans are
put somewhere, with at least one word between two of them, every such arrangement
being as likely as any other.
"""

from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Masking: TypeAlias = Literal["tokens", "words", "spans", "ngrams"]
Positions: TypeAlias = NDArray[np.int64]
Random: TypeAlias = np.random.Generator

# Joshi et al. (2020), 3.1: the mean of this is 3.8 words.
P_STOP = 0.2
LONGEST = 10
# Beyond it there may be no room left for spans with a word between them.
MAX_SHARE = 0.4


class Chosen(NamedTuple):
    """What is masked, in order: the first word of each span, and how many it has."""

    starts: Positions
    lengths: Positions


def span_lengths(longest: int = LONGEST, p: float = P_STOP) -> NDArray[np.float64]:
    """Compute how likely a span of one word is, of two, and so on: geometrically."""
    weights = p * (1 - p) ** np.arange(longest)
    return weights / weights.sum()


@lru_cache(maxsize=2 * LONGEST)
def _tables(longest: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cumulate the lengths, and what is left of a span that a window opens in."""
    lengths = span_lengths(longest)
    is_longer = 1 - np.cumsum(lengths) + lengths  # P(length > debt), debt = 0, 1, ...
    debts = is_longer / is_longer.sum()
    return np.cumsum(lengths)[:-1], np.cumsum(debts)[:-1]


def _budget(n_words: int, share: float, random: Random) -> int:
    return int(share * n_words + random.random())


def choose_spans(n_words: int, share: float, random: Random) -> Chosen:
    """Choose spans of random lengths at random places.

    In a run of less than 13 words (for 15%) not every length has room, so the lengths
    are drawn from those that have.
    """
    budget = _budget(n_words, share, random)
    # Less than `budget` words are in the spans before the last one, and as many
    # between them; and where there are two words one must stay to guess from.
    room = min(n_words + 2 - 2 * budget, n_words - budget)
    up_to_length, up_to_debt = _tables(max(1, min(LONGEST, room)))
    draws = random.random(budget + 1)
    debt = np.searchsorted(up_to_debt, draws[0], side="right")
    lengths = np.searchsorted(up_to_length, draws[1:], side="right") + 1
    begins = debt + np.cumsum(lengths) - lengths
    lengths = lengths[begins < budget]
    return Chosen(_arrange(n_words, lengths, random), lengths)


def _arrange(n_words: int, lengths: Positions, random: Random) -> Positions:
    """Put spans anywhere, in their order: all arrangements are equally likely."""
    n_spans = len(lengths)
    if not n_spans:
        return lengths
    n_free = n_words - int(lengths.sum()) - (n_spans - 1)
    slots = random.choice(n_free + n_spans, n_spans, replace=False, shuffle=False)
    slots.sort()
    return slots + np.cumsum(lengths) - lengths


def choose_words(n_words: int, share: float, random: Random) -> Chosen:
    """Choose single words; they may stand side by side."""
    budget = _budget(n_words, share, random)
    words = random.choice(n_words, budget, replace=False, shuffle=False)
    words.sort()
    return Chosen(words, np.ones(budget, np.int64))


def choose_ngrams(
    bounds: Positions, sizes: Positions, share: float, random: Random
) -> Chosen:
    """Choose n-grams, and single words where there are not enough of them.

    Words of n-grams are frequent ones, which have fewer tokens than others: so what is
    spent here is a share of the tokens.

    bounds (Positions): Where each piece begins, n-gram or single word, and the end.
    sizes (Positions): How many tokens each piece has.
    """
    lengths = np.diff(bounds)
    left = _budget(int(sizes.sum()), share, random)
    order = random.permutation(len(lengths))
    order = order[np.argsort(lengths[order] == 1, kind="stable")]
    taken = np.zeros(len(lengths) + 2, np.bool_)  # a gap at either end
    for piece in order.tolist():
        if left <= 0:
            break
        if taken[piece] or taken[piece + 2]:
            continue
        # What is too long is taken in proportion, so that the share is exact.
        size = int(sizes[piece])
        taken[piece + 1] = size <= left or random.random() * size < left
        left -= size
    chosen = np.flatnonzero(taken[1:-1])
    return Chosen(bounds[chosen], lengths[chosen])


def choose(
    masking: Masking, bounds: Positions, sizes: Positions, share: float, random: Random
) -> Chosen:
    """Choose what is masked in one run; see `choose_ngrams`."""
    if masking == "ngrams":
        return choose_ngrams(bounds, sizes, share, random)
    first, n_words = int(bounds[0]), int(bounds[-1] - bounds[0])
    # Of "tokens" each is given as a word.
    chooser = choose_spans if masking == "spans" else choose_words
    starts, lengths = chooser(n_words, share, random)
    return Chosen(starts + first, lengths)
