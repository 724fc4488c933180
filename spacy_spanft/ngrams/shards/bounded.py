"""Counting in bounded memory: the counts of `count_blocks`, shard by shard on disk.

Memory holds one shard per worker, the distinct chunks of the corpus, and the n-grams
that are frequent; the text itself and the counts of rare n-grams stay on disk.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from tqdm import tqdm

from ...errors import SpanftError
from ...util.threads import n_cores
from ..counting.arrow import from_arrow, joined_bytes
from ..counting.chunks import NEWLINE, SPACE, split_lines
from ..counting.count import NgramCounts
from ..counting.levels import Level
from ..counting.settings import Settings
from ..counting.strings import to_strings
from ..counting.tokens import ways_to_cut, words_at_whitespace, words_by_tokenizer
from ..counting.vocabulary import Vocabulary, rank_words
from .shard import (
    CORPUS,
    INVERSE,
    ChunkCounts,
    count_pairs,
    encode_shard,
    sum_pairs,
    write,
)
from .workers import Run, connect_ray, run_in_threads, shard_folder

T = TypeVar("T")

# The memory of this process with spaCy and PyTorch, and per byte of a worker's shard.
_BASE, _PER_BYTE = 700 << 20, 20
_SMALLEST, _LARGEST = 1 << 20, 1 << 24
_MOST_PARTS = 256  # more would be read in too small pieces


def count_in_shards(
    blocks: Iterable[bytes],
    settings: Settings,
    *,
    engine: Literal["local", "ray"] = "local",
    address: str | None = None,
    memory: int | None = None,
    work: str | Path | None = None,
) -> NgramCounts:
    """Count the n-grams of a corpus in bounded memory.

    blocks (Iterable[bytes]): Text in whole lines.
    settings (Settings): How to count; n_process is the number of workers.
    engine (str): "local" for threads and processes of this machine, or "ray".
    address (Optional[str]): The Ray cluster (HOST:PORT).
    memory (Optional[int]): The bytes that counting should use at most.
    work (Optional[Union[str, Path]]): A folder for temporary files, which all machines
        of a cluster can see; None for the system's.
    RETURNS (NgramCounts): The counts, the same as those of `count_blocks`.
    """
    if address is not None and engine != "ray":
        raise SpanftError(
            f"The address {address!r} is that of a Ray cluster: add engine='ray' "
            "(--engine ray)."
        )
    is_far = engine == "ray"
    n_workers = settings.n_process
    workers = connect_ray(address, n_workers) if is_far else nullcontext(run_in_threads)
    with shard_folder(work) as folder, workers as run:
        count = BoundedCount(folder, settings, run, n_at_once=n_workers)
        # Here a shard is encoded by all workers, on a cluster by one of them.
        size = shard_size(memory, n_workers)
        count.encode(blocks, size, n_workers if is_far else 1)
        vocabulary = count.rank_words()
        ngrams, words = to_strings(count.levels(len(vocabulary.names)), vocabulary)
    return NgramCounts(ngrams, words, vocabulary.n_tokens)


def shard_size(memory: int | None, n_workers: int) -> int:
    """Return the bytes of text of a shard so that counting fits into memory.

    memory (Optional[int]): The bytes of memory; None for no bound.
    n_workers (int): The number of shards that are worked on at a time.
    """
    if memory is None:
        return _LARGEST
    size = (memory - _BASE) // (n_workers * _PER_BYTE)
    return max(_SMALLEST, min(_LARGEST, size))


class BoundedCount:
    """The steps of a count; each runs one function for all shards."""

    def __init__(
        self, folder: Path, settings: Settings, run: Run, n_at_once: int
    ) -> None:
        """Prepare a count.

        folder (Path): A folder that all workers can see.
        settings (Settings): How to count.
        run (Run): What runs a function for all shards.
        n_at_once (int): The number of shards to work on at a time.
        """
        self._folder = folder
        self._settings = settings
        self._run = run
        self._n_at_once = n_at_once
        self._tokenizer, self._line_tokenizer = ways_to_cut(settings.tokenizer)
        self._chunks = ChunkCounts(b"", np.zeros(0, np.int64))
        self._n_shards = 0

    def encode(self, blocks: Iterable[bytes], size: int, n_at_once: int) -> None:
        """Number the chunks of each shard, and collect the distinct ones.

        blocks (Iterable[bytes]): Text in whole lines.
        size (int): The bytes of a shard.
        n_at_once (int): The number of shards to encode at a time.
        """
        is_tokenized = self._tokenizer is None
        every_byte = np.arange(256)
        # Any other white space than a single space is a token of its own.
        is_end = every_byte == NEWLINE if is_tokenized else every_byte != SPACE
        n_workers = self._n_at_once // n_at_once
        tasks = (
            (self._folder, i, shard, self._line_tokenizer, is_end, n_workers)
            for i, shard in enumerate(_shards(blocks, size))
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
        """Tokenize the distinct chunks, and number the frequent words.

        RETURNS (Vocabulary): The words.
        """
        folder, settings, (text, counts) = self._folder, self._settings, self._chunks
        if self._tokenizer is None:
            words = words_at_whitespace(text, attr=settings.attr)
        else:
            words = words_by_tokenizer(
                text,
                self._tokenizer,
                attr=settings.attr,
                n_process=min(settings.n_process, n_cores()),
                progress=settings.progress,
            )
        ids = np.arange(len(counts), dtype=np.int32)
        no_end = np.zeros(len(counts), np.bool_)  # each shard knows its own
        vocabulary, chunks = rank_words(words, ids, no_end, counts, settings.min_count)
        write(folder, f"{CORPUS}.words-1", chunks.words)
        write(folder, f"{CORPUS}.starts-1", chunks.starts)
        write(folder, f"{CORPUS}.lengths-1", chunks.lengths)
        return vocabulary

    def levels(self, n_words: int) -> Iterator[Level]:
        """Count the n-grams of each length, until a length has none.

        n_words (int): The number of words.
        YIELDS (Level): The n-grams of n = 2 and up.
        """
        words = np.arange(1, n_words + 1, dtype=np.uint32)[:, None]
        for n in range(2, self._settings.max_n + 1):
            size = np.uint64(len(words))
            keys, counts = self._count_level(n, len(words))
            if not len(keys):
                return
            codes = keys * INVERSE
            words = np.hstack([words[codes // size], words[codes % size, -1:]])
            yield Level(words, counts)

    def _count_level(
        self, n: int, n_grams: int
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
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
        keys = np.concatenate([np.zeros(0, np.uint64), *(k for k, _ in sums)])
        counts = np.concatenate([np.zeros(0, np.int64), *(c for _, c in sums)])
        write(folder, f"{CORPUS}.keys-{n}", keys)
        return keys, counts

    def _bar(
        self,
        title: str,
        function: Callable[..., T],
        tasks: Iterable[tuple[Any, ...]],
        total: int | None,
        n_at_once: int | None = None,
    ) -> Iterator[T]:
        """Run a function for all tasks behind a progress bar."""
        results = self._run(function, tasks, n_at_once or self._n_at_once)
        hidden = None if self._settings.progress else True
        yield from tqdm(results, title, total, leave=False, disable=hidden)


def _shards(blocks: Iterable[bytes], size: int) -> Iterator[list[bytes]]:
    """Collect blocks until they have a number of bytes."""
    shard: list[bytes] = []
    n_bytes = 0
    for block in blocks:
        shard.append(block)
        n_bytes += len(block)
        if n_bytes >= size:
            yield shard
            shard, n_bytes = [], 0
    if shard:
        yield shard
