"""The rows of an encoder as one vector for each token, as spaCy's components take."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d, Ragged

from .doc_rows import DocRows
from .sequences import upload
from .with_nonempty import with_nonempty

InT = DocRows
OutT = list[Floats2d]
NAME = "rows_to_tokens"


def rows_to_tokens(
    pooling: Model[Ragged, Floats2d], grad_factor: float = 1.0
) -> Model[InT, OutT]:
    """Make the layer. A token without any wordpiece becomes zeros.

    pooling (Model[Ragged, Floats2d]): Makes one vector of a token's wordpieces, in all
        windows that have them: reduce_mean.v1, as in spacy-transformers.
    grad_factor (float): What the gradients are multiplied with.
    RETURNS (Model[DocRows, List[Floats2d]]): Rows to the vectors of tokens.
    """
    return Model(
        NAME,
        forward,
        init=init,
        layers=[with_nonempty(pooling)],
        dims={"nO": None},
        attrs={"grad_factor": grad_factor},
    )


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], Floats2d]]:
    """Apply the layer."""
    ops: Any = model.ops
    own = zip(X.starts, X.encodings, strict=False)
    places = np.concatenate([start + one.rows for start, one in own])
    sizes = np.concatenate([one.n_rows for one in X.encodings])
    rows, counts = upload(ops, places, sizes)
    vectors, backprop_pooling = model.layers[0](
        Ragged(X.vectors[rows], counts), is_train
    )
    bounds = [0, *np.cumsum([len(doc) for doc in X.docs]).tolist()]
    Y = [vectors[a:b] for a, b in pairwise(bounds)]

    def backprop(dY: OutT) -> Floats2d:
        d_rows: Any = ops.xp.zeros_like(X.vectors)
        d_found = backprop_pooling(ops.xp.concatenate(dY)).dataXd
        # A row may be one of several tokens.
        ops.scatter_add(d_rows, rows, d_found * model.attrs["grad_factor"])
        return d_rows

    return Y, backprop


def init(model: Model[InT, OutT], X: Any = None, Y: Any = None) -> None:
    """Nothing is to be set up: poolings of tokens have no weights."""
