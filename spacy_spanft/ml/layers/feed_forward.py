"""A feed-forward network with one hidden layer."""

from collections.abc import Callable
from typing import Any

from thinc.api import Model, glorot_uniform_init
from thinc.types import Floats2d
from thinc.util import ArrayInfo, get_width

from .matmul import matmul

InT = Floats2d
OutT = Floats2d


def feed_forward(hidden_size: int) -> Model[InT, OutT]:
    """Make the layer: V ReLU(W x + b) + c.

    It is what `chain(Relu(n), Linear(n))` is in thinc, with matrix products that share
    their threads with the encoder.

    hidden_size (int): The width of the hidden layer, and of the output.
    RETURNS (Model[Floats2d, Floats2d]): (n_rows, width) to (n_rows, hidden_size).
    """
    return Model(
        "feed_forward",
        forward,
        init=init,
        dims={"nO": hidden_size, "nI": None},
        params={"W": None, "b": None, "V": None, "c": None},
    )


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    """Apply the layer. W is (nO, nI), V is (nO, nO), b and c are (nO,)."""
    W, b, V, c = (model.get_param(name) for name in ("W", "b", "V", "c"))
    rows: Any = X
    hidden = matmul(rows, W.T)
    hidden += b
    is_on = hidden > 0
    hidden *= is_on
    Y = matmul(hidden, V.T)
    Y += c
    shape = ArrayInfo.from_array(Y)

    def backprop(dY: OutT) -> InT:
        shape.check_consistency(dY)
        d: Any = dY
        d_hidden = matmul(d, V)
        d_hidden *= is_on
        model.inc_grad("V", matmul(d.T, hidden))
        model.inc_grad("c", d.sum(axis=0))
        model.inc_grad("W", matmul(d_hidden.T, rows))
        model.inc_grad("b", d_hidden.sum(axis=0))
        return matmul(d_hidden, W)

    return Y, backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    """Set up the weights as those of thinc's own dense layers."""
    if X is not None:
        model.set_dim("nI", get_width(X))
    nO, nI = model.get_dim("nO"), model.get_dim("nI")
    model.set_param("W", glorot_uniform_init(model.ops, (nO, nI)))
    model.set_param("V", glorot_uniform_init(model.ops, (nO, nO)))
    for name in ("b", "c"):
        model.set_param(name, model.ops.alloc1f(nO))
