"""Scores of 0 for a text without tokens, whatever else is in its batch."""

from collections.abc import Callable
from typing import Any

from thinc.api import Model
from thinc.types import Floats2d

InT = Floats2d
OutT = Floats2d


def zeros_for_nothing(scores: Model[InT, OutT]) -> Model[InT, OutT]:
    """Wrap a layer so that rows of zeros, all of them, are scored 0 and learn nothing.

    A text without tokens has such features. spaCy gives zeros to a batch of such texts
    without asking the model: one of them beside others gets the same answer.

    scores (Model[Floats2d, Floats2d]): The layer.
    RETURNS (Model[Floats2d, Floats2d]): The layer for rows that may be of nothing.
    """
    return Model(
        "zeros_for_nothing",
        forward,
        init=init,
        layers=[scores],
        dims={"nI": None, "nO": None},
    )


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    """Apply the layer."""
    Y, backprop_scores = model.layers[0](X, is_train)
    is_something: Any = X.any(axis=1, keepdims=True)

    def backprop(dY: OutT) -> Any:
        return backprop_scores(dY * is_something)

    return Y * is_something, backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    """Initialize the layer."""
    model.layers[0].initialize(X=X, Y=Y)
