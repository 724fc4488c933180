"""N-grams in word ids to text, in the order of a dictionary."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .arrow import from_arrow, joined_bytes, to_arrow
from .levels import Level
from .vocabulary import Vocabulary


def to_strings(
    levels: Iterable[Level], vocabulary: Vocabulary
) -> tuple[dict[str, int], dict[str, int]]:
    """Write n-grams as text.

    levels (Iterable[Level]): The n-grams, in word ids from 1.
    vocabulary (Vocabulary): The words.
    RETURNS (tuple[dict[str, int], dict[str, int]]): The n-grams with their counts, in
        the order of `counts.in_order`, and the words in them with theirs, most frequent
        first.
    """
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
    return _sorted(parts) if parts["n"] else {}, kept


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
