"""Layers as the linear maps that they are for a given text.

A maximum, a ReLU and a maxout let the same numbers through as long as the text stays
what it is, an attention has its weights, and a layer norm its scale. So what is
multiplied with the output of such a layer can be multiplied with its input instead: the
gradient, except that the weights of an attention and the scale of a layer norm stay.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from thinc.api import Model
from thinc.types import Ragged

from ..errors import SpanftError
from ..ml.layers.pooling import weights_of
from ..ml.layers.sequences import known, upload
from ..ml.layers.span_window import neighbors


def cannot_explain(layer: str) -> SpanftError:
    """Return the error of a layer that is not a linear map for a given text."""
    return SpanftError(
        f"A score cannot be traced through the layer {layer!r}. Use the architectures "
        "and layers that the guide to explanations lists."
    )


def pull_back(layer: Model[Any, Any], X: Any, D: Any) -> Any:
    """Bring what is multiplied with a layer's output back to its input.

    D (Floats3d): What its output is multiplied with for each label, (n_labels, m, nO).
    RETURNS (Floats3d): What its input is to be multiplied with, (n_labels, n, nI).
    """
    children = layer.layers
    names = [child.name for child in children]
    if layer.name in _LAYERS:
        return _LAYERS[layer.name](layer, X, D)
    if len(children) > 1 and layer.name == ">>".join(names):
        inputs = [X]
        for child in children[:-1]:
            inputs.append(child.predict(inputs[-1]))
        for child, given in zip(reversed(children), reversed(inputs), strict=True):
            D = pull_back(child, given, D)
        return D
    if len(children) > 1 and layer.name == "|".join(names):
        total, start = 0, 0
        for child in children:
            end = start + child.predict(X).shape[1]
            total = total + pull_back(child, X, D[:, :, start:end])
            start = end
        return total
    if layer.name.startswith("with_nonempty("):
        # None of what is pooled is in the sequences without rows.
        is_full = X.lengths > 0
        return pull_back(
            children[0], Ragged(X.dataXd, X.lengths[is_full]), D[:, is_full]
        )
    raise cannot_explain(layer.name)


def _reduction(layer: Model[Any, Any], X: Any, D: Any) -> Any:
    """Go through one of thinc's reductions, which have no weights, by its gradient."""
    xp: Any = layer.ops.xp
    _, backprop = layer(X, is_train=True)
    # Copies: what is broadcast may not be written to, and thinc's kernels ask for that.
    return xp.stack([backprop(d.copy()).dataXd for d in D])


def _attention_sum(layer: Model[Any, Any], X: Any, D: Any) -> Any:
    lengths = layer.ops.to_numpy(X.lengths)
    (owners,) = upload(layer.ops, np.repeat(np.arange(len(lengths)), lengths))
    return D[:, owners] * weights_of(layer, X)


def _span_window(layer: Model[Any, Any], X: Any, D: Any) -> Any:
    W: Any = layer.get_param("W")
    sequences = known(layer.ops, X)
    D = D * (layer.predict(sequences).dataXd > 0)
    pulled = D @ W[layer.attrs["before"]]
    for position, at, offset in neighbors(layer, sequences.on_host):
        pulled[:, at] += D[:, at - offset] @ W[position]
    return pulled


def _linear(layer: Model[Any, Any], X: Any, D: Any) -> Any:
    return D @ layer.get_param("W")


def _relu(layer: Model[Any, Any], X: Any, D: Any) -> Any:
    return (D * (layer.predict(X) > 0)) @ layer.get_param("W")


def _feed_forward(layer: Model[Any, Any], X: Any, D: Any) -> Any:
    W, b, V = (layer.get_param(name) for name in ("W", "b", "V"))
    return ((D @ V) * (X @ W.T + b > 0)) @ W


def _maxout(layer: Model[Any, Any], X: Any, D: Any) -> Any:
    W: Any = layer.get_param("W")
    b: Any = layer.get_param("b")
    n_out, n_pieces, n_in = W.shape
    flat = W.reshape(n_out * n_pieces, n_in)
    pieces = (X @ flat.T).reshape(len(X), n_out, n_pieces) + b
    best = pieces.argmax(axis=2)[:, :, None]
    is_best = layer.ops.xp.arange(n_pieces) == best
    return (D[:, :, :, None] * is_best).reshape(*D.shape[:2], -1) @ flat


def _layer_norm(layer: Model[Any, Any], X: Any, D: Any) -> Any:
    # thinc adds the same to the variance.
    scale = (X.var(axis=1, keepdims=True) + 1e-8) ** -0.5
    scaled = D * layer.get_param("G") * scale
    return scaled - scaled.mean(axis=2, keepdims=True)


_LAYERS: dict[str, Callable[[Model[Any, Any], Any, Any], Any]] = {
    **dict.fromkeys(("reduce_first", "reduce_last"), _reduction),
    **dict.fromkeys(("reduce_mean", "reduce_max", "reduce_sum"), _reduction),
    **dict.fromkeys(("dropout", "fixed_dropout"), lambda layer, X, D: D),
    "attention_sum": _attention_sum,
    "feed_forward": _feed_forward,
    "layernorm": _layer_norm,
    "linear": _linear,
    "maxout": _maxout,
    "relu": _relu,
    "span_window": _span_window,
}
