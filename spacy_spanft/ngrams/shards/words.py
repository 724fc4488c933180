"""Chunks to words, over all shards: tokenized, summed and ranked."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...util.shared import Shared
from ..counting.arrow import from_arrow, joined_bytes
from ..counting.chunks import split_lines
from ..counting.levels import Counts
from ..counting.settings import Attr, Tokenizer
from ..counting.tokens import words_at_whitespace, words_by_tokenizer
from ..counting.vocabulary import is_word
from .encode import part_of_lines, split_by_part
from .store import Store

# Where a word is first: the shard and the chunk in it, and the word in the chunk. Words
# of one count are ranked by that.
SHARD_BITS = np.uint64(32)


class Lines(NamedTuple):
    """Lines that are told apart, though read from several files.

    array (pa.LargeBinaryArray): Each line once, by its first place.
    ids (list[NDArray[np.int32]]): For every file, which lines it has.
    """

    array: Any
    ids: list[NDArray[np.int32]]

    @property
    def all_ids(self) -> NDArray[np.int32]:
        """The lines of all files, one after the other."""
        return np.concatenate([np.zeros(0, np.int32), *self.ids])


def distinct_lines(texts: Sequence[bytes]) -> Lines:
    """Number the distinct lines of texts.

    texts (Sequence[bytes]): Texts, each of whose lines has a newline.
    RETURNS (Lines): The lines.
    """
    pieces = [split_lines(text) for text in texts]
    # Arrow loses count of empty arrays.
    filled = [piece for piece in pieces if len(piece)]
    if not filled:
        return Lines(pa.array([], pa.large_binary()), [_no_ids() for _ in texts])
    encoded = pa.chunked_array(filled, pa.large_binary()).dictionary_encode()
    found = iter(encoded.chunks)
    ids = [from_arrow(next(found).indices) if len(p) else _no_ids() for p in pieces]
    return Lines(encoded.chunk(0).dictionary, ids)


def _no_ids() -> NDArray[np.int32]:
    return np.zeros(0, np.int32)


def tokenize_part(
    store: Store,
    part: int,
    shards: Sequence[str],
    tokenizer: Shared[Tokenizer | None],
    attr: Attr,
    n_parts: int,
) -> None:
    """Tokenize the distinct chunks of a part, and count their words: tokens-PART.

    store (Store): The shards, and where to write.
    shards (Sequence[str]): Their names.
    tokenizer (Shared[Optional[Callable]]): A tokenizer that works by chunk; None for
        text that is tokenized already.
    attr (str): "LOWER" folds case, "ORTH" leaves it.
    """
    texts, counts, places = [], [], []
    for number, name in enumerate(shards):
        with store.read(name) as shard:
            texts.append(shard.text(f"text.{part}"))
            counts.append(shard[f"count.{part}"])
            first = np.uint64(number) << SHARD_BITS
            places.append(shard[f"number.{part}"].astype(np.uint64) | first)
    chunks = distinct_lines(texts)
    del texts
    joined, ids = joined_bytes(chunks.array), chunks.all_ids
    if tokenizer.value is None:
        words = words_at_whitespace(joined, attr=attr)
    else:
        words = words_by_tokenizer(joined, tokenizer.value, attr=attr)
    chunk_counts = np.zeros(len(words.lengths), np.int64)
    np.add.at(chunk_counts, ids, np.concatenate([np.zeros(0, np.int64), *counts]))
    chunk_places = np.zeros(len(words.lengths), np.uint64)
    # The last one that is written stays: that of the first shard.
    chunk_places[ids[::-1]] = np.concatenate([np.zeros(0, np.uint64), *places])[::-1]
    names = distinct_lines([words.words])
    arrays: dict[str, NDArray[Any]]
    arrays = {"lengths": words.lengths, "words": names.ids[0]}
    arrays.update((f"chunks.{i}", one) for i, one in enumerate(chunks.ids))
    lengths = words.lengths
    ends = np.cumsum(lengths)
    nth = np.arange(len(names.ids[0])) - np.repeat(ends - lengths, lengths)
    table = WordTable.of_words(
        joined_bytes(names.array),
        names.ids[0],
        np.repeat(chunk_counts, lengths),
        np.repeat(chunk_places, lengths),
        nth.astype(np.uint32),
    )
    store.write(f"tokens-{part}", {**arrays, **dict(table.arrays(n_parts))})


class WordTable(NamedTuple):
    """Words with their counts, and where each of them is first.

    text (bytes): The words, one a line; an empty one is a gap.
    """

    text: bytes
    counts: Counts
    places: NDArray[np.uint64]
    nth: NDArray[np.uint32]

    @classmethod
    def of_words(
        cls,
        text: bytes,
        ids: NDArray[np.int32],
        counts: Counts,
        places: NDArray[np.uint64],
        nth: NDArray[np.uint32],
    ) -> "WordTable":
        """Sum the counts of words.

        text (bytes): The distinct words.
        ids (NDArray[np.int32]): Which word it is, for each of the following.
        RETURNS (WordTable): Each word once.
        """
        n_words = text.count(b"\n")
        sums = np.zeros(n_words, np.int64)
        np.add.at(sums, ids, counts)
        order = np.lexsort((nth, places))[::-1]
        firsts, first_nth = np.zeros(n_words, np.uint64), np.zeros(n_words, np.uint32)
        firsts[ids[order]], first_nth[ids[order]] = places[order], nth[order]
        return cls(text, sums, firsts, first_nth)

    def arrays(self, n_parts: int) -> Iterator[tuple[str, NDArray[Any]]]:
        """Give what is written of the words, part by part."""
        parts = part_of_lines(self.text, n_parts)
        yield "names", np.frombuffer(self.text, np.uint8)
        for part, (ids, lines) in enumerate(split_by_part(self.text, parts, n_parts)):
            yield f"text.{part}", lines
            yield f"count.{part}", self.counts[ids]
            yield f"place.{part}", self.places[ids]
            yield f"nth.{part}", self.nth[ids]


def sum_words(store: Store, part: int, files: Sequence[str], min_count: int) -> None:
    """Sum a part of the words over files, and keep the frequent ones: words-PART.

    store (Store): The files, and where to write.
    files (Sequence[str]): Their names: word tables.
    min_count (int): How often a word must occur.
    """
    texts, columns = [], []
    for name in files:
        with store.read(name) as arrays:
            texts.append(arrays.text(f"text.{part}"))
            kinds = ("count", "place", "nth")
            columns.append([arrays[f"{kind}.{part}"] for kind in kinds])
    lines = distinct_lines(texts)
    counts, places, nth = (
        np.concatenate(column) for column in zip(*columns, strict=True)
    )
    text = joined_bytes(lines.array)
    table = WordTable.of_words(text, lines.all_ids, counts, places, nth)
    names = text.decode("utf8").split("\n")[:-1]
    is_token = np.array([bool(name) for name in names], np.bool_)
    frequent = np.flatnonzero(table.counts >= min_count).tolist()
    kept = np.array([i for i in frequent if is_word(names[i])], np.int64)
    kept_text = "".join(f"{names[i]}\n" for i in kept.tolist()).encode("utf8")
    found: dict[str, NDArray[Any]] = {
        "text": np.frombuffer(kept_text, np.uint8),
        "counts": table.counts[kept],
        "places": table.places[kept],
        "nth": table.nth[kept],
        "n_tokens": np.array([table.counts[is_token].sum()], np.int64),
    }
    store.write(f"words-{part}", found)


def rank_words(store: Store, n_parts: int, n_tokens: int | None = None) -> None:
    """Rank the frequent words of all parts: the file vocabulary.

    store (Store): The parts, and where to write.
    n_tokens (Optional[int]): How many tokens there are; None if the parts know all.
    """
    text, columns, n_known = b"", [], 0
    for part in range(n_parts):
        with store.read(f"words-{part}") as arrays:
            text += arrays.text("text")
            columns.append([arrays[name] for name in ("counts", "places", "nth")])
            n_known += int(arrays["n_tokens"][0])
    counts, places, nth = (
        np.concatenate(column) for column in zip(*columns, strict=True)
    )
    order = np.lexsort((nth, places, -counts))
    names = text.decode("utf8").split("\n")[:-1]
    ranked = "".join(f"{names[i]}\n" for i in order.tolist()).encode("utf8")
    # By when they come first, for whoever goes on from there.
    firsts = np.empty(len(order), np.uint32)
    firsts[np.lexsort((nth, places))] = np.arange(len(order), dtype=np.uint32)
    vocabulary: dict[str, NDArray[Any]] = {
        "text": np.frombuffer(ranked, np.uint8),
        "counts": counts[order],
        "firsts": firsts[order],
        "n_tokens": np.array([n_known if n_tokens is None else n_tokens], np.int64),
    }
    store.write("vocabulary", vocabulary)
