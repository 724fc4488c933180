"""The self-attentive pooling of Lin et al. (2017), over ragged sequences."""

from collections.abc import Callable
from typing import Any

import numpy as np
from thinc.api import Model, glorot_uniform_init
from thinc.types import Floats2d, Ragged
from thinc.util import ArrayInfo, get_width

from .sequences import known, matmul, upload

InT = Ragged
OutT = Floats2d


def attention_sum(hidden_size: int | None = None) -> Model[InT, OutT]:
    """Make the layer: the sum of a_j t_j, a = softmax(w · tanh(W t + b)).

    No sequence may be empty: see `with_nonempty`.

    hidden_size (Optional[int]): The number of rows of W; None takes the width.
    RETURNS (Model[Ragged, Floats2d]): (n_rows, width) to (n_sequences, width).
    """
    return Model(
        "attention_sum",
        forward,
        init=init,
        dims={"nO": None, "nI": None, "nH": hidden_size},
        params={"W": None, "b": None, "w": None},
    )


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    """Apply the layer. W is (hidden_size, width), b and w are (hidden_size,)."""
    ops: Any = model.ops
    W, w = model.get_param("W"), model.get_param("w")
    rows: Any = X.dataXd
    hidden, weights, sequence_of = _attend(model, X)
    Y = ops.reduce_sum(rows * weights, X.lengths)
    shape = ArrayInfo.from_array(Y)

    def backprop(dY: OutT) -> InT:
        shape.check_consistency(dY)
        d_rows: Any = dY[sequence_of]
        d_weights = ops.xp.einsum("ij,ij->i", d_rows, rows)[:, None]
        mean = ops.reduce_sum(weights * d_weights, X.lengths)
        d_scores = weights * (d_weights - mean[sequence_of])
        model.inc_grad("w", (d_scores.T @ hidden)[0])
        d_hidden = d_scores * w
        d_hidden *= 1 - hidden**2
        model.inc_grad("W", matmul(d_hidden.T, rows))
        model.inc_grad("b", d_hidden.sum(axis=0))
        d_rows *= weights
        d_rows += matmul(d_hidden, W)
        return Ragged(d_rows, X.lengths)

    return Y, backprop


def _attend(model: Model[InT, OutT], X: InT) -> tuple[Any, Any, Any]:
    """Return the hidden layer, the weight of each row, and its sequence's number."""
    ops: Any = model.ops
    W, b, w = (model.get_param(name) for name in ("W", "b", "w"))
    lengths = known(ops, X).on_host
    # Indexing by these numbers replaces thinc's backprop_reduce_sum, which makes a GPU
    # wait three times to check the lengths.
    (sequence_of,) = upload(ops, np.repeat(np.arange(len(lengths)), lengths))
    # In place: there are many rows where sequences overlap.
    hidden = matmul(X.dataXd, W.T)
    hidden += b
    hidden = ops.xp.tanh(hidden, out=hidden)
    scores = (hidden @ w)[:, None]
    highest, _ = ops.reduce_max(scores, X.lengths)
    exps = ops.xp.exp(scores - highest[sequence_of])
    return hidden, exps / ops.reduce_sum(exps, X.lengths)[sequence_of], sequence_of


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    """Set up the weights."""
    if X is not None:
        model.set_dim("nI", get_width(X))
    width = model.get_dim("nI")
    model.set_dim("nO", width)
    if model.has_dim("nH") is None:
        model.set_dim("nH", width)
    hidden_size = model.get_dim("nH")
    model.set_param("W", glorot_uniform_init(model.ops, (hidden_size, width)))
    model.set_param("b", model.ops.alloc1f(hidden_size))
    w: Any = glorot_uniform_init(model.ops, (1, hidden_size))
    model.set_param("w", w[0])


def weights_of(model: Model[InT, OutT], X: InT) -> Any:
    """Return the weight of each row, (n_rows, 1); each sequence's sum to one."""
    return _attend(model, X)[1]
