"""Cross-entropy with weights of classes and smoothed labels."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d

from ..errors import SpanftError, check_number, listed, shown
from .alignment import Ints
from .layers.sequences import Applied, Layer, upload

Weights = dict[str, float]
ClassWeights = dict[str, float] | list[Any] | Literal["balanced"] | None
NAME = "label_targets"


def check_smoothing(smoothing: object) -> None:
    """Raise for a share of the labels that cannot be spread."""
    expected = "a number from 0 to below 1"
    check_number("label_smoothing", smoothing, lambda x: 0 <= x < 1, expected)


def read_weights(weights: Mapping[str, Any] | Sequence[Any] | None) -> Weights:
    """Read the weights of classes by name, or as pairs for names such as "a:b"."""
    for pair in weights if isinstance(weights, list | tuple) else ():
        is_pair = isinstance(pair, list | tuple) and len(pair) == 2
        if not is_pair or not isinstance(pair[0], str):
            raise SpanftError(
                f"class_weights has {shown(pair)}, which must be a pair of a label "
                'and its weight: class_weights = [["LABEL", 3.0], ...]'
            )
    by_name: Weights = dict(weights or {})
    for name, weight in by_name.items():
        setting = f"class_weights.{name}"
        check_number(setting, weight, lambda x: 0 < x < np.inf, "a number above 0")
    return by_name


def check_weight_names(name: str, weights: Weights, labels: Sequence[str]) -> None:
    """Raise for a weight of a label that the component `name` does not have."""
    for label in weights:
        if label not in labels:
            raise SpanftError(
                f"{name!r} has no label {shown(label)} for its class_weights, but has "
                f"{listed(labels)}."
            )


def smoothed(truths: Any, smoothing: float, n_classes: int) -> Any:
    """Spread a share of each label over all classes: 2 where each is right or not."""
    return truths * (1 - smoothing) + smoothing / n_classes


def softmax_gradient(probabilities: Any, targets: Any, weights: Any) -> Any:
    """Compute that of the logits, as PyTorch's CrossEntropyLoss before the mean."""
    weighted = targets * weights
    return weighted.sum(axis=1)[:, None] * probabilities - weighted


def cross_entropy(
    ops: Any, probabilities: Any, truths: Ints, weights: list[float], smoothing: float
) -> tuple[float, Any]:
    """Compute the loss, summed, and its gradient with respect to the logits.

    probabilities (Floats2d): The softmax, (n, n_classes).
    truths (Ints): The number of each class, -1 where nothing is known, (n,).
    """
    known = np.flatnonzero(truths >= 0)
    rows, columns = upload(ops, known, truths[known])
    predicted = probabilities[rows]
    targets = ops.xp.zeros_like(predicted)
    targets[ops.xp.arange(len(known)), columns] = 1
    targets = smoothed(targets, smoothing, predicted.shape[1])
    class_weights = ops.asarray1f(weights)
    gradient = ops.xp.zeros_like(probabilities)
    gradient[rows] = softmax_gradient(predicted, targets, class_weights)
    logs = ops.xp.log(ops.xp.maximum(predicted, np.finfo(predicted.dtype).tiny))
    return float(-(targets * class_weights * logs).sum()), gradient


def label_targets(
    exclusive: bool, class_weights: ClassWeights, label_smoothing: float
) -> Layer:
    """Make a layer that changes no score, and only their gradient.

    spaCy's `textcat` knows neither setting. Its gradient is predicted minus true, which
    tells the layer the truth. For the settings see `spacy-spanft.SpanTextCat.v1`.
    """
    check_smoothing(label_smoothing)
    weights: Any = class_weights
    if weights != "balanced":
        weights = read_weights(weights)
    attrs: dict[str, Any] = {
        "exclusive": exclusive,
        "class_weights": weights,
        "label_smoothing": label_smoothing,
        # That of each label, in the order of the scores, once the labels are known.
        "weights": None if weights else [],
    }
    return Model(NAME, forward_targets, attrs=attrs)


def target_layers(model: Model[Any, Any]) -> Iterator[Layer]:
    """Yield the layers of this kind in a model."""
    return (layer for layer in model.walk() if layer.name == NAME)


def forward_targets(model: Layer, X: Floats2d, is_train: bool) -> Applied:
    """Return the scores as they are."""
    if is_train and model.attrs["weights"] is None:
        raise SpanftError(
            "A text classifier has class_weights, but does not know the numbers of its "
            "labels yet. Set [initialize.after_init] to the callback "
            "spacy-spanft.prepare_training.v1."
        )
    return X, lambda dY: _gradient(model, X, dY)


def _gradient(model: Layer, X: Any, dY: Any) -> Any:
    """Replace the truth in the gradient by the weighted and smoothed truth."""
    ops: Any = model.ops
    known = model.attrs["weights"]
    # Labels that were added later count once.
    weights = ops.asarray1f([*known, *[1.0] * (X.shape[1] - len(known))])
    truths, smoothing = X - dY, model.attrs["label_smoothing"]
    if model.attrs["exclusive"]:
        d = softmax_gradient(X, smoothed(truths, smoothing, X.shape[1]), weights)
        is_known = (dY != 0).any(axis=1)[:, None]
    else:
        # As PyTorch's pos_weight: a label counts more where it holds.
        counts = 1 + (weights - 1) * truths
        d = counts * (X - smoothed(truths, smoothing, 2))
        is_known = dY != 0
    # spaCy makes the gradient of what is not annotated zero.
    return d * is_known
