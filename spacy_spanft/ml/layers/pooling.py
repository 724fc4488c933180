"""Poolings of sequences: (n_rows, width) to (n_sequences, width).

They have the type of thinc's own reductions, so that reduce_mean.v1 and the like can
replace them in a config.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from thinc.api import (
    Model,
    chain,
    concatenate,
    glorot_uniform_init,
    reduce_first,
    reduce_last,
    reduce_max,
)
from thinc.types import Floats2d, Ragged
from thinc.util import ArrayInfo, get_width

from ...errors import check_number
from .sequences import (
    Applied,
    Layer,
    Pooled,
    Pooling,
    known,
    matmul,
    upload,
    with_nonempty,
)
from .span_window import span_window

POOLER = "pooler"


def cnn_pooling(kernel_size: int = 3) -> Pooling:
    """Convolve each sequence, and take the maximum over it.

    kernel_size (int): The number of rows of a window.
    """
    window = span_window(kernel_size)
    pooling: Pooling = with_nonempty(chain(window, reduce_max()))
    pooling.set_ref("window", window)
    return pooling


def attention_pooling() -> Pooling:
    """Average each sequence by softmax(w · tanh(W t + b)) (Lin et al., 2017)."""
    return with_nonempty(attention_sum())


def max_pooling() -> Pooling:
    """Take the maximum over each sequence."""
    return with_nonempty(reduce_max())


def first_pooling() -> Pooling:
    """Take the first row of each sequence; a token without wordpieces becomes zeros."""
    return with_nonempty(reduce_first())


def boundary_attention_reducer(hidden_size: int = 128) -> Pooling:
    """Build `spacy-spanft.BoundaryAttentionReducer.v1`: [s; e; g] of each span.

    s and e come from its first and its last token, each through a feed-forward network,
    and g is the attention over all of its tokens (Jurafsky and Martin, chapter 11).

    hidden_size (int): The width of s, of e, and of the attention's hidden layer.
    """
    check_number("hidden_size", hidden_size, lambda size: size >= 1, "1 or more")
    start: Pooling = chain(reduce_first(), feed_forward(hidden_size))
    end: Pooling = chain(reduce_last(), feed_forward(hidden_size))
    parts = start, end, attention_sum(hidden_size)
    return with_nonempty(concatenate(*parts))


def attention_sum(hidden_size: int | None = None) -> Pooling:
    """Make the layer: the sum of a_j t_j, a = softmax(w · tanh(W t + b)).

    hidden_size (Optional[int]): The number of rows of W; None takes the width.
    """
    return Model(
        "attention_sum",
        forward_attention,
        init=init_attention,
        dims={"nO": None, "nI": None, "nH": hidden_size},
        params={"W": None, "b": None, "w": None},
    )


def forward_attention(model: Pooling, X: Ragged, is_train: bool) -> Pooled:
    """Apply the layer. W is (hidden_size, width), b and w are (hidden_size,)."""
    ops: Any = model.ops
    w = model.get_param("w")
    rows: Any = X.dataXd
    hidden, weights, sequence_of, backprop_hidden = attend(model, X)
    Y = ops.reduce_sum(rows * weights, X.lengths)
    shape = ArrayInfo.from_array(Y)

    def backprop(dY: Floats2d) -> Ragged:
        shape.check_consistency(dY)
        d_rows: Any = dY[sequence_of]
        d_weights = ops.xp.einsum("ij,ij->i", d_rows, rows)[:, None]
        mean = ops.reduce_sum(weights * d_weights, X.lengths)
        d_scores = weights * (d_weights - mean[sequence_of])
        model.inc_grad("w", (d_scores.T @ hidden)[0])
        d_hidden = d_scores * w
        d_hidden *= 1 - hidden**2
        d_rows *= weights
        d_rows += backprop_hidden(d_hidden)
        return Ragged(d_rows, X.lengths)

    return Y, backprop


def attend(model: Pooling, X: Ragged) -> tuple[Any, Any, Any, Callable[[Any], Any]]:
    """Return the hidden layer, the weight of each row, and its sequence's number."""
    ops: Any = model.ops
    lengths = known(ops, X).on_host
    # Indexing by these numbers replaces thinc's backprop_reduce_sum, which makes a GPU
    # wait three times to check the lengths.
    (sequence_of,) = upload(ops, np.repeat(np.arange(len(lengths)), lengths))
    # In place: there are many rows where sequences overlap.
    hidden, backprop_hidden = _affine(model, "W", "b", X.dataXd)
    hidden = ops.xp.tanh(hidden, out=hidden)
    scores = (hidden @ model.get_param("w"))[:, None]
    highest, _ = ops.reduce_max(scores, X.lengths)
    exps = ops.xp.exp(scores - highest[sequence_of])
    weights = exps / ops.reduce_sum(exps, X.lengths)[sequence_of]
    return hidden, weights, sequence_of, backprop_hidden


def init_attention(model: Pooling, X: Ragged | None = None, Y: Any = None) -> None:
    """Set up the weights."""
    if X is not None:
        model.set_dim("nI", get_width(X))
    width = model.get_dim("nI")
    model.set_dim("nO", width)
    hidden_size = model.maybe_get_dim("nH") or width
    model.set_dim("nH", hidden_size)
    model.set_param("W", glorot_uniform_init(model.ops, (hidden_size, width)))
    model.set_param("b", model.ops.alloc1f(hidden_size))
    w: Any = glorot_uniform_init(model.ops, (1, hidden_size))
    model.set_param("w", w[0])


def pooler() -> Layer:
    """Make BERT's pooler, tanh(W x + b), as wide as its input."""
    dims: dict[str, int | None] = {"nO": None, "nI": None}
    params: dict[str, Any] = {"W": None, "b": None}
    return Model(POOLER, forward_pooler, init=init_dense, dims=dims, params=params)


def forward_pooler(model: Layer, X: Floats2d, is_train: bool) -> Applied:
    """Apply the layer. W is (width, width), b is (width,)."""
    Y, backprop_affine = _affine(model, "W", "b", X)
    Y = model.ops.xp.tanh(Y, out=Y)
    return Y, lambda dY: backprop_affine(dY * (1 - Y**2))


def feed_forward(hidden_size: int) -> Layer:
    """Make the layer V ReLU(W x + b) + c, as `chain(Relu(n), Linear(n))` in thinc."""
    dims: dict[str, int | None] = {"nO": hidden_size, "nI": None}
    params: dict[str, Any] = dict.fromkeys(["W", "b", "V", "c"])
    init = init_dense
    return Model("feed_forward", forward_both, init=init, dims=dims, params=params)


def forward_both(model: Layer, X: Floats2d, is_train: bool) -> Applied:
    """Apply the layer. W is (nO, nI), V is (nO, nO), b and c are (nO,)."""
    hidden, backprop_first = _affine(model, "W", "b", X)
    is_on = hidden > 0
    hidden *= is_on
    Y, backprop_second = _affine(model, "V", "c", hidden)
    return Y, lambda dY: backprop_first(backprop_second(dY) * is_on)


def init_dense(model: Layer, X: Floats2d | None = None, Y: Any = None) -> None:
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


def _affine(model: Any, W: str, b: str, X: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Apply W x + b to rows, with the threads of the encoder."""
    Y = matmul(X, model.get_param(W).T)
    Y += model.get_param(b)
    shape = ArrayInfo.from_array(Y)

    def backprop(dY: Any) -> Any:
        shape.check_consistency(dY)
        model.inc_grad(W, matmul(dY.T, X))
        model.inc_grad(b, dY.sum(axis=0))
        return matmul(dY, model.get_param(W))

    return Y, backprop
