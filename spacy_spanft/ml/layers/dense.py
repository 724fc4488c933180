"""Dense layers whose matrix products share their threads with the encoder."""

from collections.abc import Callable
from typing import Any

from thinc.api import Model, glorot_uniform_init
from thinc.types import Floats2d
from thinc.util import ArrayInfo, get_width

from .sequences import matmul

Dense = Model[Floats2d, Floats2d]
POOLER = "pooler"


def pooler() -> Dense:
    """Make BERT's pooler, tanh(W x + b), as wide as its input.

    It stands between [CLS] and the layer that classifies it.
    """
    dims: dict[str, int | None] = {"nO": None, "nI": None}
    params: dict[str, Any] = {"W": None, "b": None}
    return Model(POOLER, forward_pooler, init=init, dims=dims, params=params)


def forward_pooler(
    model: Dense, X: Floats2d, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Floats2d]]:
    """Apply the layer. W is (width, width), b is (width,)."""
    W, b = model.get_param("W"), model.get_param("b")
    Y = matmul(X, W.T)
    Y += b
    Y = model.ops.xp.tanh(Y, out=Y)
    shape = ArrayInfo.from_array(Y)

    def backprop(dY: Floats2d) -> Any:
        shape.check_consistency(dY)
        d: Any = dY * (1 - Y**2)
        model.inc_grad("W", matmul(d.T, X))
        model.inc_grad("b", d.sum(axis=0))
        return matmul(d, W)

    return Y, backprop


def feed_forward(hidden_size: int) -> Dense:
    """Make the layer V ReLU(W x + b) + c, as `chain(Relu(n), Linear(n))` in thinc.

    hidden_size (int): The width of the hidden layer, and of the output.
    """
    dims: dict[str, int | None] = {"nO": hidden_size, "nI": None}
    params: dict[str, Any] = dict.fromkeys(["W", "b", "V", "c"])
    return Model("feed_forward", forward_both, init=init, dims=dims, params=params)


def forward_both(
    model: Dense, X: Floats2d, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Floats2d]]:
    """Apply the layer. W is (nO, nI), V is (nO, nO), b and c are (nO,)."""
    W, b, V, c = (model.get_param(name) for name in ("W", "b", "V", "c"))
    hidden = matmul(X, W.T)
    hidden += b
    is_on = hidden > 0
    hidden *= is_on
    Y = matmul(hidden, V.T)
    Y += c
    shape = ArrayInfo.from_array(Y)

    def backprop(dY: Floats2d) -> Any:
        shape.check_consistency(dY)
        d: Any = dY
        d_hidden = matmul(d, V)
        d_hidden *= is_on
        model.inc_grad("V", matmul(d.T, hidden))
        model.inc_grad("c", d.sum(axis=0))
        model.inc_grad("W", matmul(d_hidden.T, X))
        model.inc_grad("b", d_hidden.sum(axis=0))
        return matmul(d_hidden, W)

    return Y, backprop


def init(model: Dense, X: Floats2d | None = None, Y: Any = None) -> None:
    """Set up the weights as those of thinc's own dense layers."""
    if X is not None:
        model.set_dim("nI", get_width(X))
    nI = model.get_dim("nI")
    if model.has_dim("nO") is None:
        model.set_dim("nO", nI)
    nO = model.get_dim("nO")
    for name in model.param_names:
        if name.isupper():
            shape = (nO, nI if name == "W" else nO)
            model.set_param(name, glorot_uniform_init(model.ops, shape))
        else:
            model.set_param(name, model.ops.alloc1f(nO))
