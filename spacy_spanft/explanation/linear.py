"""Layers as the linear maps that they are for a given text.

A maximum, a ReLU and a maxout let the same numbers through as long as the text stays
what it is, an attention has its weights, and a layer norm its scale. So what is
multiplied with the output of such a layer can be multiplied with its input instead: the
gradient, except that the weights of an attention and the scale of a layer norm stay.
"""

from collections.abc import Callable
from typing import Any

from thinc.api import Model
from thinc.types import Ragged

from ..errors import SpanftError
from ..ml.layers.pooling import attend


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
        full = Ragged(X.dataXd, X.lengths[is_full])
        return pull_back(children[0], full, D[:, is_full])
    raise cannot_explain(layer.name)


def _gradient(layer: Model[Any, Any], X: Any, D: Any) -> Any:
    """Go through a layer by its gradient; that of the weights stays in a copy."""
    xp: Any = layer.ops.xp
    rows = X.dataXd if isinstance(X, Ragged) else X
    every: Any = xp.tile(rows, (len(D), 1))  # once for each label
    if isinstance(X, Ragged):
        every = Ragged(every, xp.tile(X.lengths, len(D)))
    Y, backprop = layer.copy()(every, is_train=True)
    dY: Any = D.reshape(-1, D.shape[2]).copy()
    dX: Any = backprop(Ragged(dY, every.lengths) if isinstance(Y, Ragged) else dY)
    return getattr(dX, "dataXd", dX).reshape(len(D), *rows.shape)


def _attention_sum(layer: Model[Any, Any], X: Any, D: Any) -> Any:
    _, weights, owners, _ = attend(layer, X)
    return D[:, owners] * weights


def _layer_norm(layer: Model[Any, Any], X: Any, D: Any) -> Any:
    # thinc adds the same to the variance.
    scale = (X.var(axis=1, keepdims=True) + 1e-8) ** -0.5
    scaled = D * layer.get_param("G") * scale
    return scaled - scaled.mean(axis=2, keepdims=True)


_REDUCTIONS = [f"reduce_{x}" for x in ("first", "last", "mean", "max", "sum")]
_OTHERS = ["feed_forward", "linear", "maxout", "relu", "span_window"]
_LAYERS: dict[str, Callable[[Model[Any, Any], Any, Any], Any]] = {
    **dict.fromkeys([*_REDUCTIONS, *_OTHERS], _gradient),
    **dict.fromkeys(("dropout", "fixed_dropout"), lambda layer, X, D: D),
    "attention_sum": _attention_sum,
    "layernorm": _layer_norm,
}
