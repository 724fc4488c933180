"""Text to shards: chunk ids, and the distinct chunks in parts by their hash.

A shard knows its chunks by numbers of its own. What they are made of is found out part
by part, over all shards, so that no chunk is tokenized twice.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..counting.chunks import EncodedCorpus, encode_corpus, strip_separators
from ..counting.levels import GOLDEN
from ..counting.settings import Tokenizer
from ..counting.tokens import tokenize_lines
from ..text.blocks import LineSample
from ..text.units import Unit, read_unit
from .store import Store

_LINES_AT_ONCE = 1 << 14
_NEWLINE = 10


class Share(NamedTuple):
    """The shards of one text that one worker encodes, where several have the same.

    What is compressed can be read from its beginning alone: all read it, which is fast,
    and each encodes every so many-th shard.

    number (int): Which share it is, from 0.
    n_shares (int): How many there are.
    """

    number: int
    n_shares: int

    def name_of(self, text: str) -> str:
        """Name the file that says that the share of a text is done."""
        return f"{text}+{self.number}" if self.number else text


ALL = Share(0, 1)


def encode_unit(
    store: Store,
    name: str,
    unit: Unit,
    tokenizer: Tokenizer | None,
    shard_size: int,
    n_parts: int,
    share: Share,
) -> None:
    """Encode one unit of text as one shard or more; see `encode_blocks`.

    unit (Unit): Where the text is.
    """
    blocks = read_unit(unit)
    encode_blocks(store, name, blocks, tokenizer, shard_size, n_parts, share)


def encode_blocks(
    store: Store,
    name: str,
    blocks: Iterable[bytes],
    tokenizer: Tokenizer | None,
    shard_size: int,
    n_parts: int,
    share: Share = ALL,
) -> None:
    """Encode text as one shard or more, in files NAME-0, NAME-1 and so on.

    store (Store): Where to write. A last file, NAME, says how many there are, and has
        a sample of the lines; that of another share than the first is NAME+SHARE.
    name (str): What the text is called.
    blocks (Iterable[bytes]): Whole lines.
    tokenizer (Optional[Callable]): What cuts lines into words, if chunks do not do.
    shard_size (int): How many bytes make up a shard.
    n_parts (int): In how many parts the chunks go.
    share (Share): Which shards are encoded; the others are only read.
    """
    sample = LineSample()
    source = iter(blocks) if share.number else sample.watch(blocks)
    n_shards = 0
    for first in source:
        own = _up_to(shard_size, first, source)
        if n_shards % share.n_shares == share.number:
            lines = own if tokenizer is None else tokenize_lines(own, tokenizer)
            arrays = dict(_arrays_of(encode_corpus(lines), n_parts))
            store.write(f"{name}-{n_shards:06}", arrays)
        deque(own, maxlen=0)
        n_shards += 1
    kept = b"".join(line + b"\n" for line in sample.lines)
    store.write_facts(
        share.name_of(name), n_shards, sample=np.frombuffer(kept, np.uint8)
    )


def _up_to(size: int, first: bytes, others: Iterator[bytes]) -> Iterator[bytes]:
    """Give blocks until they have a number of bytes."""
    yield first
    size -= len(first)
    while size > 0 and (block := next(others, None)) is not None:
        yield block
        size -= len(block)


def _arrays_of(
    corpus: EncodedCorpus, n_parts: int
) -> Iterator[tuple[str, NDArray[Any]]]:
    """Give what is written of a shard.

    ids: its chunks; texts: for each of these, the number of its text; separators: the
    byte after it. Then by part, of each distinct text: its bytes, its number and count.
    """
    text, texts, separators = strip_separators(corpus.chunks)
    counts = np.zeros(len(texts), np.int64)
    for block in corpus.blocks:
        np.add.at(counts, block, np.int64(1))
    n_texts = text.count(b"\n")
    text_counts = np.zeros(n_texts, np.int64)
    np.add.at(text_counts, texts, counts)
    ids = np.concatenate([np.zeros(0, np.int32), *corpus.blocks])
    yield from {"ids": ids, "texts": texts, "separators": separators}.items()
    parts = part_of_lines(text, n_parts)
    for part, (numbers, lines) in enumerate(split_by_part(text, parts, n_parts)):
        yield f"text.{part}", lines
        yield f"number.{part}", numbers.astype(np.uint32)
        yield f"count.{part}", text_counts[numbers]


def part_of_lines(text: bytes, n_parts: int) -> NDArray[np.int64]:
    """Say in which part each line goes: the same line in the same part, anywhere.

    text (bytes): Lines, each with a newline.
    n_parts (int): How many parts there are.
    RETURNS (NDArray[np.int64]): The part of each line.
    """
    data = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(data == _NEWLINE) + 1
    parts = np.zeros(len(ends), np.int64)
    for first in range(0, len(ends), _LINES_AT_ONCE):
        bounds = ends[first : first + _LINES_AT_ONCE]
        begin = ends[first - 1] if first else 0
        hashed = _hash_lines(data[begin : bounds[-1]], bounds - begin)
        parts[first : first + _LINES_AT_ONCE] = part_of_keys(hashed, n_parts)
    return parts


def _hash_lines(data: NDArray[np.uint8], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
    lengths = ends - starts
    # The powers of an odd number: a byte counts for as much as its place says.
    powers = np.full(lengths.max(), GOLDEN)
    np.cumprod(powers, out=powers)
    places = np.arange(len(data)) - np.repeat(starts, lengths)
    sums: NDArray[np.uint64] = np.add.reduceat(data * powers[places], starts)
    return (sums ^ (sums >> np.uint64(29))) * GOLDEN


def part_of_keys(keys: NDArray[np.uint64], n_parts: int) -> NDArray[np.int64]:
    """Say in which part each key goes, by its upper bits.

    keys (NDArray[np.uint64]): Keys that are spread over all 64 bits.
    n_parts (int): How many parts there are.
    RETURNS (NDArray[np.int64]): The part of each key, which grows with it.
    """
    upper = keys >> np.uint64(32)
    return ((upper * np.uint64(n_parts)) >> np.uint64(32)).astype(np.int64)


def split_by_part(
    text: bytes, parts: NDArray[np.int64], n_parts: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint8]]]:
    """Take lines apart, in their order.

    text (bytes): Lines, each with a newline.
    parts (NDArray[np.int64]): In which part each goes.
    n_parts (int): How many parts there are.
    YIELDS (tuple): The numbers of the lines of a part, and these as bytes.
    """
    data = np.frombuffer(text, np.uint8)
    lengths = np.diff(np.flatnonzero(data == _NEWLINE), prepend=-1)
    byte_parts = np.repeat(parts.astype(np.uint16), lengths)
    for part in range(n_parts):
        yield np.flatnonzero(parts == part), data[byte_parts == part]
