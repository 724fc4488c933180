"""One level of n-grams over all shards: pairs are counted, summed, cut and numbered.

A pair is two n-grams of the level before that begin one word apart. Its key is its code
multiplied by an odd number: keys are spread over all 64 bits, so that equal ranges of
them are equal parts of the work, and the code is found again by the inverse.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..counting.levels import (
    GOLDEN,
    Block,
    Codes,
    Counts,
    Level,
    Occurrences,
    neighbor_pairs,
)
from .encode import part_of_keys
from .store import Store

_INVERSE = np.uint64(pow(int(GOLDEN), -1, 1 << 64))


def count_shard(store: Store, n: int, shard: int, n_grams: int, n_parts: int) -> None:
    """Count the candidates of a level in a shard: pairs-N-SHARD.

    store (Store): The shard at the level before, and where to write.
    n (int): How many words the n-grams have.
    shard (int): The number of the shard.
    n_grams (int): How many n-grams the level before has.
    n_parts (int): In how many parts the counts go.
    """
    block = _read_level(store, n - 1, shard)
    starts, codes = neighbor_pairs(block, n_grams)
    keys, counts, ids = _distinct(codes * GOLDEN)
    arrays: dict[str, NDArray[Any]] = {"starts": starts, "ids": ids}
    bounds = np.searchsorted(part_of_keys(keys, n_parts), np.arange(n_parts + 1))
    for part in range(n_parts):
        here = slice(bounds[part], bounds[part + 1])
        arrays[f"keys.{part}"] = keys[here]
        arrays[f"counts.{part}"] = counts[here]
    store.write(f"pairs-{n}-{shard}", arrays)


def _distinct(keys: Codes) -> tuple[Codes, Counts, NDArray[np.uint32]]:
    """Sort keys: a tenth of the time of a hash table of them.

    RETURNS (tuple): The distinct keys, ascending, their counts, and for each of the
        keys its place among these.
    """
    order = np.argsort(keys)
    ordered = keys[order]
    is_first = np.ones(len(keys), np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    firsts = np.flatnonzero(is_first)
    ids = np.empty(len(keys), np.uint32)
    ids[order] = np.cumsum(is_first, dtype=np.uint32) - np.uint32(1)
    return ordered[firsts], np.diff(firsts, append=len(keys)), ids


def _read_level(store: Store, n: int, shard: int) -> Block:
    """Read where the n-grams of a level occur in a shard."""
    if n == 1:
        with store.read(f"stream-{shard}") as arrays:
            return arrays["words"]
    with store.read(f"level-{n}") as level:
        frequent = level["keys"]
    with store.read(f"pairs-{n}-{shard}") as arrays:
        starts, ids = arrays["starts"], arrays["ids"]
        n_parts = sum(1 for name in arrays.names() if name.startswith("keys."))
        keys = np.concatenate([arrays[f"keys.{part}"] for part in range(n_parts)])
    # Both are sorted, so the search goes through memory in order.
    places = np.searchsorted(frequent, keys)
    places[places == len(frequent)] = 0
    is_frequent = frequent[places] == keys
    keep = np.flatnonzero(is_frequent[ids])
    return Occurrences(starts[keep], places.astype(np.uint32)[ids[keep]])


def sum_pairs(store: Store, n: int, part: int, n_shards: int, min_count: int) -> None:
    """Sum a part of the counts over the shards, and cut the rare: sums-N-PART.

    store (Store): The counts of the shards, and where to write.
    n (int): How many words the n-grams have.
    part (int): The part.
    min_count (int): How often an n-gram must occur.
    """
    all_keys, all_counts = [], []
    for shard in range(n_shards):
        with store.read(f"pairs-{n}-{shard}") as arrays:
            all_keys.append(arrays[f"keys.{part}"])
            all_counts.append(arrays[f"counts.{part}"])
    keys, counts = np.concatenate(all_keys), np.concatenate(all_counts)
    del all_keys, all_counts
    order = np.argsort(keys)
    keys, counts = keys[order], counts[order]
    is_first = np.ones(len(keys), np.bool_)
    is_first[1:] = keys[1:] != keys[:-1]
    firsts = np.flatnonzero(is_first)
    sums = np.add.reduceat(counts, firsts) if len(firsts) else counts
    keep = np.flatnonzero(sums >= min_count)
    frequent = {"keys": keys[firsts[keep]], "counts": sums[keep]}
    store.write(f"sums-{n}-{part}", frequent)


def join_parts(store: Store, n: int, n_parts: int) -> None:
    """Number the n-grams of all parts: the file level-N, in the order of their keys.

    store (Store): The parts, and where to write.
    n (int): How many words the n-grams have.
    """
    found: dict[str, list[NDArray[Any]]] = {"keys": [], "counts": []}
    for part in range(n_parts):
        with store.read(f"sums-{n}-{part}") as arrays:
            for name, column in found.items():
                column.append(arrays[name])
    store.write(f"level-{n}", {name: np.concatenate(c) for name, c in found.items()})


def read_level(store: Store, n: int, before: NDArray[np.uint32]) -> Level:
    """Read the n-grams of a level.

    store (Store): Where they are.
    n (int): How many words they have.
    before (NDArray[np.uint32]): The words of the level before, (n_ngrams, n - 1).
    RETURNS (Level): The n-grams.
    """
    with store.read(f"level-{n}") as arrays:
        keys, counts = arrays["keys"], arrays["counts"]
    codes = keys * _INVERSE
    size = np.uint64(max(1, len(before)))
    prefixes, suffixes = codes // size, codes % size
    return Level(np.hstack([before[prefixes], before[suffixes, -1:]]), counts)


def n_of_level(store: Store, n: int) -> int:
    """Say how many n-grams a level has.

    store (Store): Where they are.
    n (int): How many words they have.
    RETURNS (int): Their number; for n = 1 that of the words.
    """
    if n == 1:
        with store.read("vocabulary") as arrays:
            return len(arrays["counts"])
    with store.read(f"level-{n}") as arrays:
        return len(arrays["counts"])
