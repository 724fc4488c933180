"""The self-attentive pooling of Lin et al. (2017), over ragged sequences."""

from collections.abc import Callable
from typing import Any

import numpy as np
from thinc.api import Model, glorot_uniform_init
from thinc.types import Floats2d, Ragged
from thinc.util import ArrayInfo, get_width

from .matmul import matmul
from .sequences import known, upload

InT = Ragged
OutT = Floats2d


def attention_sum(hidden_size: int | None = None) -> Model[InT, OutT]:
    """Make the layer: the sum of a_j t_j, a = softmax(w · tanh(W t + b)).

    No sequence may be empty: see `with_nonempty`.

    hidden_size (Optional[int]): How many rows W has; None takes the width.
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
    hidden, weights, own = _attend(model, X)
    Y = ops.reduce_sum(rows * weights, X.lengths)
    shape = ArrayInfo.from_array(Y)

    def backprop(dY: OutT) -> InT:
        shape.check_consistency(dY)
        d_rows: Any = dY[own]
        d_weights = ops.xp.einsum("ij,ij->i", d_rows, rows)[:, None]
        mean = ops.reduce_sum(weights * d_weights, X.lengths)
        d_scores = weights * (d_weights - mean[own])
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
    """Compute what is hidden, the weight of each row, and in which sequence it is."""
    ops: Any = model.ops
    W, b, w = (model.get_param(name) for name in ("W", "b", "w"))
    lengths = known(ops, X).on_host
    # With its number a row gets what its sequence has: thinc's own backprop_reduce_sum
    # makes a GPU wait three times to check the lengths.
    (own,) = upload(ops, np.repeat(np.arange(len(lengths)), lengths))
    # All is done in place: there are many rows where sequences overlap.
    hidden = matmul(X.dataXd, W.T)
    hidden += b
    hidden = ops.xp.tanh(hidden, out=hidden)
    return hidden, _softmax(ops, (hidden @ w)[:, None], X.lengths, own), own


def _softmax(ops: Any, scores: Any, lengths: Any, own: Any) -> Any:
    """Turn scores into weights that sum to one in each sequence, (n_rows, 1)."""
    highest, _ = ops.reduce_max(scores, lengths)
    exps = ops.xp.exp(scores - highest[own])
    return exps / ops.reduce_sum(exps, lengths)[own]


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
    """Compute the weight of each row in its sequence.

    model (Model[Ragged, Floats2d]): The layer.
    X (Ragged): (n_rows, width).
    RETURNS (Floats2d): (n_rows, 1); they sum to one in each sequence.
    """
    return _attend(model, X)[1]
