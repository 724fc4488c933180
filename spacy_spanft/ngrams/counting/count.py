"""From text to counts, shard by shard: in memory, on disk, or on a cluster.

A shard is a block of text. Its chunks become word ids once the whole corpus is known;
then each level counts its pairs, sorted by key, so that equal ranges of keys can be
read from all shards and summed. Where memory is bounded it holds one shard per worker,
the distinct chunks of the corpus, and the n-grams that are frequent; the text itself
and the counts of rare n-grams stay on disk. Arrays are named SHARD.NAME-N, for a level
of n-grams of N words.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from tqdm import tqdm

from ...util.threads import map_ahead
from ..provenance import Settings, Tokenizer
from .chunks import (
    NEWLINE,
    SPACE,
    from_arrow,
    joined_bytes,
    split_at_space,
    strip_separators,
    to_arrow,
)
from .levels import Codes, Counts, Ids, distinct, neighbor_pairs, words_of_pairs
from .shards import Arrays, Run, shard_arrays, workers
from .tokens import tokenize_block, ways_to_cut, words_of_chunks
from .vocabulary import ChunkWords, Vocabulary, expand, rank_words

_MOST_PARTS = 256  # more would be read in too small pieces
# What the whole corpus has one of, in place of the number of a shard.
_CORPUS = "corpus"


class NgramCounts(NamedTuple):
    """The counts of a corpus: n-grams as `counts.in_order`, and the words in them."""

    ngrams: dict[str, int]
    words: dict[str, int]  # most frequent first
    n_tokens: int  # with rare words and punctuation, but not white space and <unk>


def count_blocks(blocks: Iterable[bytes], settings: Settings) -> NgramCounts:
    """Count the n-grams of a corpus, which is whole lines of UTF-8; see `text`."""
    with shard_arrays(settings) as arrays, workers(settings) as run:
        count = _Count(arrays, settings, run)
        vocabulary = count.words(count.chunks(blocks))
        return to_strings(count.levels(len(vocabulary.names)), vocabulary)


class Chunks(NamedTuple):
    """Distinct chunks, a LargeBinaryArray, and their counts."""

    texts: Any
    counts: Counts


class _Count:
    """The steps of a count; each runs one function for all shards."""

    def __init__(self, arrays: Arrays, settings: Settings, run: Run) -> None:
        self._arrays, self._settings, self._run = arrays, settings, run
        self._tokenizer, self._line_tokenizer = ways_to_cut(settings.tokenizer)
        self._n_shards = 0

    def chunks(self, blocks: Iterable[bytes]) -> Chunks:
        """Number the chunks of each shard, and those of the corpus."""
        tokenizer, n_process = self._line_tokenizer, self._settings.n_process
        if tokenizer is not None and self._settings.engine == "local":
            work = partial(tokenize_block, tokenizer=tokenizer)
            blocks = map_ahead(work, blocks, n_process, in_processes=True)
            tokenizer = None
        tasks = ((self._arrays, i, x, tokenizer) for i, x in enumerate(blocks))
        known = Chunks(split_at_space(b""), np.zeros(0, np.int64))
        parts: list[Chunks] = []
        for part in self._bar("Reading", encode_shard, tasks):
            parts.append(part)
            # Only now and then, so that known chunks are not hashed for each shard.
            if sum(len(p.counts) for p in parts) > len(known.counts):
                known, parts = self._numbered(known, parts), []
        return self._numbered(known, parts)

    def _numbered(self, known: Chunks, parts: Sequence[Chunks]) -> Chunks:
        """Number the chunks of the next shards: first those that are known."""
        parts = [known, *parts]
        encoded = pa.concat_arrays([part.texts for part in parts]).dictionary_encode()
        ids = from_arrow(encoded.indices)
        counts = _sums(ids, np.concatenate([part.counts for part in parts]))
        ends = np.cumsum([len(part.counts) for part in parts])
        for begin, end in pairwise(ends):
            self._arrays[f"{self._n_shards}.ids-1"] = ids[begin:end]
            self._n_shards += 1
        return Chunks(encoded.dictionary, counts)

    def words(self, chunks: Chunks) -> Vocabulary:
        """Tokenize the distinct chunks, and number the frequent words."""
        text, lines, separators = strip_separators(chunks.texts)
        # White space other than a single space is a token, which no n-gram steps over,
        # unless chunks are words.
        is_tokenized = self._tokenizer is None
        is_end = separators == NEWLINE if is_tokenized else separators != SPACE
        words = words_of_chunks(text, self._tokenizer, self._settings)
        vocabulary, of_chunks = rank_words(
            words, lines, is_end, chunks.counts, self._settings.min_count
        )
        for name, array in of_chunks._asdict().items():
            self._arrays[f"{_CORPUS}.{name}-1"] = array
        return vocabulary

    def levels(self, n_words: int) -> Iterator[tuple[Ids, Counts]]:
        """Yield the n-grams of each length, (n_ngrams, n), and their counts, if any."""
        words = np.arange(1, n_words + 1, dtype=np.uint32)[:, None]
        for n in range(2, self._settings.max_n + 1):
            keys, counts = self._count_level(n, len(words))
            if not len(keys):
                return
            words = words_of_pairs(keys, words)
            yield words, counts

    def _count_level(self, n: int, n_grams: int) -> tuple[Codes, Counts]:
        arrays, n_shards, title = self._arrays, self._n_shards, f"Counting n = {n}"
        n_parts = max(1, min(_MOST_PARTS, n_shards))
        tasks = ((arrays, i, n, n_grams, n_parts) for i in range(n_shards))
        bounds = np.array([*self._bar(title, count_pairs, tasks, n_shards)]).T.tolist()
        arrays.drop(n - 1)
        min_count = self._settings.min_count
        ranges = ((arrays, n, *both, min_count) for both in pairwise(bounds))
        sums = [*self._bar(title, sum_pairs, ranges, n_parts)]
        keys = np.concatenate([np.zeros(0, np.uint64), *(k for k, _ in sums)])
        counts = np.concatenate([np.zeros(0, np.int64), *(c for _, c in sums)])
        arrays[f"{_CORPUS}.keys-{n}"] = keys
        return keys, counts

    def _bar(
        self,
        title: str,
        function: Callable[..., Any],
        tasks: Iterable[tuple[Any, ...]],
        total: int | None = None,
    ) -> Iterator[Any]:
        """Run a function for all tasks behind a progress bar."""
        hidden = None if self._settings.progress else True
        results = self._run(function, tasks)
        yield from tqdm(results, title, total, leave=False, disable=hidden)


def _sums(ids: NDArray[Any], counts: NDArray[Any]) -> Counts:
    """Add up the counts of each id; floating-point sums are exact up to 2 ** 53."""
    return np.bincount(ids, counts).astype(np.int64)


def encode_shard(
    arrays: Arrays, shard: int, text: bytes, line_tokenizer: Tokenizer | None
) -> Chunks:
    """Number the chunks of a shard, of whole lines if there is a tokenizer for them."""
    if line_tokenizer is not None:
        text = tokenize_block(text, line_tokenizer)
    encoded = split_at_space(text).dictionary_encode()
    chunks = from_arrow(encoded.indices)
    arrays[f"{shard}.chunks-1"] = chunks
    return Chunks(encoded.dictionary, np.bincount(chunks))


def count_pairs(
    arrays: Arrays, shard: int, n: int, n_grams: int, n_parts: int
) -> NDArray[np.intp]:
    """Count the candidates of a level: pairs of n-grams that start one word apart.

    n_grams (int): The number of n-grams of the level before.
    n_parts (int): The number of equal ranges of keys.
    RETURNS (NDArray[np.intp]): The first key of each range, and the number of keys.
    """
    level = _level(arrays, shard, n - 1)
    places, pairs = neighbor_pairs(level, n_grams)
    keys, ids, counts = distinct(pairs)
    level = np.zeros_like(level)
    level[places] = ids + np.uint32(1)
    for name, array in (("ids", level), ("keys", keys), ("counts", counts)):
        arrays[f"{shard}.{name}-{n}"] = array
    edges = [(part << 64) // n_parts for part in range(1, n_parts)]
    return np.r_[0, np.searchsorted(keys, np.array(edges, np.uint64)), len(keys)]


def _level(arrays: Arrays, shard: int, n: int) -> Ids:
    """Return the n-gram that begins at each word of a shard; see `neighbor_pairs`."""
    ids = arrays[f"{shard}.ids-{n}"]
    if n == 1:
        words, starts, lengths = (
            arrays[f"{_CORPUS}.{name}-1"] for name in ChunkWords._fields
        )
        chunks = ChunkWords(words, starts[ids], lengths[ids])
        return expand(arrays[f"{shard}.chunks-1"], chunks)
    frequent, keys = arrays[f"{_CORPUS}.keys-{n}"], arrays[f"{shard}.keys-{n}"]
    # Both are sorted, so the search goes through memory in order.
    grams = np.searchsorted(frequent, keys)
    grams[grams == len(frequent)] = 0
    is_frequent = frequent[grams] == keys
    numbers = np.append(0, np.where(is_frequent, grams + 1, 0)).astype(np.uint32)
    return numbers[ids]


def sum_pairs(
    arrays: Arrays, n: int, begins: Sequence[int], ends: Sequence[int], min_count: int
) -> tuple[Codes, Counts]:
    """Return the frequent keys of a range, in order, and the sums of their counts."""
    ranges = list(enumerate(zip(begins, ends, strict=True)))
    columns = [
        np.concatenate([arrays[f"{i}.{name}-{n}"][a:b] for i, (a, b) in ranges])
        for name in ("keys", "counts")
    ]
    keys, ids = np.unique(columns[0], return_inverse=True)
    counts = _sums(ids, columns[1])
    is_frequent = counts >= min_count
    return keys[is_frequent], counts[is_frequent]


def to_strings(
    levels: Iterable[tuple[Ids, Counts]], vocabulary: Vocabulary
) -> NgramCounts:
    """Write n-grams, in word ids from 1, and the words in them as text."""
    names = _binary(["", *vocabulary.names])  # word ids begin at 1
    parts: dict[str, list[Any]] = {"text": [], "n": [], "count": []}
    used = np.zeros(len(names), np.bool_)
    for words, counts in levels:
        used[words] = True
        columns = [names.take(to_arrow(ids.copy())) for ids in words.T]
        parts["text"].append(pc.binary_join_element_wise(*columns, _SPACE))
        n = np.full(len(words), words.shape[1], np.uint8)
        parts["n"].append(to_arrow(n))
        parts["count"].append(to_arrow(counts))
    ids = np.flatnonzero(used).tolist()
    kept = {vocabulary.names[i - 1]: int(vocabulary.counts[i - 1]) for i in ids}
    ngrams = _sorted(parts) if parts["n"] else {}
    return NgramCounts(ngrams, kept, vocabulary.n_tokens)


def _sorted(parts: dict[str, list[Any]]) -> dict[str, int]:
    """Sort by count, then the shorter first, then by the alphabet."""
    table = pa.table({name: pa.chunked_array(arrays) for name, arrays in parts.items()})
    by = [("count", "descending"), ("n", "ascending"), ("text", "ascending")]
    table = table.select(["text", "count"]).take(pc.sort_indices(table, by))
    lines = pc.binary_join_element_wise(table["text"], _EMPTY, _NEWLINE)
    texts = "".join(joined_bytes(chunk).decode("utf8") for chunk in lines.chunks)
    counts = np.concatenate([from_arrow(chunk) for chunk in table["count"].chunks])
    return dict(zip(texts.split("\n")[:-1], counts.tolist(), strict=True))


def _binary(names: list[str]) -> Any:
    """Make an Arrow array of strings; `pa.array` would look for pandas."""
    data = "".join(names).encode("utf8")
    offsets = np.zeros(len(names) + 1, np.int64)
    np.cumsum([len(name.encode("utf8")) for name in names], out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), len(names), buffers)


_SPACE, _EMPTY, _NEWLINE = _binary([" ", "", "\n"])
