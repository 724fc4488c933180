"""Counting in bounded memory: the counts of `count_blocks`, shard by shard on disk.

Memory holds one shard per worker, the distinct chunks of the corpus, and the n-grams
that are frequent; the text itself and the counts of rare n-grams stay on disk, in a
folder that all workers can see. Arrays are files: SHARD.NAME-N, for a level of n-grams
of N words.

A shard is a few megabytes of text. Its chunks become word ids once the whole corpus is
known; then each level counts its pairs, sorted by key, so that equal ranges of keys can
be read from all shards and summed. A key is a pair of n-grams times an odd number:
keys spread over all 64 bits, and the inverse of the number restores the pair.
"""

import errno
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import gettempdir
from typing import Any, NamedTuple, TypeAlias
from uuid import uuid4

import numpy as np
import pyarrow as pa
from filelock import FileLock, Timeout
from numpy.typing import NDArray
from tqdm import tqdm

from ...errors import SpanftError
from ...util.threads import connect_ray, map_threaded, n_cores, results_in_order
from ..provenance import Settings, Tokenizer
from .chunks import encode_corpus, from_arrow, joined_bytes, split_lines
from .count import NgramCounts, to_strings
from .levels import (
    GOLDEN,
    Block,
    Codes,
    Counts,
    Level,
    Occurrences,
    neighbor_pairs,
)
from .tokens import tokenize_lines, ways_to_cut, words_of_chunks
from .vocabulary import ChunkWords, Vocabulary, expand, rank_words

# Calls a function with each task's arguments, so many at a time; results in order.
Run: TypeAlias = Callable[
    [Callable[..., Any], Iterable[tuple[Any, ...]], int], Iterator[Any]
]

# The memory of this process with spaCy and PyTorch, and per byte of a worker's shard.
_BASE, _PER_BYTE = 700 << 20, 20
_SMALLEST, _LARGEST = 1 << 20, 1 << 24
_MOST_PARTS = 256  # more would be read in too small pieces
_START, _LOCK = "spanft-build-", ".lock"
_FULL = (errno.ENOSPC, errno.EDQUOT)
INVERSE = np.uint64(pow(int(GOLDEN), -1, 1 << 64))
# What the whole corpus has one of, in place of the number of a shard.
CORPUS = "corpus"


def count_in_shards(blocks: Iterable[bytes], settings: Settings) -> NgramCounts:
    """Count the n-grams of a corpus in bounded memory, with n_process workers."""
    with _shard_folder(settings.work) as folder, _workers(settings) as run:
        count = _BoundedCount(folder, settings, run)
        count.encode(_shards(blocks, shard_size(settings.memory, settings.n_process)))
        vocabulary = count.rank_words()
        return to_strings(count.levels(len(vocabulary.names)), vocabulary)


def shard_size(memory: int | None, n_workers: int) -> int:
    """Return the bytes of text of a shard so that counting fits into memory."""
    if memory is None:
        return _LARGEST
    size = (memory - _BASE) // (n_workers * _PER_BYTE)
    return max(_SMALLEST, min(_LARGEST, size))


def _shards(blocks: Iterable[bytes], size: int) -> Iterator[list[bytes]]:
    """Collect blocks until they have a number of bytes."""
    shard: list[bytes] = []
    for block in blocks:
        shard.append(block)
        if sum(map(len, shard)) >= size:
            yield shard
            shard = []
    if shard:
        yield shard


@contextmanager
def _workers(settings: Settings) -> Iterator[Run]:
    """Run functions in threads, or on Ray, which repeats the tasks of a lost worker."""
    if settings.engine == "local":
        # NumPy and Arrow release the interpreter's lock.
        yield lambda function, tasks, n: map_threaded(
            lambda task: function(*task), tasks, n
        )
        return
    with connect_ray(settings.address, settings.n_process) as ray:

        def run(
            function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], n: int
        ) -> Iterator[Any]:
            remote = ray.remote(function)
            return results_in_order(
                lambda task: remote.remote(*task).future(), tasks, n
            )

        yield run


class ChunkCounts(NamedTuple):
    """Distinct chunks, in the order of their first occurrence, and their counts."""

    text: bytes  # one a line
    counts: Counts


class _BoundedCount:
    """The steps of a count; each runs one function for all shards."""

    def __init__(self, folder: Path, settings: Settings, run: Run) -> None:
        self._folder = folder
        self._settings = settings
        self._run = run
        self._tokenizer, self._line_tokenizer = ways_to_cut(settings.tokenizer)
        self._chunks = ChunkCounts(b"", np.zeros(0, np.int64))
        self._n_shards = 0

    def encode(self, shards: Iterable[list[bytes]]) -> None:
        """Number the chunks of each shard, and collect the distinct ones."""
        is_tokenized = self._tokenizer is None
        # Here a shard is encoded by all workers, on a cluster by one of them.
        n_workers = self._settings.n_process if self._settings.engine == "local" else 1
        n_at_once = self._settings.n_process // n_workers
        tasks = (
            (self._folder, i, shard, self._line_tokenizer, is_tokenized, n_workers)
            for i, shard in enumerate(shards)
        )
        parts: list[ChunkCounts] = []
        for part in self._bar("Reading", encode_shard, tasks, None, n_at_once):
            parts.append(part)
            # Only now and then, so that known chunks are not hashed for each shard.
            if sum(len(p.counts) for p in parts) > len(self._chunks.counts):
                self._add_chunks(parts)
                parts = []
        self._add_chunks(parts)

    def _add_chunks(self, parts: Sequence[ChunkCounts]) -> None:
        """Number the chunks of the next shards: first those that are known."""
        parts = [self._chunks, *parts]
        lines = pa.concat_arrays([split_lines(part.text) for part in parts])
        encoded = lines.dictionary_encode()
        ids = from_arrow(encoded.indices)
        ends = np.cumsum([len(part.counts) for part in parts])
        counts = np.zeros(len(encoded.dictionary), np.int64)
        np.add.at(counts, ids, np.concatenate([part.counts for part in parts]))
        self._chunks = ChunkCounts(joined_bytes(encoded.dictionary), counts)
        for begin, end in pairwise(ends):
            write(self._folder, f"{self._n_shards}.ids-1", ids[begin:end])
            self._n_shards += 1

    def rank_words(self) -> Vocabulary:
        """Tokenize the distinct chunks, and number the frequent words."""
        settings, (text, counts) = self._settings, self._chunks
        here = replace(settings, n_process=min(settings.n_process, n_cores()))
        words = words_of_chunks(text, self._tokenizer, here)
        ids = np.arange(len(counts), dtype=np.int32)
        no_end = np.zeros(len(counts), np.bool_)  # each shard knows its own
        vocabulary, chunks = rank_words(words, ids, no_end, counts, settings.min_count)
        for name, array in chunks._asdict().items():
            write(self._folder, f"{CORPUS}.{name}-1", array)
        return vocabulary

    def levels(self, n_words: int) -> Iterator[Level]:
        """Count the n-grams of each length, until a length has none."""
        words = np.arange(1, n_words + 1, dtype=np.uint32)[:, None]
        for n in range(2, self._settings.max_n + 1):
            size = np.uint64(len(words))
            keys, counts = self._count_level(n, len(words))
            if not len(keys):
                return
            codes = keys * INVERSE
            words = np.hstack([words[codes // size], words[codes % size, -1:]])
            yield Level(words, counts)

    def _count_level(self, n: int, n_grams: int) -> tuple[Codes, Counts]:
        folder, n_shards, title = self._folder, self._n_shards, f"Counting n = {n}"
        n_parts = max(1, min(_MOST_PARTS, n_shards))
        tasks = ((folder, i, n, n_grams, n_parts) for i in range(n_shards))
        bounds = np.array([*self._bar(title, count_pairs, tasks, n_shards)]).T.tolist()
        for old in folder.glob(f"*-{n - 1}"):
            old.unlink()
        min_count = self._settings.min_count
        ranges = (
            (folder, n, begins, ends, min_count) for begins, ends in pairwise(bounds)
        )
        sums = [*self._bar(title, sum_pairs, ranges, n_parts)]
        keys: NDArray[Any] = np.concatenate(
            [np.zeros(0, np.uint64), *(k for k, _ in sums)]
        )
        counts = np.concatenate([np.zeros(0, np.int64), *(c for _, c in sums)])
        write(folder, f"{CORPUS}.keys-{n}", keys)
        return keys, counts

    def _bar(
        self,
        title: str,
        function: Callable[..., Any],
        tasks: Iterable[tuple[Any, ...]],
        total: int | None,
        n_at_once: int | None = None,
    ) -> Iterator[Any]:
        """Run a function for all tasks behind a progress bar."""
        results = self._run(function, tasks, n_at_once or self._settings.n_process)
        hidden = None if self._settings.progress else True
        yield from tqdm(results, title, total, leave=False, disable=hidden)


@contextmanager
def _shard_folder(above: str | Path | None) -> Iterator[Path]:
    """Make a temporary folder, and remove those of builds that were killed."""
    above = Path(above or gettempdir()).absolute()
    above.mkdir(parents=True, exist_ok=True)
    for old in above.glob(f"{_START}*{_LOCK}"):
        # Those in use are locked, and those of other users cannot be.
        with suppress(Timeout, OSError), FileLock(old, timeout=0):
            _remove(old)
    lock = above / f"{_START}{uuid4().hex}{_LOCK}"
    with FileLock(lock):
        try:
            folder = lock.with_suffix("")
            folder.mkdir(mode=0o700)
            yield folder
        except OSError as error:
            if error.errno not in _FULL:
                raise
            raise SpanftError(
                f"No space left in {str(above)!r}: counting needs about three times "
                "the size of the text there. Free some, or name a folder on a larger "
                "disk with work=... (--work) or the environment variable TMPDIR."
            ) from error
        finally:
            _remove(lock)


def _remove(lock: Path) -> None:
    """Remove a temporary folder, and at last its lock."""
    shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
    with suppress(OSError):  # Windows removes it when it is released
        lock.unlink()


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

    line_tokenizer (Optional[Callable]): A tokenizer for whole lines; None if chunks are
        tokenized later.
    n_workers (int): The number of processes and threads.
    """
    if line_tokenizer is not None:
        blocks = list(tokenize_lines(blocks, line_tokenizer, n_process=n_workers))
    corpus = encode_corpus(blocks, n_workers, is_tokenized)
    chunks = np.concatenate([np.zeros(0, np.int32), *corpus.blocks])
    write(folder, f"{shard}.texts-1", corpus.ids)
    write(folder, f"{shard}.ends-1", corpus.ends)
    write(folder, f"{shard}.chunks-1", chunks)
    counts = np.zeros(corpus.text.count(b"\n"), np.int64)
    np.add.at(counts, corpus.ids[chunks], np.int64(1))
    return ChunkCounts(corpus.text, counts)


def count_pairs(
    folder: Path, shard: int, n: int, n_grams: int, n_parts: int
) -> NDArray[np.intp]:
    """Count the candidates of a level: pairs of n-grams that start one word apart.

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
    """Sum the counts of a range of keys, which each shard has somewhere else.

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
