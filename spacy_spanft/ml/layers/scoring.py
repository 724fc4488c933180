"""The last layers of classifiers: dropout, scores, and what labels are added to."""

from functools import partial
from typing import Any

import numpy as np
from thinc.api import Linear, Model, Softmax, chain, resizable
from thinc.layers.resizable import resize_linear_weighted
from thinc.types import Floats2d

from ...errors import check_number
from .sequences import Applied, Layer

# The bias of a class added after training. spaCy's models have -5000 here, from which
# Adam, whose steps are as small as the learning rate, never returns.
_UNLIKELY = -10.0


def fixed_dropout(rate: float) -> Layer:
    """Make a dropout layer that `[training] dropout` does not change, as thinc's."""
    expected = "0 or more, and less than 1"
    check_number("dropout", rate, lambda x: 0 <= x < 1, expected)
    # Not called dropout_rate, which spaCy sets before each update.
    return Model("fixed_dropout", forward_dropout, attrs={"rate": rate})


def forward_dropout(model: Layer, X: Floats2d, is_train: bool) -> Applied:
    """Apply the layer. What stays is scaled up, which keeps the mean."""
    rate = model.attrs["rate"]
    if not is_train or not rate:
        return X, lambda dY: dY
    mask = model.ops.asarray(model.ops.get_dropout_mask(X.shape, rate), dtype=X.dtype)
    return X * mask, lambda dY: dY * mask


def zeros_for_nothing(scores: Layer) -> Layer:
    """Wrap a layer so that rows of zeros are scored 0, and nothing learns from them.

    So are empty texts among others, as a batch of nothing but such is by spaCy.
    """
    return Model(
        "zeros_for_nothing",
        forward_zeros,
        init=init_zeros,
        layers=[scores],
        dims={"nI": None, "nO": None},
    )


def forward_zeros(model: Layer, X: Floats2d, is_train: bool) -> Applied:
    """Apply the layer."""
    Y, backprop_scores = model.layers[0](X, is_train)
    is_something: Any = X.any(axis=1, keepdims=True)
    return Y * is_something, lambda dY: backprop_scores(dY * is_something)


def init_zeros(model: Layer, X: Floats2d | None = None, Y: Any = None) -> None:
    """Initialize the layer."""
    model.layers[0].initialize(X=X, Y=Y)


def resizable_output(exclusive: bool, nO: int | None = None) -> tuple[Layer, Layer]:
    """Make a softmax, or a linear layer whose scores are independent.

    RETURNS (tuple[Model, Model]): The layer with the weights, and the one around it
        that can be resized.
    """
    output: Layer = (Softmax if exclusive else Linear)(nO, init_W=small_normal_init)
    # Classes that are added later leave the scores of the others as they are.
    fill = {"W": 0.0, "b": _UNLIKELY if exclusive else 0.0}
    resize = partial(resize_linear_weighted, fill_defaults=fill)
    growing: Any = resizable(output, resize_layer=resize)
    return output, growing


def small_normal_init(ops: Any, shape: tuple[int, ...]) -> Any:
    """Draw the weights as BERT's heads do; from zeros, the encoder learns less."""
    return ops.asarray(np.random.normal(0, 0.02, shape), dtype="f")


def linear_cross_entropy(nO: int | None = None, nI: int | None = None) -> Layer:
    """Build `spacy-spanft.LinearCrossEntropy.v1`: a linear layer, a logistic function.

    It replaces spacy.LinearLogistic.v1 in `spancat`, and predicts as that does. Its
    gradient is that of the cross-entropy; that of the squared error vanishes where all
    scores are small, and as hardly any candidate is a span, they soon are.

    nO (Optional[int]): The number of labels.
    nI (Optional[int]): The width.
    """
    linear: Layer = Linear(nO, nI, init_W=small_normal_init)
    logistic: Layer = Model("logistic_cross_entropy", forward_logistic)
    return chain(linear, logistic)


def forward_logistic(model: Layer, X: Floats2d, is_train: bool) -> Applied:
    """Apply the logistic function, whose slope the gradient of `spancat` includes."""
    ops: Any = model.ops
    return ops.sigmoid(X), lambda dY: dY
