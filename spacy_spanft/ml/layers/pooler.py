"""BERT's pooler: a dense layer with tanh, between [CLS] and what classifies it."""

from collections.abc import Callable
from typing import Any

from thinc.api import Model, glorot_uniform_init
from thinc.types import Floats2d
from thinc.util import ArrayInfo, get_width

from .matmul import matmul

InT = Floats2d
OutT = Floats2d
NAME = "pooler"


def pooler() -> Model[InT, OutT]:
    """Make the layer: tanh(W x + b), as wide as what goes in.

    RETURNS (Model[Floats2d, Floats2d]): (n_docs, width) to the same.
    """
    return Model(
        NAME,
        forward,
        init=init,
        dims={"nO": None, "nI": None},
        params={"W": None, "b": None},
    )


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    """Apply the layer. W is (width, width), b is (width,)."""
    W, b = model.get_param("W"), model.get_param("b")
    rows: Any = X
    Y = matmul(rows, W.T)
    Y += b
    Y = model.ops.xp.tanh(Y, out=Y)
    shape = ArrayInfo.from_array(Y)

    def backprop(dY: OutT) -> InT:
        shape.check_consistency(dY)
        d: Any = dY * (1 - Y**2)
        model.inc_grad("W", matmul(d.T, rows))
        model.inc_grad("b", d.sum(axis=0))
        return matmul(d, W)

    return Y, backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    """Set up the weights as those of thinc's own dense layers."""
    if X is not None:
        model.set_dim("nI", get_width(X))
    width = model.get_dim("nI")
    model.set_dim("nO", width)
    model.set_param("W", glorot_uniform_init(model.ops, (width, width)))
    model.set_param("b", model.ops.alloc1f(width))
