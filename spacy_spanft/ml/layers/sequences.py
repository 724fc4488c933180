"""Sequences whose lengths are known without waiting for a GPU, and their products."""

from typing import Any

import numpy as np
from thinc.types import Ints1d, Ragged

from ..alignment import Ints


class Sequences(Ragged):
    """A Ragged that has its lengths on the host as well.

    They come from there. Asking a GPU for them would wait for all of its work so far.
    """

    on_host: Ints

    def __init__(self, data: Any, lengths: Ints1d, on_host: Ints) -> None:
        """Make sequences.

        data (Floats2d): Their rows, one sequence after the other.
        lengths (Ints1d): The number of rows of each.
        on_host (Ints): The same on the host; on the CPU it may be the same array.
        """
        super().__init__(data, lengths)
        self.on_host = on_host

    def with_rows(self, data: Any) -> "Sequences":
        """Return sequences of the same lengths with other rows."""
        return Sequences(data, self.lengths, self.on_host)


def known(ops: Any, X: Ragged) -> Sequences:
    """Return sequences with their lengths on the host, copied there if need be."""
    if isinstance(X, Sequences):
        return X
    return Sequences(X.dataXd, X.lengths, ops.to_numpy(X.lengths))


def upload(ops: Any, *parts: Any) -> list[Any]:
    """Copy arrays of integers to the device of the model, in one trip.

    RETURNS (list[Ints1d]): The same as int32.
    """
    if len(parts) == 1 or ops.xp is np:
        return [ops.asarray1i(part) for part in parts]
    whole = ops.asarray1i(np.concatenate(parts))
    ends = np.cumsum([len(part) for part in parts])
    return [whole[b - len(a) : b] for a, b in zip(parts, ends.tolist(), strict=True)]


def matmul(left: Any, right: Any) -> Any:
    """Multiply two matrices, (n, k) and (k, m).

    On the CPU, PyTorch does it on NumPy's own memory. Its threads are at work for the
    transformer already, and those of NumPy's BLAS would compete with them: on two
    cores, a training step over six layers takes a tenth less.
    """
    if not isinstance(left, np.ndarray):
        return left @ right
    import torch

    # PyTorch takes neither read-only memory nor negative strides.
    writable = (np.require(array, requirements="W") for array in (left, right))
    with torch.no_grad():
        return torch.matmul(*map(torch.from_numpy, writable)).numpy()
