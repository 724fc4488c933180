"""From text to counts: chunks, words, ranks, levels, strings."""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import NamedTuple, get_args

import numpy as np
from tqdm import tqdm

from ..about import __title__, __version__
from ..errors import CorpusError, Errors, Warnings
from .chunks import NEWLINE, SPACE, encode_corpus, strip_separators
from .counting import Level, count_levels
from .provenance import Provenance
from .tokens import (
    get_tokenizer,
    tokenise_lines,
    words_at_whitespace,
    words_by_tokenizer,
    works_by_chunk,
)
from .types import Attr, CountSettings, Tokenizer, check_settings
from .vocabulary import Vocabulary, expand_blocks, rank_words


class NgramCounts(NamedTuple):
    """What counting a corpus gives.

    ngrams (dict[str, int]): The n-grams with their counts, in no order.
    words (dict[str, int]): The single words in them with theirs, most frequent first.
    provenance (Provenance): Where the counts come from.
    """

    ngrams: dict[str, int]
    words: dict[str, int]
    provenance: Provenance


def count_blocks(
    blocks: Iterable[bytes], sources: tuple[str, ...], settings: CountSettings
) -> NgramCounts:
    """Count the n-grams of a corpus.

    blocks (Iterable[bytes]): Text in whole lines, as `corpus.blocks` yields it.
    sources (tuple[str, ...]): Where the text comes from.
    settings (CountSettings): How to count.
    RETURNS (NgramCounts): The counts.
    """
    chosen = _Settings(**settings)
    vocabulary, levels = _count(blocks, chosen)
    if not vocabulary.n_tokens:
        raise CorpusError(Errors.NO_TEXT.format(sources=", ".join(sources)))
    ngrams, words = _to_strings(levels, vocabulary)
    if not ngrams:
        warnings.warn(
            Warnings.NO_NGRAMS.format(
                min_count=chosen.min_count, n_tokens=vocabulary.n_tokens
            ),
            stacklevel=4,
        )
    return NgramCounts(ngrams, words, _provenance(sources, chosen, vocabulary))


@dataclass(frozen=True)
class _Settings:
    """The settings with their defaults, checked."""

    tokenizer: str | Tokenizer = "en"
    attr: Attr = "LOWER"
    max_n: int = 5
    min_count: int = 10
    n_process: int = 1
    progress: bool = False

    def __post_init__(self) -> None:
        check_settings(self.max_n, self.min_count)
        if self.attr not in get_args(Attr):
            raise CorpusError(Errors.BAD_ATTR.format(value=self.attr))
        if self.n_process < 1:
            raise CorpusError(Errors.BAD_PROCESSES.format(value=self.n_process))


def _count(
    blocks: Iterable[bytes], settings: _Settings
) -> tuple[Vocabulary, Iterator[Level]]:
    attr, n_process, progress = settings.attr, settings.n_process, settings.progress
    tokenizer = get_tokenizer(settings.tokenizer)
    if tokenizer is not None and not works_by_chunk(tokenizer):
        blocks = tokenise_lines(blocks, tokenizer, n_process=n_process)
        tokenizer = None
    corpus = encode_corpus(_with_bar(blocks, progress))
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
    total = settings.max_n - 1
    bar = tqdm(levels, "Counting", total, leave=False, disable=not progress)
    return vocabulary, iter(bar)


def _with_bar(blocks: Iterable[bytes], progress: bool) -> Iterator[bytes]:
    bar = tqdm(
        desc="Reading", unit="B", unit_scale=True, disable=not progress, leave=False
    )
    with bar:
        for block in blocks:
            yield block
            bar.update(len(block))


def _to_strings(
    levels: Iterable[Level], vocabulary: Vocabulary
) -> tuple[dict[str, int], dict[str, int]]:
    names = ["", *vocabulary.names]  # word ids begin at 1
    ngrams: dict[str, int] = {}
    used: set[int] = set()
    for words, counts in levels:
        columns = [[names[i] for i in column] for column in words.T.tolist()]
        texts = map(" ".join, zip(*columns, strict=True))
        ngrams.update(zip(texts, counts.tolist(), strict=True))
        used.update(np.unique(words).tolist())
    return ngrams, {names[i]: int(vocabulary.counts[i - 1]) for i in sorted(used)}


def _provenance(
    sources: tuple[str, ...], settings: _Settings, vocabulary: Vocabulary
) -> Provenance:
    name = settings.tokenizer
    if not isinstance(name, str):
        name = f"{type(name).__module__}.{type(name).__qualname__}"
    return Provenance(
        sources=sources,
        tokenizer=name,
        n_tokens=vocabulary.n_tokens,
        max_n=settings.max_n,
        min_count=settings.min_count,
        made_with=f"{__title__} {__version__}, spacy {version('spacy')}",
    )
