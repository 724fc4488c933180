"""Dropout at a rate of its own, whatever `[training] dropout` says."""

from collections.abc import Callable

from thinc.api import Model
from thinc.types import Floats2d

from ...errors import check_number

InT = Floats2d
OutT = Floats2d


def fixed_dropout(rate: float) -> Model[InT, OutT]:
    """Make the layer.

    spaCy sets every attribute called dropout_rate to that of `[training]` before each
    update, so that thinc's Dropout forgets what it was made with.

    rate (float): The share of the numbers that become zero in training.
    RETURNS (Model[Floats2d, Floats2d]): The same shape.
    """
    expected = "0 or more, and less than 1"
    check_number("dropout", rate, lambda x: 0 <= x < 1, expected)
    return Model("fixed_dropout", forward, attrs={"rate": rate})


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    """Apply the layer: what stays is scaled up, so that the mean stays too."""
    rate = model.attrs["rate"]
    if not is_train or not rate:
        return X, lambda dY: dY
    mask = model.ops.asarray(model.ops.get_dropout_mask(X.shape, rate), dtype=X.dtype)
    return X * mask, lambda dY: dY * mask
