"""What a text classifier learns of a label: how much, and how surely."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from thinc.api import Model
from thinc.types import Floats2d

from ...errors import SpanftError
from ..cross_entropy import (
    check_smoothing,
    read_weights,
    smoothed,
    softmax_gradient,
)

InT = Floats2d
OutT = Floats2d
ClassWeights = dict[str, float] | list[Any] | Literal["balanced"] | None
NAME = "label_targets"


def label_targets(
    exclusive: bool, class_weights: ClassWeights, label_smoothing: float
) -> Model[InT, OutT]:
    """Make the layer, which changes no score, and only their gradient.

    spaCy's `textcat` knows neither setting. Its gradient is predicted minus true, so
    what is true is known here.

    exclusive (bool): Whether a text has exactly one label.
    class_weights (Optional[Union[Dict[str, float], Literal["balanced"]]]): How much
        each label counts; those that are not named count once.
    label_smoothing (float): The share of a label that is spread over all of them.
    RETURNS (Model[Floats2d, Floats2d]): Scores to the same scores.
    """
    check_smoothing(label_smoothing)
    weights: Any = class_weights
    if weights != "balanced":
        weights = read_weights(weights)
    attrs: dict[str, Any] = {
        "exclusive": exclusive,
        "class_weights": weights,
        "label_smoothing": label_smoothing,
        # One for each label, once the labels are known.
        "weights": None if weights else [],
    }
    return Model(NAME, forward, attrs=attrs)


def target_layers(model: Model[Any, Any]) -> Iterator[Model[InT, OutT]]:
    """Find the layers of this kind in a model."""
    return (layer for layer in model.walk() if layer.name == NAME)


def set_weights(layer: Model[InT, OutT], weights: Sequence[float]) -> None:
    """Say how much each label counts.

    layer (Model[Floats2d, Floats2d]): What `target_layers` found.
    weights (Sequence[float]): The weights, in the order of the scores.
    """
    layer.attrs["weights"] = [float(weight) for weight in weights]


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    """Give the scores as they are."""
    weights = model.attrs["weights"]
    if is_train and weights is None:
        raise SpanftError(
            "A text classifier has class_weights, and nothing has told it the "
            "numbers of its labels. The callback spacy-spanft.prepare_training.v1 "
            "does, as [initialize.after_init]."
        )

    def backprop(dY: OutT) -> InT:
        return _gradient(model, X, dY)

    return X, backprop


def _gradient(model: Model[InT, OutT], X: Any, dY: Any) -> Any:
    """Make the gradient of what is learned of that of what is true."""
    ops: Any = model.ops
    given = model.attrs["weights"]
    # Labels that were added later count once.
    weights = ops.asarray1f([*given, *[1.0] * (X.shape[1] - len(given))])
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
