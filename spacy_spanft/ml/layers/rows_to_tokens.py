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


def rows_to_tokens(
    pooling: Model[Ragged, Floats2d], grad_factor: float = 1.0
) -> Model[InT, OutT]:
    """Make the layer. A token without any wordpiece becomes zeros.

    A token's wordpieces are pooled in all windows that have them, as in
    spacy-transformers.

    RETURNS (Model[DocRows, List[Floats2d]]): Rows to the vectors of tokens.
    """
    return Model(
        "rows_to_tokens",
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
    pairs = zip(X.starts, X.encodings, strict=False)
    indices = np.concatenate([start + encoding.rows for start, encoding in pairs])
    sizes = np.concatenate([encoding.n_rows for encoding in X.encodings])
    rows, counts = upload(ops, indices, sizes)
    wordpieces = Ragged(X.vectors[rows], counts)
    vectors, backprop_pooling = model.layers[0](wordpieces, is_train)
    bounds = [0, *np.cumsum([len(doc) for doc in X.docs]).tolist()]

    def backprop(dY: OutT) -> Floats2d:
        d_rows: Any = ops.xp.zeros_like(X.vectors)
        d_wordpieces = backprop_pooling(ops.xp.concatenate(dY)).dataXd
        # A row may be one of several tokens.
        ops.scatter_add(d_rows, rows, d_wordpieces * model.attrs["grad_factor"])
        return d_rows

    return [vectors[a:b] for a, b in pairwise(bounds)], backprop


def init(model: Model[InT, OutT], X: Any = None, Y: Any = None) -> None:
    """Do nothing: poolings of tokens have no weights."""
