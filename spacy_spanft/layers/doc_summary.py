"""One vector of each Doc, as the encoder sees it: [CLS], or the mean of its tokens."""

from collections.abc import Callable
from typing import Any

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d

from .encoder_rows import DocRows

InT = DocRows
OutT = Floats2d


def doc_summary() -> Model[InT, OutT]:
    """Make the layer. A Doc without any row becomes zeros.

    RETURNS (Model[DocRows, Floats2d]): Rows to vectors, (n_docs, width).
    """
    return Model("doc_summary", forward)


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[Any], Floats2d]]:
    """Apply the layer."""
    ops: Any = model.ops
    starts = np.array(X.starts[:-1])
    lengths = np.diff(X.starts)
    full = np.flatnonzero(lengths)
    if X.has_cls:
        lengths = np.minimum(lengths, 1)  # the mean of the first row alone
    counts = ops.asarray1i(lengths[full])
    places = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    rows = ops.asarray1i(places + np.arange(len(places)))
    Y = ops.xp.zeros((len(starts), X.vectors.shape[1]), X.vectors.dtype)
    if len(full):
        Y[full] = ops.reduce_mean(X.vectors[rows], counts)

    def backprop(dY: Any) -> Floats2d:
        d_rows = ops.xp.zeros_like(X.vectors)
        if len(full):
            d_rows[rows] = ops.backprop_reduce_mean(dY[full], counts)
        return d_rows

    return Y, backprop
