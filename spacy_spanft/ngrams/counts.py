"""Counts as plain mappings: checking, ordering, folding, adding and comparing them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

from ..errors import DictionaryError, Errors, shown
from .counting.settings import LARGEST_N, is_whole

LONGEST_COUNT = 19  # digits: what 64 bits hold


class NgramDiff(NamedTuple):
    """What two dictionaries have in common and what they have not.

    only_left (list[str]): The n-grams of the first alone, most frequent first.
    only_right (list[str]): The n-grams of the second alone.
    common (dict[str, tuple[int, int]]): The n-grams of both, with both counts.
    """

    only_left: list[str]
    only_right: list[str]
    common: dict[str, tuple[int, int]]


def check_mapping(name: str, value: object) -> None:
    """Raise unless this is a mapping, whatever is in it.

    name (str): What the user calls it.
    value (object): What was given.
    """
    if not isinstance(value, Mapping):
        message = Errors.NOT_COUNTS.format(name=name, value=shown(value))
        raise DictionaryError(message)


def check(ngram: object, count: object) -> None:
    """Raise unless this is an n-gram and its count.

    ngram (object): The n-gram: words with single spaces between them.
    """
    if not isinstance(ngram, str) or not _is_text(ngram):
        raise DictionaryError(Errors.BAD_NGRAM.format(ngram=shown(ngram)))
    words = ngram.split()
    if len(words) < 2 or words != ngram.split(" "):
        raise DictionaryError(Errors.BAD_NGRAM.format(ngram=shown(ngram)))
    if len(words) > LARGEST_N:
        size = {"n": len(words), "largest": LARGEST_N}
        raise DictionaryError(Errors.LARGE_N.format(ngram=shown(ngram), **size))
    _check_count(ngram, count)


def check_word(word: object, count: object) -> None:
    """Raise unless this is a word and its count."""
    if not isinstance(word, str) or not _is_text(word) or word.split() != [word]:
        raise DictionaryError(Errors.BAD_WORD.format(word=shown(word)))
    _check_count(word, count)


def _check_count(text: str, count: object) -> None:
    if not is_whole(count) or not 1 <= count < 10**LONGEST_COUNT:  # type: ignore[operator]
        how = {"count": shown(count), "digits": LONGEST_COUNT}
        raise DictionaryError(Errors.BAD_COUNT.format(ngram=shown(text), **how))


def _is_text(text: str) -> bool:
    """Say whether a file can hold it: half a surrogate pair is not a character."""
    try:
        text.encode("utf8")
    except UnicodeEncodeError:
        return False
    return True


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
