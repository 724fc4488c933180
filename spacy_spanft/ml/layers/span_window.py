"""A convolution whose windows stand at every row and never leave their sequence."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from thinc.api import Model, glorot_uniform_init
from thinc.types import Floats2d, Ragged
from thinc.util import ArrayInfo, get_width

from ...errors import check_number
from ..alignment import Ints
from .sequences import known, matmul, upload

InT = Ragged
OutT = Ragged


def span_window(kernel_size: int = 3, *, before: int = 0) -> Model[InT, OutT]:
    """Make the layer: c_j = ReLU(W [t_j ... t_(j+k-1)] + b), zeros after the end.

    No window is ever padded or copied together: W is k matrices, one for each slot of
    the window, and each is applied to the rows that have such a neighbor only.

    kernel_size (int): The number of rows of a window (k).
    before (int): The number of rows of a window that stand before t_j; zeros before
        the beginning.
    RETURNS (Model[Ragged, Ragged]): Sequences (n_rows, nI) to sequences (n_rows, nO).
    """
    check_number("kernel_size", kernel_size, lambda k: k >= 1, "1 or more")
    return Model(
        "span_window",
        forward,
        init=init,
        dims={"nO": None, "nI": None},
        params={"W": None, "b": None},
        attrs={"kernel_size": kernel_size, "before": before},
    )


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    """Apply the layer. W is (k, nO, nI), b is (nO,)."""
    W: Any = model.get_param("W")
    b: Any = model.get_param("b")
    sequences = known(model.ops, X)
    rows = cast(Floats2d, sequences.dataXd)
    center = model.attrs["before"]
    around = neighbors(model, sequences.on_host)
    Y = matmul(rows, W[center].T)
    Y += b
    for slot, at, offset in around:
        Y[at - offset] += matmul(rows[at], W[slot].T)
    is_on = Y > 0
    Y *= is_on
    shape = ArrayInfo.from_array(Y)

    def backprop(dY: OutT) -> InT:
        shape.check_consistency(dY.dataXd)
        d = dY.dataXd * is_on
        dX = matmul(d, W[center])
        dW = model.ops.xp.empty_like(W)
        dW[center] = matmul(d.T, rows)
        for slot, at, offset in around:
            d_at = d[at - offset]
            dX[at] += matmul(d_at, W[slot])
            dW[slot] = matmul(d_at.T, rows[at])
        model.inc_grad("W", dW)
        model.inc_grad("b", d.sum(axis=0))
        return sequences.with_rows(dX)

    return sequences.with_rows(Y), backprop


def neighbors(model: Model[InT, OutT], lengths: Ints) -> list[tuple[int, Any, int]]:
    """Return the rows that stand in the window of another one.

    RETURNS (list[tuple[int, Ints1d, int]]): Each slot of the window but that of the row
        itself, the rows that are there in some window, and how far after the window's
        own row they stand.
    """
    starts = np.cumsum(lengths) - lengths
    position = np.arange(int(lengths.sum())) - np.repeat(starts, lengths)
    left = np.repeat(lengths, lengths) - position
    before = model.attrs["before"]
    slots = [slot for slot in range(model.attrs["kernel_size"]) if slot != before]
    offsets = [slot - before for slot in slots]
    rows = [np.flatnonzero((position >= x) & (left > -x)) for x in offsets]
    at = upload(model.ops, *rows) if rows else []
    return list(zip(slots, at, offsets, strict=True))


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    """Set up the weights as those of one dense layer over the whole window."""
    if X is not None:
        model.set_dim("nI", get_width(X))
    nI = model.get_dim("nI")
    if model.has_dim("nO") is None:
        model.set_dim("nO", nI)
    nO, k = model.get_dim("nO"), model.attrs["kernel_size"]
    W: Any = glorot_uniform_init(model.ops, (nO, k * nI))
    model.set_param("W", W.reshape(nO, k, nI).transpose(1, 0, 2).copy())
    model.set_param("b", model.ops.alloc1f(nO))
