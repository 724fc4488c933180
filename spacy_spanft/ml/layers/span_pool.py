"""One vector of each Doc: its pieces pooled, then the pieces among themselves.

`text_pool` is the ablation: the same parameters and rows without any spans.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d, Ragged

from ...errors import SpanftError, check_number
from ..alignment import NO_SPANS, Pieces, align_pieces, get_spans
from .doc_rows import DocRows
from .pooling import Pooling
from .sequences import Sequences, upload

Pool = Model[DocRows, Floats2d]


def span_pool(
    span_pooling: Pooling,
    doc_pooling: Pooling,
    spans_key: str = "ngrams",
    max_pieces: int | None = None,
    max_rows: int | None = None,
) -> Pool:
    """Make the layer; see `spacy-spanft.SpanTextCat.v1`.

    RETURNS (Model[DocRows, Floats2d]): Rows to vectors, (n_docs, width).
    """
    limits = {"max_pieces": max_pieces, "max_rows": max_rows}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, lambda n: n >= 1, "1 or more, or null")
    attrs = {"spans_key": spans_key, **limits}
    return _pool("span_pool", [span_pooling, doc_pooling], attrs)


def text_pool(span_pooling: Pooling, doc_pooling: Pooling) -> Pool:
    """Make the layer: two convolutions over the whole text, then the maximum.

    The windows of `span_pooling` are the first convolution.

    RETURNS (Model[DocRows, Floats2d]): Rows to vectors, (n_docs, width).
    """
    if not span_pooling.has_ref("window"):
        raise SpanftError(
            'Without segmentation (segmentation = "none"), the windows of the span '
            "pooling go over the whole text, and this one has no windows. Use "
            '@architectures = "spacy-spanft.CnnPooling.v1" as span_pooling.'
        )
    return _pool("text_pool", [span_pooling.get_ref("window"), doc_pooling], {})


def _pool(name: str, layers: list[Model[Any, Any]], attrs: dict[str, Any]) -> Pool:
    dims: dict[str, int | None] = {"nO": None, "nI": None}
    return Model(name, forward, init=init, layers=layers, dims=dims, attrs=attrs)


def forward(
    model: Pool, X: DocRows, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Floats2d]]:
    """Apply the layer."""
    first, doc_pooling = model.layers
    ops: Any = model.ops
    flat = flatten(pieces_of(model, X, is_train), X)
    rows, lengths, n_pieces = upload(ops, *flat)
    docs = Sequences(X.vectors[rows], n_pieces, flat[2])
    if _has_spans(model):
        spans = Sequences(docs.dataXd, lengths, flat[1])
        vectors, backprop_first = first(spans, is_train)
        docs = docs.with_rows(vectors)
    else:
        docs, backprop_first = first(docs, is_train)
    Y, backprop_docs = doc_pooling(docs, is_train)

    def backprop(dY: Floats2d) -> Floats2d:
        d_docs = backprop_docs(dY)
        d_pieces = backprop_first(d_docs.dataXd if _has_spans(model) else d_docs)
        d_rows = ops.xp.zeros_like(X.vectors)
        # No row is in two pieces, so there is nothing to add up.
        d_rows[rows] = d_pieces.dataXd
        return d_rows

    return Y, backprop


def _has_spans(model: Pool) -> bool:
    return "spans_key" in model.attrs


def pieces_of(model: Pool, X: DocRows, is_train: bool = False) -> list[Pieces]:
    """Return the pieces of each Doc. Without spans, each row is a piece.

    is_train (bool): Whether a model learns from them.
    """
    if not _has_spans(model):
        whole = [align_pieces(encoding, NO_SPANS).rows for encoding in X.encodings]
        return [Pieces(rows, np.ones_like(rows)) for rows in whole]
    attrs = model.attrs
    return [
        align_pieces(
            encoding,
            get_spans(doc, attrs["spans_key"], is_train=is_train),
            max_pieces=attrs["max_pieces"],
            max_rows=attrs["max_rows"],
        )
        for doc, encoding in zip(X.docs, X.encodings, strict=True)
    ]


def flatten(pieces: list[Pieces], X: DocRows) -> tuple[np.ndarray, ...]:
    """Concatenate the pieces of all Docs, for one trip to the device.

    RETURNS (tuple[np.ndarray, ...]): The rows, the length of each piece, and the
        number of pieces of each Doc.
    """
    rows = [each.rows + start for each, start in zip(pieces, X.starts, strict=False)]
    return (
        np.concatenate(rows),
        np.concatenate([each.lengths for each in pieces]),
        np.array([len(each.lengths) for each in pieces]),
    )


def init(model: Pool, X: Ragged | None = None, Y: Floats2d | None = None) -> None:
    """Initialize both layers with a sequence as wide as the encoder's rows."""
    first, second = model.layers
    first.initialize(X=X)
    if X is not None:
        pooled = first.predict(X)
        X = pooled if isinstance(pooled, Ragged) else Ragged(pooled, X.lengths)
    second.initialize(X=X)
