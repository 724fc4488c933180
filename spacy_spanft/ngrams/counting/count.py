"""From text to counts: chunks, words, ranks, levels, strings."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from ...util.threads import n_cores
from .chunks import NEWLINE, SPACE, encode_corpus, strip_separators
from .levels import Level, count_levels
from .settings import Settings
from .strings import to_strings
from .tokens import (
    tokenize_lines,
    ways_to_cut,
    words_at_whitespace,
    words_by_tokenizer,
)
from .vocabulary import Vocabulary, expand_blocks, rank_words


class NgramCounts(NamedTuple):
    """The counts of a corpus.

    ngrams (dict[str, int]): The n-grams with their counts, as `counts.in_order`.
    words (dict[str, int]): The single words in them with theirs, most frequent first.
    n_tokens (int): All tokens read, rare words and punctuation included, but not
        white space and <unk>.
    """

    ngrams: dict[str, int]
    words: dict[str, int]
    n_tokens: int


def count_blocks(blocks: Iterable[bytes], settings: Settings) -> NgramCounts:
    """Count the n-grams of a corpus.

    blocks (Iterable[bytes]): Text in whole lines; see `text.blocks`.
    settings (Settings): How to count.
    RETURNS (NgramCounts): The counts.
    """
    vocabulary, levels = _count(blocks, settings)
    ngrams, words = to_strings(levels, vocabulary)
    return NgramCounts(ngrams, words, vocabulary.n_tokens)


def _count(
    blocks: Iterable[bytes], settings: Settings
) -> tuple[Vocabulary, Iterator[Level]]:
    """Prepare a count; what only this needs is freed before the levels are counted."""
    attr, n_process, progress = settings.attr, settings.n_process, settings.progress
    hidden = None if progress else True  # None: hidden where there is no terminal
    tokenizer, by_line = ways_to_cut(settings.tokenizer)
    if by_line is not None:
        blocks = tokenize_lines(blocks, by_line, n_process=n_process)
    bar = tqdm(blocks, "Reading", unit=" blocks", leave=False, disable=hidden)
    corpus = encode_corpus(bar, n_cores())
    text, chunk_ids, separators = strip_separators(corpus.chunks)
    if tokenizer is None:
        words = words_at_whitespace(text, attr=attr)
        is_end = separators == NEWLINE
    else:
        words = words_by_tokenizer(
            text, tokenizer, attr=attr, n_process=n_process, progress=progress
        )
        # Any other white space than a single space is a token of its own.
        is_end = separators != SPACE
    chunk_counts = np.zeros(len(chunk_ids), np.int64)
    for block in corpus.blocks:
        np.add.at(chunk_counts, block, np.int64(1))
    vocabulary, chunks = rank_words(
        words, chunk_ids, is_end, chunk_counts, settings.min_count
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
