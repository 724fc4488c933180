"""Chunks to the ids of frequent words: what n-grams are counted in."""

from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..counting.chunks import NEWLINE, SPACE, split_lines
from ..counting.levels import GAP, Ids
from ..counting.vocabulary import ChunkWords, Vocabulary, expand_blocks
from .store import Arrays, Store


def read_vocabulary(store: Store) -> Vocabulary:
    """Read the frequent words.

    store (Store): Where they are.
    RETURNS (Vocabulary): The words by their rank.
    """
    with store.read("vocabulary") as arrays:
        names = arrays.text("text").decode("utf8").split("\n")[:-1]
        return Vocabulary(names, arrays["counts"], int(arrays["n_tokens"][0]))


def ids_of_names(store: Store, text: bytes) -> Ids:
    """Find the ids of words: their ranks, or GAP for those that are too rare.

    store (Store): Where the vocabulary is.
    text (bytes): The words, one a line.
    RETURNS (Ids): Their ids.
    """
    with store.read("vocabulary") as arrays:
        known = split_lines(arrays.text("text"))
    found = pc.index_in(split_lines(text), value_set=known)
    ids: Ids = pc.fill_null(found, -1).to_numpy(zero_copy_only=False) + np.uint32(1)
    return ids.astype(np.uint32)


def number_part(store: Store, part: int, n_shards: int) -> None:
    """Write for each shard the word ids of its chunks in a part: numbered-PART.

    store (Store): The tokens of the part, and where to write.
    n_shards (int): How many shards there are.
    """
    with store.read(f"tokens-{part}") as tokens:
        ids = ids_of_names(store, tokens.text("names"))
        lengths, words = tokens["lengths"], ids[tokens["words"]]
        ends = np.cumsum(lengths)
        # After each chunk stands a gap, for where no n-gram may go on.
        flat = np.insert(words, ends, np.uint32(GAP))
        starts = ends - lengths + np.arange(len(lengths))
        chunks = ChunkWords(flat, starts, lengths + 1)
        arrays: dict[str, NDArray[Any]] = {}
        for shard in range(n_shards):
            of_shard = tokens[f"chunks.{shard}"]
            blocks = list(expand_blocks([of_shard], chunks))
            arrays[f"words.{shard}"] = np.concatenate([np.zeros(0, np.uint32), *blocks])
            arrays[f"lengths.{shard}"] = lengths[of_shard].astype(np.uint32)
    store.write(f"numbered-{part}", arrays)


def number_shard(
    store: Store, shard: int, name: str, n_parts: int, is_tokenized: bool
) -> None:
    """Turn the chunks of a shard into word ids: stream-SHARD.

    store (Store): The shard, its words part by part, and where to write.
    shard (int): The number of the shard.
    name (str): Its name.
    is_tokenized (bool): Whether chunks are words, and lines the only gaps.
    """
    words, starts, lengths = [np.zeros(0, np.uint32)], [], []
    n_words = 0
    with store.read(name) as arrays:
        numbers = [arrays[f"number.{part}"] for part in range(n_parts)]
        for part in range(n_parts):
            with store.read(f"numbered-{part}") as numbered:
                words.append(numbered[f"words.{shard}"])
                lengths.append(numbered[f"lengths.{shard}"].astype(np.int64))
            ends = np.cumsum(lengths[-1] + 1) + n_words
            starts.append(ends - lengths[-1] - 1)
            n_words += len(words[-1])
        chunks = _by_number(arrays, np.concatenate(numbers), starts, lengths)
        separators = arrays["separators"]
        is_end = separators == NEWLINE if is_tokenized else separators != SPACE
        texts = arrays["texts"]
        starts_of, lengths_of = (column[texts] for column in chunks)
        known = ChunkWords(np.concatenate(words), starts_of, lengths_of + is_end)
        blocks = list(expand_blocks([arrays["ids"]], known))
    stream = np.concatenate([np.zeros(0, np.uint32), *blocks])
    store.write(f"stream-{shard}", {"words": stream})


def _by_number(
    arrays: Arrays,
    numbers: NDArray[np.uint32],
    starts: list[NDArray[np.int64]],
    lengths: list[NDArray[np.int64]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bring what is known of chunks part by part into the order of the shard."""
    first, size = np.concatenate(starts), np.concatenate(lengths)
    if len(first) != len(numbers):
        raise arrays.error("the chunks in it are not those that were tokenized")
    by_number = np.zeros((2, len(numbers)), np.int64)
    by_number[0, numbers], by_number[1, numbers] = first, size
    return by_number[0], by_number[1]
