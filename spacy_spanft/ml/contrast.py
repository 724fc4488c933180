"""Contrast: a text classifier also learns which texts of a batch have the same label.

SetFit (Tunstall et al., 2022, "Efficient Few-Shot Learning Without Prompts") takes the
pairs of texts one by one. Here all pairs of a batch are compared at once, so that some
hundred steps do what it does in thousands.
"""

from collections.abc import Callable
from typing import Any

from thinc.api import Model
from thinc.types import Floats2d

from ..errors import check_number

Layer = Model[Floats2d, Floats2d]


def with_contrast(scores: Layer, weight: float, n_vectors: int, position: int) -> Layer:
    """Wrap a layer that scores vectors side by side, so that one of them is compared.

    weight (float): How much it counts beside the cross-entropy.
    n_vectors, position (int): How many vectors of the same width a row holds, and which
        of them is the text's.
    """
    check_number("contrast", weight, lambda x: x > 0, "0 or more")
    return Model(
        "with_contrast",
        forward,
        layers=[scores],
        attrs={"weight": weight, "n_vectors": n_vectors, "position": position},
    )


def forward(
    model: Layer, X: Floats2d, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Floats2d]]:
    """Score, and add the gradient of the contrast to that of the scores.

    As spaCy's gradient is predicted minus true, it tells the layer the truth. Texts
    without a label, and empty ones, are compared with none.
    """
    xp: Any = model.ops.xp
    Y, backprop_scores = model.layers[0](X, is_train)
    width = X.shape[1] // model.attrs["n_vectors"]
    start = width * model.attrs["position"]

    def backprop(dY: Any) -> Floats2d:
        dX: Any = backprop_scores(dY)
        truths = Y - dY
        known = xp.flatnonzero((truths.sum(axis=1) > 0.5) & X.any(axis=1))
        unit, backprop_unit = normalized(xp, X[known, start : start + width])
        d_unit = contrast_gradient(xp, unit, truths[known])
        # The cross-entropy is summed over the texts, too.
        scale = model.attrs["weight"] * len(known)
        dX[known, start : start + width] += scale * backprop_unit(d_unit)
        return dX

    return Y, backprop


def normalized(xp: Any, X: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Return vectors of length 1, and the callback for their gradient."""
    lengths = xp.maximum(xp.linalg.norm(X, axis=1, keepdims=True), 1e-6)
    unit = X / lengths

    def backprop(dY: Any) -> Any:
        return (dY - (dY * unit).sum(axis=1, keepdims=True) * unit) / lengths

    return unit, backprop


def contrast_gradient(xp: Any, unit: Any, truths: Any) -> Any:
    """Return the gradient of the loss of contrast with respect to vectors of length 1.

    The cosine of two vectors should be 1 if the texts have the same label, or else 0.
    The loss is the mean square of what is missing, over the pairs with the same label
    and over the others, halved.

    truths (Floats2d): 1 for the label of each text, (n, n_labels).
    """
    same = truths @ truths.T
    others = 1 - xp.eye(len(same), dtype=same.dtype)
    alike, other = same * others, (1 - same) * others
    weights = alike / xp.maximum(1, alike.sum()) + other / xp.maximum(1, other.sum())
    return 2 * (weights * (unit @ unit.T - same)) @ unit  # each pair occurs twice
