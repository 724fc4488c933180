"""Counts as plain mappings: checking, ordering, folding, adding and comparing them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

from ..counting.settings import is_whole
from ..errors import DictionaryError, Errors


class NgramDiff(NamedTuple):
    """What two dictionaries have in common and what they have not.

    only_left (list[str]): The n-grams of the first alone, most frequent first.
    only_right (list[str]): The n-grams of the second alone.
    common (dict[str, tuple[int, int]]): The n-grams of both, with both counts.
    """

    only_left: list[str]
    only_right: list[str]
    common: dict[str, tuple[int, int]]


def check(ngram: object, count: object) -> None:
    """Raise unless this is an n-gram and its count.

    ngram (object): The n-gram: words with single spaces between them.
    count (object): The count.
    """
    if not isinstance(ngram, str) or len(ngram.split()) < 2:
        raise DictionaryError(Errors.BAD_NGRAM.format(ngram=ngram))
    if ngram.split() != ngram.split(" "):
        raise DictionaryError(Errors.BAD_NGRAM.format(ngram=ngram))
    if not is_whole(count) or count < 1:  # type: ignore[operator]
        raise DictionaryError(Errors.BAD_COUNT.format(ngram=ngram, count=count))


def check_word(word: object, count: object) -> None:
    """Raise unless this is a word and its count.

    word (object): The word.
    count (object): The count.
    """
    if not isinstance(word, str) or word.split() != [word]:
        raise DictionaryError(Errors.BAD_WORD.format(word=word))
    if not is_whole(count) or count < 1:  # type: ignore[operator]
        raise DictionaryError(Errors.BAD_COUNT.format(ngram=word, count=count))


def in_order(counts: Mapping[str, int]) -> dict[str, int]:
    """Sort by count, then the shorter first, then by the alphabet.

    What an n-gram is made of occurs at least as often, so with this order it always
    comes before it: the top k hold all pieces of the n-grams in them.

    counts (Mapping[str, int]): N-grams or words with their counts.
    RETURNS (dict[str, int]): The same in order.
    """
    # Three stable sorts by simple keys take half the time of one by a tuple.
    ngrams = sorted(counts)
    ngrams.sort(key=lambda ngram: ngram.count(" "))
    ngrams.sort(key=counts.__getitem__, reverse=True)
    return {ngram: int(counts[ngram]) for ngram in ngrams}


def is_in_order(counts: Mapping[str, int]) -> bool:
    """Say whether the most frequent come first, as `in_order` has it.

    counts (Mapping[str, int]): N-grams or words with their counts.
    RETURNS (bool): Whether no count is larger than the one before.
    """
    return all(one >= two for one, two in pairwise(counts.values()))


def words_in(ngrams: Iterable[str], words: Mapping[str, int]) -> dict[str, int]:
    """Keep the words that some n-gram holds.

    ngrams (Iterable[str]): The n-grams.
    words (Mapping[str, int]): Words with their counts.
    RETURNS (dict[str, int]): Those in the n-grams, in their order.
    """
    used = {word for ngram in ngrams for word in ngram.split(" ")}
    return {word: count for word, count in words.items() if word in used}


def folded(counts: Mapping[str, int]) -> dict[str, int]:
    """Fold case, and add the counts of what is then the same.

    counts (Mapping[str, int]): N-grams or words with their counts.
    RETURNS (dict[str, int]): The same in lower case.
    """
    lower: Counter[str] = Counter()
    for text, count in counts.items():
        lower[text.lower()] += count
    return dict(lower)


def added(left: Mapping[str, int], right: Mapping[str, int]) -> dict[str, int]:
    """Add counts.

    left (Mapping[str, int]): N-grams or words with their counts.
    right (Mapping[str, int]): Others.
    RETURNS (dict[str, int]): All of them with the sums, not in order.
    """
    total = Counter(left)
    total.update(right)
    return dict(total)
