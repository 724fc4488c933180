"""Greedy longest matches of n-grams, for a batch of Docs at once.

The n-grams form a trie: a node is a prefix, and (node, next word) leads to another.
Both steps are look-ups in hash tables, so that all positions of all Docs advance
together, one word at a time, instead of one position after the other.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from spacy.strings import get_string_id

from .hashtable import HashTable, Values

Positions = NDArray[np.int64]
_WORD_BITS = np.uint64(32)


class NgramMatcher:
    """Matches the n-grams of a dictionary in sequences of string ids."""

    def __init__(self, ngrams: Iterable[str]) -> None:
        """Build the trie.

        ngrams (Iterable[str]): The n-grams, single spaces between the words.
        """
        texts = list(ngrams)
        words = " ".join(texts).split(" ") if texts else []
        word_ids = {word: i for i, word in enumerate(dict.fromkeys(words), 1)}
        # spaCy's symbols, such as "mark", have small ids, not hashes.
        strings = np.array([get_string_id(word) for word in word_ids], np.uint64)
        numbers = np.arange(1, len(strings) + 1, dtype=np.uint32)
        self._words = HashTable(strings, numbers)
        by_length = _rows_by_length(
            np.array([word_ids[word] for word in words], np.uint32),
            np.array([text.count(" ") + 1 for text in texts], np.int64),
        )
        self.max_n = max(by_length, default=0)
        self._children = self._build_trie(by_length, len(strings))

    def _build_trie(self, ngrams: dict[int, Values], n_words: int) -> HashTable:
        """Number the prefixes level by level. A node's lowest bit: an n-gram ends here.

        ngrams (dict[int, Values]): n to the word ids of the n-grams, (n_ngrams, n).
        n_words (int): How many words there are; they are the nodes of level one.
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
            begin = 0
            for n, step in zip(longer, steps, strict=True):
                mine = positions[begin : begin + len(step)]
                begin += len(step)
                nodes[n] = (first_node + mine).astype(np.uint64)
                if n == depth + 1:
                    is_end[mine] = True
            keys.append(level)
            ends.append(is_end)
            first_node += len(level)
        all_ends = np.concatenate(ends)
        numbers = np.arange(n_words + 1, first_node, dtype=np.uint32)
        return HashTable(np.concatenate(keys), 2 * numbers + all_ends)

    def longest(self, ids: NDArray[np.uint64], starts: Positions) -> Positions:
        """Return the length of the longest n-gram at every position.

        ids (NDArray[np.uint64]): The string ids of all Docs, (n_tokens,).
        starts (Positions): Where each Doc begins, ascending; no match crosses one.
        RETURNS (Positions): The length of the longest match, 1 for none, (n_tokens,).
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


def _rows_by_length(ids: Values, lengths: Positions) -> dict[int, Values]:
    """Sort sequences of one flat array by their length: n to (n_sequences, n)."""
    starts = np.cumsum(lengths) - lengths
    return {
        n: ids[starts[lengths == n][:, None] + np.arange(n)]
        for n in np.unique(lengths).tolist()
    }


def _step(nodes: NDArray[np.uint64], words: Values) -> NDArray[np.uint64]:
    return (nodes << _WORD_BITS) | words


def take_from_head(lengths: Positions) -> Positions:
    """Walk from match to match: greedy from the head.

    A position that no match before it reaches over is surely visited. From those the
    walk goes on in step, until each meets a position that is visited already.

    lengths (Positions): The length of the longest match at every position, within
        the bounds of its Doc, (n_tokens,).
    RETURNS (Positions): The positions where a match or a single token begins.
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
