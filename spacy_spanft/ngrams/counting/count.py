"""From text to counts: chunks, words, ranks, levels, and back to strings."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tqdm import tqdm

from ...util.threads import n_cores
from ..provenance import Settings
from .chunks import (
    encode_corpus,
    from_arrow,
    joined_bytes,
    to_arrow,
)
from .levels import Level, count_levels
from .tokens import tokenize_lines, ways_to_cut, words_of_chunks
from .vocabulary import Vocabulary, expand_blocks, rank_words


class NgramCounts(NamedTuple):
    """The counts of a corpus: n-grams as `counts.in_order`, and the words in them."""

    ngrams: dict[str, int]
    words: dict[str, int]  # most frequent first
    n_tokens: int  # with rare words and punctuation, but not white space and <unk>


def count_blocks(blocks: Iterable[bytes], settings: Settings) -> NgramCounts:
    """Count the n-grams of a corpus, which is whole lines of UTF-8; see `text`."""
    vocabulary, levels = _count(blocks, settings)
    return to_strings(levels, vocabulary)


def _count(
    blocks: Iterable[bytes], settings: Settings
) -> tuple[Vocabulary, Iterator[Level]]:
    """Prepare a count; what only this needs is freed before the levels are counted."""
    hidden = None if settings.progress else True  # None: if there is no terminal
    tokenizer, by_line = ways_to_cut(settings.tokenizer)
    if by_line is not None:
        blocks = tokenize_lines(blocks, by_line, n_process=settings.n_process)
    bar = tqdm(blocks, "Reading", unit=" blocks", leave=False, disable=hidden)
    corpus = encode_corpus(bar, n_cores(), tokenizer is None)
    words = words_of_chunks(corpus.text, tokenizer, settings)
    chunk_counts = np.zeros(len(corpus.ids), np.int64)
    for block in corpus.blocks:
        np.add.at(chunk_counts, block, np.int64(1))
    vocabulary, chunks = rank_words(
        words, corpus.ids, corpus.ends, chunk_counts, settings.min_count
    )
    levels = count_levels(
        expand_blocks(corpus.blocks, chunks),
        len(vocabulary.names),
        max_n=settings.max_n,
        min_count=settings.min_count,
    )
    n_levels = settings.max_n - 1
    return vocabulary, iter(
        tqdm(levels, "Counting", n_levels, leave=False, disable=hidden)
    )


def to_strings(levels: Iterable[Level], vocabulary: Vocabulary) -> NgramCounts:
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
