"""A wrapper that lets any pooling take empty sequences."""

from collections.abc import Callable
from typing import Any

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d, Ragged

from .sequences import Sequences, known, upload

InT = Ragged
OutT = Floats2d


def with_nonempty(pooling: Model[InT, OutT]) -> Model[InT, OutT]:
    """Wrap a pooling so that it never sees an empty sequence, which becomes zeros.

    pooling (Model[Ragged, Floats2d]): Any pooling, such as thinc's reduce_max.v1.
    RETURNS (Model[Ragged, Floats2d]): (n_rows, width) to (n_sequences, width).
    """
    return Model(
        f"with_nonempty({pooling.name})",
        forward,
        init=init,
        layers=[pooling],
        dims={"nO": None, "nI": None},
    )


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    """Apply the pooling to what is not empty."""
    pooling: Model[InT, OutT] = model.layers[0]
    sequences = known(model.ops, X)
    rows: Any = sequences.dataXd
    sizes = sequences.on_host
    is_full = sizes > 0
    if not is_full.any():
        width = pooling.maybe_get_dim("nO") or rows.shape[1]
        nothing = model.ops.alloc2f(len(sizes), width, dtype=rows.dtype)
        return nothing, lambda dY: sequences
    if is_full.all():
        return pooling(sequences, is_train)  # type: ignore[return-value]
    # Numbers, not a mask, whose number of rows a GPU would have to count each time.
    full, lengths = upload(model.ops, np.flatnonzero(is_full), sizes[is_full])
    filled = Sequences(rows, lengths, sizes[is_full])
    pooled, backprop_pooling = pooling(filled, is_train)
    Y = model.ops.alloc2f(len(sizes), pooled.shape[1], dtype=pooled.dtype)
    Y[full] = pooled

    def backprop(dY: OutT) -> InT:
        return sequences.with_rows(backprop_pooling(dY[full]).dataXd)

    return Y, backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    """Initialize the pooling."""
    if X is not None:
        X = Ragged(X.dataXd, X.lengths[X.lengths > 0])
    model.layers[0].initialize(X=X, Y=Y)
