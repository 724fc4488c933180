"""Exact n-gram counts, level by level.

An n-gram that occurs c times has both its (n-1)-grams at least c times, so each
level only looks where two overlapping survivors of the level before start side by
side; that pair of ids is the n-gram. Before they are counted exactly, the pairs
are counted in hash buckets (Park, Chen and Yu, 1995): a bucket never counts too
few, so all pairs in a bucket below the threshold are out, and those are most.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .chunks import from_arrow, to_arrow

Ids: TypeAlias = NDArray[np.uint32]
Codes: TypeAlias = NDArray[np.uint64]
Counts: TypeAlias = NDArray[np.int64]

GAP = 0  # the word id that no n-gram steps over
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / the golden ratio: spreads the bits
_ONE = np.uint32(1)  # adding a Python int makes np.add.at twenty times slower


class Level(NamedTuple):
    """All n-grams of one length that occur often enough.

    words (Ids): Their words, (n_ngrams, n).
    counts (Counts): How often each occurs, (n_ngrams,).
    """

    words: Ids
    counts: Counts


class Occurrences(NamedTuple):
    """Where the n-grams of one length occur in a block.

    starts (Ids): The word at which each begins, ascending.
    grams (Ids): Which n-gram of its level it is.
    """

    starts: Ids
    grams: Ids


Block: TypeAlias = Ids | Occurrences


def count_levels(
    blocks: Iterable[Ids], n_words: int, *, max_n: int, min_count: int
) -> Iterator[Level]:
    """Count all n-grams from n = 2 up.

    blocks (Iterable[Ids]): Word ids from 1; GAP is a word that no n-gram holds. No
        n-gram crosses from one block to the next.
    n_words (int): The largest word id.
    max_n (int): The largest n.
    min_count (int): How often an n-gram must occur to be kept.
    YIELDS (Level): The n-grams of each length, until a length has none.
    """
    words = np.arange(1, n_words + 1, dtype=np.uint32)[:, None]
    level: list[Block] = list(blocks)
    for _ in range(2, max_n + 1):
        n_grams = len(words)
        prefixes, suffixes, counts = _count_pairs(level, n_grams, min_count)
        if not len(counts):
            return
        words = np.hstack([words[prefixes], words[suffixes, -1:]])
        yield Level(words, counts)


def _count_pairs(
    level: list[Block], n_grams: int, min_count: int
) -> tuple[Codes, Codes, Counts]:
    """Count the pairs of neighbors, and turn the level into the frequent ones.

    RETURNS (tuple): The first and the second of each frequent pair, and its count.
    """
    starts, pairs = _likely_pairs(level, n_grams, min_count)
    encoded = pa.chunked_array(pairs, pa.uint64()).dictionary_encode()
    del pairs
    if not encoded.num_chunks:
        none = np.zeros(0, np.uint64)
        return none, none, none.astype(np.int64)
    codes = from_arrow(encoded.chunk(0).dictionary)
    ids = [from_arrow(array.indices) for array in encoded.chunks]
    counts = np.zeros(len(codes), np.int64)
    for block_ids in ids:
        np.add.at(counts, block_ids, np.int64(1))
    is_frequent = counts >= min_count
    new_ids = np.cumsum(is_frequent, dtype=np.uint32) - _ONE
    for block_starts, block_ids in zip(starts, ids, strict=True):
        keep = np.flatnonzero(is_frequent[block_ids])
        level.append(Occurrences(block_starts[keep], new_ids[block_ids[keep]]))
    codes = codes[is_frequent]
    size = np.uint64(n_grams)
    return codes // size, codes % size, counts[is_frequent]


def _likely_pairs(
    level: list[Block], n_grams: int, min_count: int
) -> tuple[list[Ids], list[Any]]:
    """Return all pairs in buckets with enough of them, block by block.

    The level is used up on the way: at its largest, memory holds one of the two.
    """
    is_frequent = _frequent_buckets(level, n_grams, min_count)
    all_starts = []
    all_pairs = []
    level.reverse()
    while level:
        starts, pairs = neighbor_pairs(level.pop(), n_grams)
        keep = np.flatnonzero(is_frequent.take(_bucket(pairs, len(is_frequent))))
        if len(keep):  # Arrow would lose count of empty arrays
            all_starts.append(starts[keep])
            all_pairs.append(to_arrow(pairs[keep]))
    return all_starts, all_pairs


def neighbor_pairs(block: Block, n_grams: int) -> tuple[Ids, Codes]:
    """Pair the n-grams that begin one word apart: each such pair is one code.

    block (Union[Ids, Occurrences]): Word ids, or where the n-grams of a level occur.
    n_grams (int): How many there are of the level.
    RETURNS (tuple[Ids, Codes]): The words at which the pairs begin, and the pairs.
    """
    if isinstance(block, Occurrences):
        starts, grams = block
    else:
        starts = np.flatnonzero(block).astype(np.uint32)
        grams = block[starts] - _ONE
    first = np.flatnonzero(starts[1:] - starts[:-1] == _ONE)
    pairs = grams[first].astype(np.uint64)
    pairs *= np.uint64(n_grams)
    pairs += grams[1:][first]
    return starts[first], pairs


def _frequent_buckets(
    level: list[Block], n_grams: int, min_count: int
) -> NDArray[np.bool_]:
    largest = sum(
        len(block.starts if isinstance(block, Occurrences) else block)
        for block in level
    )
    n_buckets = 1 << int(np.clip(largest.bit_length(), 10, 24))
    buckets = np.zeros(n_buckets, np.uint32)
    for block in level:
        _, pairs = neighbor_pairs(block, n_grams)
        np.add.at(buckets, _bucket(pairs, n_buckets), _ONE)
    return buckets >= min_count


def _bucket(pairs: Codes, n_buckets: int) -> NDArray[np.int64]:
    hashed: Codes = pairs * GOLDEN
    hashed >>= np.uint64(65 - n_buckets.bit_length())
    return hashed.view(np.int64)
