"""The work on one shard of text: read and write arrays in a folder that all can see.

A shard is a few megabytes of text. Its chunks become word ids once the whole corpus is
known; then each level counts its pairs, sorted by key, so that equal ranges of keys can
be read from all shards and summed. A key is a pair of n-grams times an odd number:
keys spread over all 64 bits, and the inverse of the number restores the pair.

Arrays are files: SHARD.NAME-N, for a level of n-grams of N words.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from ..provenance import Tokenizer
from .chunks import encode_corpus, ends_ngrams, strip_separators
from .levels import GOLDEN, Block, Codes, Counts, Occurrences, neighbor_pairs
from .tokens import tokenize_lines
from .vocabulary import ChunkWords, expand

INVERSE = np.uint64(pow(int(GOLDEN), -1, 1 << 64))
# What the whole corpus has one of, in place of the number of a shard.
CORPUS = "corpus"


class ChunkCounts(NamedTuple):
    """Distinct chunks and how often each occurs.

    text (bytes): The chunks in the order of their first occurrence, one per line.
    counts (Counts): The count of each.
    """

    text: bytes
    counts: Counts


def write(folder: Path, name: str, array: NDArray[Any]) -> None:
    """Write an array under another name, then rename it: Ray may run a task twice."""
    part = folder / f"{name}.{uuid4().hex}"
    part.write_bytes(array.data)
    part.replace(folder / name)


def encode_shard(
    folder: Path,
    shard: int,
    blocks: Sequence[bytes],
    line_tokenizer: Tokenizer | None,
    is_tokenized: bool,
    n_workers: int,
) -> ChunkCounts:
    """Number the chunks of a shard, apart from those of other shards.

    blocks (Sequence[bytes]): Its text in whole lines.
    line_tokenizer (Optional[Callable]): A tokenizer for whole lines; None if chunks are
        tokenized later.
    is_tokenized (bool): Whether chunks are words.
    n_workers (int): The number of processes and threads.
    RETURNS (ChunkCounts): The distinct chunks.
    """
    if line_tokenizer is not None:
        blocks = list(tokenize_lines(blocks, line_tokenizer, n_process=n_workers))
    corpus = encode_corpus(blocks, n_workers)
    text, texts, separators = strip_separators(corpus.chunks)
    chunks = np.concatenate([np.zeros(0, np.int32), *corpus.blocks])
    write(folder, f"{shard}.texts-1", texts)
    write(folder, f"{shard}.ends-1", ends_ngrams(separators, is_tokenized))
    write(folder, f"{shard}.chunks-1", chunks)
    counts = np.zeros(text.count(b"\n"), np.int64)
    np.add.at(counts, texts[chunks], np.int64(1))
    return ChunkCounts(text, counts)


def count_pairs(
    folder: Path, shard: int, n: int, n_grams: int, n_parts: int
) -> NDArray[np.intp]:
    """Count the candidates of a level: pairs of n-grams that start one word apart.

    n (int): The number of words of the n-grams.
    n_grams (int): The number of n-grams of the level before.
    n_parts (int): The number of equal ranges of keys.
    RETURNS (NDArray[np.intp]): The first key of each range, and the number of keys.
    """
    starts, codes = neighbor_pairs(_read_level(folder, shard, n - 1), n_grams)
    keys, ids, counts = np.unique(
        codes * GOLDEN, return_inverse=True, return_counts=True
    )
    write(folder, f"{shard}.starts-{n}", starts)
    write(folder, f"{shard}.ids-{n}", ids.astype(np.uint32))
    write(folder, f"{shard}.keys-{n}", keys)
    write(folder, f"{shard}.counts-{n}", counts.astype(np.uint32))
    edges = [(part << 64) // n_parts for part in range(1, n_parts)]
    return np.concatenate(
        [[0], np.searchsorted(keys, np.array(edges, np.uint64)), [len(keys)]]
    )


def _read_level(folder: Path, shard: int, n: int) -> Block:
    """Read where the n-grams of a level occur in a shard."""
    if n == 1:
        return _read_words(folder, shard)
    frequent = np.fromfile(folder / f"{CORPUS}.keys-{n}", np.uint64)
    keys = np.fromfile(folder / f"{shard}.keys-{n}", np.uint64)
    ids = np.fromfile(folder / f"{shard}.ids-{n}", np.uint32)
    # Both are sorted, so the search goes through memory in order.
    grams = np.searchsorted(frequent, keys)
    grams[grams == len(frequent)] = 0
    keep = np.flatnonzero((frequent[grams] == keys)[ids])
    starts = np.fromfile(folder / f"{shard}.starts-{n}", np.uint32)
    return Occurrences(starts[keep], grams.astype(np.uint32)[ids[keep]])


def _read_words(folder: Path, shard: int) -> NDArray[np.uint32]:
    """Read a shard as word ids."""
    ids = np.fromfile(folder / f"{shard}.ids-1", np.int32)
    ids = ids[np.fromfile(folder / f"{shard}.texts-1", np.int32)]
    chunks = ChunkWords(
        np.fromfile(folder / f"{CORPUS}.words-1", np.uint32),
        np.fromfile(folder / f"{CORPUS}.starts-1", np.int64)[ids],
        np.fromfile(folder / f"{CORPUS}.lengths-1", np.int64)[ids]
        + np.fromfile(folder / f"{shard}.ends-1", np.bool_),
    )
    return expand(np.fromfile(folder / f"{shard}.chunks-1", np.int32), chunks)


def sum_pairs(
    folder: Path, n: int, begins: Sequence[int], ends: Sequence[int], min_count: int
) -> tuple[Codes, Counts]:
    """Sum the counts of one range of keys over all shards.

    n (int): The number of words of the n-grams.
    begins (Sequence[int]): Where the range begins in each shard.
    ends (Sequence[int]): Where it ends.
    min_count (int): How often an n-gram must occur.
    RETURNS (tuple[Codes, Counts]): The frequent keys, ascending, and their counts.
    """

    def column(name: str, kind: type[np.generic]) -> NDArray[Any]:
        size = np.dtype(kind).itemsize
        ranges = enumerate(zip(begins, ends, strict=True))
        parts = [
            np.fromfile(
                folder / f"{shard}.{name}-{n}", kind, end - begin, offset=begin * size
            )
            for shard, (begin, end) in ranges
        ]
        return np.concatenate(parts)

    keys, ids = np.unique(column("keys", np.uint64), return_inverse=True)
    # Floating-point sums are exact up to 2 ** 53.
    counts = np.bincount(ids, column("counts", np.uint32)).astype(np.int64)
    is_frequent = counts >= min_count
    return keys[is_frequent], counts[is_frequent]
