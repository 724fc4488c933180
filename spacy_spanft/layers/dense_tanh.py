"""A dense layer with a hyperbolic tangent, as wide as its input."""

from collections.abc import Callable

from thinc.api import Model, glorot_uniform_init
from thinc.types import Floats2d
from thinc.util import ArrayInfo, get_width

from .matmul import matmul

InT = Floats2d
OutT = Floats2d


def dense_tanh() -> Model[InT, OutT]:
    """Make the layer: tanh(W x + b).

    RETURNS (Model[Floats2d, Floats2d]): (n_rows, width) to (n_rows, width).
    """
    return Model(
        "dense_tanh",
        forward,
        init=init,
        dims={"nO": None, "nI": None},
        params={"W": None, "b": None},
    )


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    """Apply the layer. W is (nO, nI), b is (nO,)."""
    W, b = model.get_param("W"), model.get_param("b")
    Y = model.ops.xp.tanh(matmul(X, W.T) + b)
    shape = ArrayInfo.from_array(Y)

    def backprop(dY: OutT) -> InT:
        shape.check_consistency(dY)
        d = dY * (1 - Y**2)
        model.inc_grad("W", matmul(d.T, X))
        model.inc_grad("b", d.sum(axis=0))
        return matmul(d, W)

    return Y, backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    """Set up the weights."""
    if X is not None:
        model.set_dim("nI", get_width(X))
    width = model.get_dim("nI")
    model.set_dim("nO", width)
    model.set_param("W", glorot_uniform_init(model.ops, (width, width)))
    model.set_param("b", model.ops.alloc1f(width))
