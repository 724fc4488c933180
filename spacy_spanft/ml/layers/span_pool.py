"""One vector of each Doc: its pieces pooled, then the pieces among themselves."""

from collections.abc import Callable
from typing import Any

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d, Ragged

from ...errors import SpanftError, shown
from ..alignment import Pieces, align_pieces, get_spans
from .doc_rows import DocRows
from .pooling import Pooling
from .sequences import Sequences, upload

InT = DocRows
OutT = Floats2d


def span_pool(
    span_pooling: Pooling,
    doc_pooling: Pooling,
    spans_key: str = "ngrams",
    max_pieces: int | None = None,
    max_rows: int | None = None,
) -> Model[InT, OutT]:
    """Make the layer.

    span_pooling (Model[Ragged, Floats2d]): Pools the rows of each piece.
    doc_pooling (Model[Ragged, Floats2d]): Pools the pieces of each Doc.
    spans_key (str): The key in doc.spans.
    max_pieces (Optional[int]): Keep only the first pieces of a Doc (the paper's r).
    max_rows (Optional[int]): Keep only the first rows of a piece (the paper's l).
    RETURNS (Model[DocRows, Floats2d]): Rows to vectors, (n_docs, width).
    """
    for name, value in {"max_pieces": max_pieces, "max_rows": max_rows}.items():
        if value is not None and value < 1:
            raise SpanftError(
                f"{name} is {shown(value)}, but must be {'1 or more, or null'}."
            )
    return Model(
        "span_pool",
        forward,
        init=init,
        layers=[span_pooling, doc_pooling],
        dims={"nO": None, "nI": None},
        attrs={
            "spans_key": spans_key,
            "max_pieces": max_pieces,
            "max_rows": max_rows,
        },
    )


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], Floats2d]]:
    """Apply the layer."""
    span_pooling, doc_pooling = model.layers
    ops: Any = model.ops
    flat = flatten(pieces_of(model, X, is_train), X)
    rows, lengths, n_pieces = upload(ops, *flat)
    spans = Sequences(X.vectors[rows], lengths, flat[1])
    vectors, backprop_spans = span_pooling(spans, is_train)
    docs = Sequences(vectors, n_pieces, flat[2])
    Y, backprop_docs = doc_pooling(docs, is_train)

    def backprop(dY: OutT) -> Floats2d:
        d_pieces = backprop_spans(backprop_docs(dY).dataXd)
        d_rows = ops.xp.zeros_like(X.vectors)
        # No row is in two pieces, so there is nothing to add up.
        d_rows[rows] = d_pieces.dataXd
        return d_rows

    return Y, backprop


def pieces_of(model: Model[InT, OutT], X: InT, is_train: bool) -> list[Pieces]:
    """Find the pieces that the layer pools.

    model (Model[DocRows, Floats2d]): The layer.
    X (DocRows): The rows of all Docs.
    is_train (bool): Whether it learns from them.
    RETURNS (list[Pieces]): The pieces of each Doc.
    """
    return [
        align_pieces(
            encoding,
            get_spans(doc, model.attrs["spans_key"], is_train=is_train),
            max_pieces=model.attrs["max_pieces"],
            max_rows=model.attrs["max_rows"],
        )
        for doc, encoding in zip(X.docs, X.encodings, strict=True)
    ]


def flatten(pieces: list[Pieces], X: InT) -> tuple[np.ndarray, ...]:
    """Put the pieces of all Docs one after the other, for one trip to the device.

    pieces (list[Pieces]): The pieces of each Doc.
    X (DocRows): The rows of all of them.
    RETURNS (tuple[np.ndarray, ...]): The rows, the length of each piece, and the
        number of pieces of each Doc.
    """
    starts = X.starts[:-1]
    rows = [one.rows + start for one, start in zip(pieces, starts, strict=True)]
    return (
        np.concatenate(rows),
        np.concatenate([one.lengths for one in pieces]),
        np.array([len(one.lengths) for one in pieces]),
    )


def init(
    model: Model[InT, OutT], X: Ragged | None = None, Y: OutT | None = None
) -> None:
    """Initialize both layers with a sequence as wide as the encoder's rows."""
    first, second = model.layers
    first.initialize(X=X)
    if X is not None:
        found = first.predict(X)
        X = found if isinstance(found, Ragged) else Ragged(found, X.lengths)
    second.initialize(X=X)
