"""Sequences whose lengths are known without waiting for a GPU."""

from typing import Any

import numpy as np
from thinc.types import Ints1d, Ragged

from ..alignment import Ints


class Sequences(Ragged):
    """A Ragged that has its lengths on the host as well.

    They come from there. To ask a GPU for them means to wait until all is done that it
    was given before.
    """

    on_host: Ints

    def __init__(self, data: Any, lengths: Ints1d, on_host: Ints) -> None:
        """Make sequences.

        data (Floats2d): Their rows, one sequence after the other.
        lengths (Ints1d): How many rows each has.
        on_host (Ints): The same on the host; on the CPU it may be the same array.
        """
        super().__init__(data, lengths)
        self.on_host = on_host

    def with_rows(self, data: Any) -> "Sequences":
        """Give sequences of the same lengths with other rows.

        data (Floats2d): The rows.
        """
        return Sequences(data, self.lengths, self.on_host)


def known(ops: Any, X: Ragged) -> Sequences:
    """Find out the lengths of sequences, unless they are known.

    ops (Ops): Where the sequences are.
    X (Ragged): The sequences.
    RETURNS (Sequences): The same.
    """
    if isinstance(X, Sequences):
        return X
    return Sequences(X.dataXd, X.lengths, ops.to_numpy(X.lengths))


def upload(ops: Any, *parts: Any) -> list[Any]:
    """Bring integers to where the model is, in one trip.

    ops (Ops): Of the model.
    parts (Sequence[Ints]): Arrays on the host.
    RETURNS (list[Ints1d]): The same as int32.
    """
    if len(parts) == 1 or ops.xp is np:
        return [ops.asarray1i(part) for part in parts]
    whole = ops.asarray1i(np.concatenate(parts))
    ends = np.cumsum([len(part) for part in parts])
    return [whole[b - len(a) : b] for a, b in zip(parts, ends.tolist(), strict=True)]
