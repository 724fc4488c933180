"""Greedy longest matches of n-grams, for a batch of Docs at once.

The n-grams form a trie: a node is a prefix, and (node, next word) leads to another.
Both steps are look-ups in hash tables, so that all positions of all Docs advance
together, one word at a time, instead of one position after the other.
"""

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from spacy.strings import get_string_id

Keys: TypeAlias = NDArray[np.uint64]
Values: TypeAlias = NDArray[np.uint32]
Positions: TypeAlias = NDArray[np.int64]

_WORD_BITS = np.uint64(32)
_MIX1 = np.uint64(0x9E3779B97F4A7C15)
_MIX2 = np.uint64(0xC2B2AE3D27D4EB4F)


class HashTable:
    """Whole numbers to whole numbers; what is not in it is 0.

    Open addressing with linear probing, filled to a quarter at most, so that nearly
    every look-up ends at the first slot. Key 0 marks an empty slot.
    """

    def __init__(self, keys: Keys, values: Values) -> None:
        """Fill the table with different keys and their values, none of them 0."""
        self._bits = max(4, (4 * len(keys)).bit_length())
        self._keys = np.zeros(1 << self._bits, np.uint64)
        self._values = np.zeros(1 << self._bits, np.uint32)
        slots = self._slots(keys)
        while len(keys):
            is_free = self._keys[slots] == 0
            # Of several that want one slot the last one gets it; all look again.
            self._keys[slots[is_free]] = keys[is_free]
            is_in = self._keys[slots] == keys
            self._values[slots[is_in]] = values[is_in]
            keys, values = keys[~is_in], values[~is_in]
            slots = self._next(slots[~is_in])

    def get(self, keys: Keys) -> Values:
        """Return the values of keys, 0 for a key that is not there."""
        slots = self._slots(keys)
        stored = self._keys.take(slots)
        values = self._values.take(slots)
        is_hit = stored == keys
        values[~is_hit] = 0
        open_ = np.flatnonzero(~is_hit & (stored != 0))
        slots = slots[open_]
        while len(open_):
            slots = self._next(slots)
            stored = self._keys.take(slots)
            is_hit = stored == keys[open_]
            values[open_[is_hit]] = self._values[slots[is_hit]]
            goes_on = ~is_hit & (stored != 0)
            open_, slots = open_[goes_on], slots[goes_on]
        return values

    def _slots(self, keys: Keys) -> NDArray[np.int64]:
        hashed = keys * _MIX1
        hashed ^= hashed >> np.uint64(29)
        hashed *= _MIX2
        hashed >>= np.uint64(64 - self._bits)
        return hashed.view(np.int64)

    def _next(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        return (slots + 1) & ((1 << self._bits) - 1)


class NgramMatcher:
    """Matches the n-grams of a dictionary in sequences of string ids."""

    def __init__(self, ngrams: Iterable[str]) -> None:
        """Build the trie of n-grams, with single spaces between their words."""
        texts = list(ngrams)
        words = " ".join(texts).split(" ") if texts else []
        word_ids = {word: i for i, word in enumerate(dict.fromkeys(words), 1)}
        # spaCy's symbols, such as "mark", have small ids, not hashes.
        strings = np.array([get_string_id(word) for word in word_ids], np.uint64)
        numbers = np.arange(1, len(strings) + 1, dtype=np.uint32)
        self._words = HashTable(strings, numbers)
        ids = np.array([word_ids[word] for word in words], np.uint32)
        lengths = np.array([text.count(" ") + 1 for text in texts], np.int64)
        starts = np.cumsum(lengths) - lengths
        by_length = {
            n: ids[starts[lengths == n][:, None] + np.arange(n)]
            for n in np.unique(lengths).tolist()
        }
        self.max_n = max(by_length, default=0)
        self._children = self._build_trie(by_length, len(strings))

    def _build_trie(self, ngrams: dict[int, Values], n_words: int) -> HashTable:
        """Number the prefixes level by level; words are the nodes of level one.

        RETURNS (HashTable): (node, word) to 2 * child node + whether an n-gram ends.
        """
        nodes = {n: rows[:, 0].astype(np.uint64) for n, rows in ngrams.items()}
        keys: list[NDArray[np.uint64]] = [np.zeros(0, np.uint64)]
        ends: list[NDArray[np.bool_]] = [np.zeros(0, np.bool_)]
        first_node = n_words + 1
        for depth in range(1, self.max_n):
            longer = [n for n in ngrams if n > depth]
            steps = [_step(nodes[n], ngrams[n][:, depth]) for n in longer]
            level, positions = np.unique(np.concatenate(steps), return_inverse=True)
            is_end = np.zeros(len(level), np.bool_)
            bounds = np.cumsum([len(step) for step in steps])[:-1]
            for n, children in zip(longer, np.split(positions, bounds), strict=True):
                nodes[n] = (first_node + children).astype(np.uint64)
                if n == depth + 1:
                    is_end[children] = True
            keys.append(level)
            ends.append(is_end)
            first_node += len(level)
        all_ends = np.concatenate(ends)
        numbers = np.arange(n_words + 1, first_node, dtype=np.uint32)
        return HashTable(np.concatenate(keys), 2 * numbers + all_ends)

    def longest(self, ids: NDArray[np.uint64], starts: Positions) -> Positions:
        """Return the length of the longest n-gram at every position, 1 for none.

        starts (Positions): Where each Doc begins, ascending; no match crosses one.
        """
        n_tokens = len(ids)
        # One gap after the last word, so that the next word can always be asked for.
        words = np.zeros(n_tokens + 1, np.uint32)
        words[:-1] = self._words.get(ids)
        is_start = np.zeros(n_tokens + 1, np.bool_)
        is_start[starts] = True
        lengths = np.ones(n_tokens, np.int64)
        can_follow = (words != 0) & ~is_start
        at = np.flatnonzero((words[:-1] != 0) & can_follow[1:])
        nodes = words[at].astype(np.uint64)
        for length in range(2, self.max_n + 1):
            if not len(at):
                break
            children = self._children.get(_step(nodes, words[at + (length - 1)]))
            hits = np.flatnonzero(children)
            at, children = at[hits], children[hits]
            lengths[at[(children & np.uint32(1)).astype(np.bool_)]] = length
            goes_on = np.flatnonzero(can_follow[np.minimum(at + length, n_tokens)])
            at = at[goes_on]
            nodes = (children[goes_on] >> np.uint32(1)).astype(np.uint64)
        return lengths


def _step(nodes: NDArray[np.uint64], words: Values) -> NDArray[np.uint64]:
    return (nodes << _WORD_BITS) | words


def take_from_head(lengths: Positions) -> Positions:
    """Walk from match to match: greedy from the head.

    A position that no match before it reaches over is surely visited. From those the
    walk goes on in step, until each meets a position that is visited already.
    """
    n_tokens = len(lengths)
    is_covered = np.zeros(n_tokens, np.bool_)
    longest = int(lengths.max(initial=1))
    for offset in range(1, longest):
        is_covered[np.flatnonzero(lengths > offset) + offset] = True
    is_visited = ~is_covered
    at = np.flatnonzero(is_visited)
    while len(at):
        at = at + lengths[at]
        at = at[at < n_tokens]
        at = at[~is_visited[at]]
        is_visited[at] = True
    return np.flatnonzero(is_visited)
