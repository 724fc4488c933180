"""Blocks of bytes to chunk ids: each white-space-delimited chunk seen once.

A chunk is kept together with the white-space byte that closes it, so that one
id tells the word as well as what comes after it: `dog ` and `dog\\n` are two
chunks. Arrow's hash kernels do the work; Python never sees a single word.
"""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

NEWLINE = 10
SPACE = 32
# What str.isspace says of the first 33 characters. White space beyond ASCII stays
# inside its chunk: the tokenizer knows what to do with it.
_IS_SEPARATOR = np.array([chr(byte).isspace() for byte in range(SPACE + 1)])

# Arrow's own functions for this import pandas where there is one, which takes longer
# than to count a million words.


def to_arrow(values: NDArray[Any]) -> Any:
    """View numbers, in one piece of memory, as an Arrow array."""
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def from_arrow(array: Any) -> NDArray[Any]:
    """View an Arrow array of numbers, none of which is null, as NumPy's."""
    return np.from_dlpack(array)


def joined_bytes(array: Any) -> bytes:
    """Return the values of a LargeBinaryArray, one after the other."""
    if not len(array):
        return b""
    offsets = np.frombuffer(array.buffers()[1], np.int64)
    first = array.offset
    begin, end = offsets[first], offsets[first + len(array)]
    return bytes(memoryview(array.buffers()[2])[begin:end])


def split_at_space(block: bytes) -> Any:
    """View a block as its chunks, each with the byte that closes it."""
    data = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(data <= SPACE)
    ends = ends[_IS_SEPARATOR[data[ends]]]
    return _pieces(data, ends)


def split_lines(text: bytes) -> Any:
    """View text as its lines, each with its newline."""
    data = np.frombuffer(text, np.uint8)
    return _pieces(data, np.flatnonzero(data == NEWLINE))


def _pieces(data: NDArray[np.uint8], ends: NDArray[np.intp]) -> Any:
    offsets = np.zeros(len(ends) + 1, np.int64)
    offsets[1:] = ends + 1
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), len(ends), buffers)


def strip_separators(chunks: Any) -> tuple[bytes, NDArray[np.int32], NDArray[np.uint8]]:
    """Return distinct texts, one a line, the line of each chunk, and what closed it."""
    offsets = np.frombuffer(chunks.buffers()[1], np.int64)[: len(chunks) + 1]
    data = np.frombuffer(chunks.buffers()[2], np.uint8)[: offsets[-1]].copy()
    ends = offsets[1:] - 1
    separators = data[ends]
    data[ends] = NEWLINE
    encoded = _pieces(data, ends).dictionary_encode()
    texts = joined_bytes(encoded.dictionary), from_arrow(encoded.indices)
    return *texts, separators
