"""One vector of each Doc without any spans: the ablation of the span encoder."""

from collections.abc import Callable
from typing import Any

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d

from ...errors import SpanftError
from ..alignment import Pieces, align_pieces
from .doc_rows import DocRows
from .pooling import Pooling
from .sequences import Sequences, upload
from .span_pool import flatten, init

InT = DocRows
OutT = Floats2d

_NO_SPANS = np.zeros((0, 2), np.int64)


def text_pool(span_pooling: Pooling, doc_pooling: Pooling) -> Model[InT, OutT]:
    """Make the layer: two convolutions over the whole text, then the maximum.

    It has the parameters of `span_pool` and sees the same rows. What is missing is
    the cut into spans, and the pooling inside them.

    span_pooling (Model[Ragged, Floats2d]): One whose windows are the first convolution.
    doc_pooling (Model[Ragged, Floats2d]): Pools what they give over each Doc.
    RETURNS (Model[DocRows, Floats2d]): Rows to vectors, (n_docs, width).
    """
    if not span_pooling.has_ref("window"):
        raise SpanftError(
            'Without segmentation (segmentation = "none"), the windows of the span '
            "pooling go over the whole text, and this one has no windows. Use "
            '@architectures = "spacy-spanft.CnnPooling.v1" as span_pooling.'
        )
    layers = [span_pooling.get_ref("window"), doc_pooling]
    dims: dict[str, int | None] = {"nO": None, "nI": None}
    return Model("text_pool", forward, init=init, layers=layers, dims=dims)


def pieces_of(X: InT) -> list[Pieces]:
    """Find the pieces of each Doc: without spans, each row is one.

    X (DocRows): The rows of all Docs.
    RETURNS (list[Pieces]): The pieces of each Doc.
    """
    whole = [align_pieces(encoding, _NO_SPANS).rows for encoding in X.encodings]
    return [Pieces(rows, np.ones_like(rows)) for rows in whole]


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], Floats2d]]:
    """Apply the layer."""
    window, doc_pooling = model.layers
    ops: Any = model.ops
    flat, _, sizes = flatten(pieces_of(X), X)
    rows, counts = upload(ops, flat, sizes)
    texts = Sequences(X.vectors[rows], counts, sizes)
    windows, backprop_window = window(texts, is_train)
    Y, backprop_docs = doc_pooling(windows, is_train)

    def backprop(dY: OutT) -> Floats2d:
        d_rows = ops.xp.zeros_like(X.vectors)
        d_rows[rows] = backprop_window(backprop_docs(dY)).dataXd
        return d_rows

    return Y, backprop
