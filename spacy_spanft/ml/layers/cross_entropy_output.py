"""The last layer of a `spancat`: probabilities that learn by cross-entropy."""

from collections.abc import Callable
from typing import Any

from thinc.api import Linear, Model, chain
from thinc.types import Floats2d

from .resizable_output import small_normal_init

InT = Floats2d
OutT = Floats2d


def linear_cross_entropy(
    nO: int | None = None, nI: int | None = None
) -> Model[InT, OutT]:
    """Build `spacy-spanft.LinearCrossEntropy.v1`: a linear layer, a logistic function.

    It takes the place of spacy.LinearLogistic.v1, and predicts as that does. But of
    what `spancat` gives as gradient, predicted minus true, it makes that of the
    cross-entropy, as thinc's Softmax does. spaCy's own makes that of the squared error,
    which is next to nothing as soon as all scores are small: as hardly any candidate is
    a span, the first steps can bring it to where it learns no more.

    nO (Optional[int]): The number of labels.
    nI (Optional[int]): The width.
    RETURNS (Model[Floats2d, Floats2d]): (n_spans, width) to (n_spans, n_labels).
    """
    linear: Model[InT, Floats2d] = Linear(nO, nI, init_W=small_normal_init)
    return chain(linear, Model("logistic_cross_entropy", forward))


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    """Apply the logistic function; its slope is part of the gradient given already."""
    ops: Any = model.ops
    return ops.sigmoid(X), lambda dY: dY
