"""Chunk ids to word ids: the frequent words ranked, everything else a gap."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .chunks import from_arrow, joined_bytes, split_lines, to_arrow
from .levels import GAP, Counts, Ids
from .tokens import Words


class Vocabulary(NamedTuple):
    """The words that n-grams may hold, most frequent first."""

    names: list[str]  # word id 1 is the first
    counts: Counts
    n_tokens: int  # all tokens of the corpus, these words or not


class ChunkWords(NamedTuple):
    """Which words each chunk is made of, as positions in one flat array."""

    words: Ids  # distinct chunk by distinct chunk, and a gap after each
    starts: NDArray[np.int64]  # of every chunk
    lengths: NDArray[np.int64]  # with the gap, if no n-gram may step over its end


def rank_words(
    words: Words,
    chunk_ids: NDArray[np.int32],
    is_end: NDArray[np.bool_],
    chunk_counts: Counts,
    min_count: int,
) -> tuple[Vocabulary, ChunkWords]:
    """Number the words by frequency, and look up the words of each chunk.

    words (Words): The words of each distinct text.
    chunk_ids (NDArray[np.int32]): For every chunk, its distinct text.
    is_end (NDArray[np.bool_]): For every chunk, whether a gap follows it.
    min_count (int): A word that occurs less often is a gap.
    """
    encoded = split_lines(words.words).dictionary_encode()
    indices = from_arrow(encoded.indices)

    # Floating-point sums are exact up to 2 ** 53.
    of_texts = np.bincount(chunk_ids, chunk_counts, len(words.lengths))
    counts = np.bincount(indices, np.repeat(of_texts, words.lengths)).astype(np.int64)
    frequent = np.flatnonzero(counts >= min_count)
    joined = joined_bytes(encoded.dictionary.take(to_arrow(frequent)))
    names = np.array(joined.decode("utf8").split("\n")[:-1], object)
    kept = np.array([is_word(name) for name in names], np.bool_)
    order = np.argsort(-counts[frequent[kept]], kind="stable")
    ranked = frequent[kept][order]
    new_ids = np.full(len(counts), GAP, np.uint32)
    new_ids[ranked] = np.arange(1, len(ranked) + 1, dtype=np.uint32)

    offsets = np.frombuffer(encoded.dictionary.buffers()[1], np.int64, len(counts) + 1)
    n_gaps = int(counts[np.diff(offsets) == 1].sum())  # empty lines
    n_tokens = int(counts.sum()) - n_gaps
    vocabulary = Vocabulary(names[kept][order].tolist(), counts[ranked], n_tokens)
    ends = np.cumsum(words.lengths + 1)
    flat = np.insert(new_ids[indices], np.cumsum(words.lengths), GAP)
    starts = (ends - words.lengths - 1)[chunk_ids]
    return vocabulary, ChunkWords(flat, starts, words.lengths[chunk_ids] + is_end)


def is_word(token: str) -> bool:
    """Whether an n-gram may hold a token: it has a letter or digit, and no space."""
    return any(map(str.isalnum, token)) and token.split() == [token]


def expand(ids: NDArray[np.int32], chunks: ChunkWords) -> Ids:
    """Return the words of chunks one after the other."""
    lengths = chunks.lengths[ids]
    ends = np.cumsum(lengths)
    positions = np.repeat(chunks.starts[ids] - (ends - lengths), lengths)
    positions += np.arange(len(positions))
    return chunks.words[positions]
