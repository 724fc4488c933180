"""NumPy arrays as Arrow's and back, without a copy.

Arrow's own functions for this import pandas where there is one, which takes longer
than to count a million words.
"""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def to_arrow(values: NDArray[Any]) -> Any:
    """View numbers as an Arrow array.

    values (NDArray): The numbers, in one piece of memory.
    RETURNS (pa.Array): The same.
    """
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def from_arrow(array: Any) -> NDArray[Any]:
    """View an Arrow array of numbers, none of which is null.

    array (pa.Array): The numbers.
    RETURNS (NDArray): The same.
    """
    kind = np.dtype(array.type.to_pandas_dtype())
    if not len(array):
        return np.zeros(0, kind)
    offset = array.offset * kind.itemsize
    return np.frombuffer(array.buffers()[1], kind, len(array), offset)


def joined_bytes(array: Any) -> bytes:
    """Read a binary array as one run of bytes.

    array (pa.LargeBinaryArray): The pieces.
    RETURNS (bytes): All of them, one after the other.
    """
    if not len(array):
        return b""
    offsets = np.frombuffer(array.buffers()[1], np.int64)
    first = array.offset
    begin, end = offsets[first], offsets[first + len(array)]
    return bytes(memoryview(array.buffers()[2])[begin:end])
