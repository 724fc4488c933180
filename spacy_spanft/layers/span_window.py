"""A convolution whose windows begin at every row and never leave their sequence."""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np
from thinc.api import Model, glorot_uniform_init
from thinc.types import Floats2d, Ragged
from thinc.util import ArrayInfo, get_width

from ..errors import Errors, SettingError
from .matmul import matmul

InT = Ragged
OutT = Ragged


def span_window(
    kernel_size: int = 3,
    nO: int | None = None,
    nI: int | None = None,
    *,
    init_W: Callable[..., Any] = glorot_uniform_init,
) -> Model[InT, OutT]:
    """Make the layer: c_j = ReLU(W [t_j ... t_(j+k-1)] + b), zeros behind the end.

    No window is ever padded or copied together: W is k matrices, one for each place
    in the window, and each is applied to the rows that have such a neighbour only.

    kernel_size (int): How many rows a window has (k).
    nO (Optional[int]): The width of the output; None for that of the input.
    nI (Optional[int]): The width of the input.
    init_W (Callable): Sets up the weights.
    RETURNS (Model[Ragged, Ragged]): Sequences (n_rows, nI) to sequences (n_rows, nO).
    """
    if kernel_size < 1:
        place = {"name": "kernel_size", "value": kernel_size, "expected": "1 or more"}
        raise SettingError(Errors.BAD_SETTING.format(**place))
    return Model(
        "span_window",
        forward,
        init=partial(init, init_W),
        dims={"nO": nO, "nI": nI},
        params={"W": None, "b": None},
        attrs={"kernel_size": kernel_size},
    )


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    """Apply the layer. W is (k, nO, nI), b is (nO,)."""
    W: Any = model.get_param("W")
    b: Any = model.get_param("b")
    rows = cast(Floats2d, X.dataXd)
    places = _rows_with_neighbour(model, X)
    Y = matmul(rows, W[0].T)
    Y += b
    for offset, at in enumerate(places, 1):
        Y[at - offset] += matmul(rows[at], W[offset].T)
    is_on = Y > 0
    Y *= is_on
    shape = ArrayInfo.from_array(Y)

    def backprop(dY: OutT) -> InT:
        shape.check_consistency(dY.dataXd)
        d = dY.dataXd * is_on
        dX = matmul(d, W[0])
        dW = model.ops.xp.empty_like(W)
        dW[0] = matmul(d.T, rows)
        for offset, at in enumerate(places, 1):
            d_at = d[at - offset]
            dX[at] += matmul(d_at, W[offset])
            dW[offset] = matmul(d_at.T, rows[at])
        model.inc_grad("W", dW)
        model.inc_grad("b", d.sum(axis=0))
        return Ragged(dX, X.lengths)

    return Ragged(Y, X.lengths), backprop


def _rows_with_neighbour(model: Model[InT, OutT], X: InT) -> list[Any]:
    """Find, for each offset, the rows with that many rows before them in the sequence.

    RETURNS (list[Ints1d]): For offsets 1 to k - 1.
    """
    lengths = model.ops.to_numpy(X.lengths)
    starts = np.cumsum(lengths) - lengths
    position = np.arange(int(lengths.sum())) - np.repeat(starts, lengths)
    offsets = range(1, model.attrs["kernel_size"])
    return [
        model.ops.xp.asarray(np.flatnonzero(position >= offset)) for offset in offsets
    ]


def init(
    init_W: Callable[..., Any],
    model: Model[InT, OutT],
    X: InT | None = None,
    Y: OutT | None = None,
) -> None:
    """Set up the weights as those of one dense layer over the whole window."""
    if X is not None:
        model.set_dim("nI", get_width(X))
    if Y is not None:
        model.set_dim("nO", get_width(Y))
    nI = model.get_dim("nI")
    if model.has_dim("nO") is None:
        model.set_dim("nO", nI)
    nO, k = model.get_dim("nO"), model.attrs["kernel_size"]
    W = init_W(model.ops, (nO, k * nI))
    model.set_param("W", W.reshape(nO, k, nI).transpose(1, 0, 2).copy())
    model.set_param("b", model.ops.alloc1f(nO))
