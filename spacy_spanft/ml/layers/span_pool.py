"""One vector of each Doc: its pieces pooled, then the pieces among themselves.

`text_pool` is the ablation: the same parameters and rows without any spans. Beside
them stands what the encoder makes of the whole: [CLS], or the mean of its rows.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from thinc.api import Model, chain
from thinc.types import Floats2d, Ragged

from ...errors import SpanftError, check_number
from ..alignment import NO_SPANS, Ints, Pieces, align_pieces, get_spans, rows_of_windows
from .encoder_rows import DocRows, Pool
from .pooling import pooler
from .scoring import zeros_for_nothing
from .sequences import Applied, Pooling, Sequences, upload, with_nonempty

Summary = Literal["cls", "mean", "unit_mean"]
SUMMARY = "doc_summary"


def span_pool(
    span_pooling: Pooling,
    doc_pooling: Pooling,
    spans_key: str = "ngrams",
    max_pieces: int | None = None,
    max_rows: int | None = None,
) -> Pool:
    """Make the layer; see `spacy-spanft.SpanTextCat.v1`."""
    limits = {"max_pieces": max_pieces, "max_rows": max_rows}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, lambda n: n >= 1, "1 or more, or null")
    attrs = {"spans_key": spans_key, **limits}
    return _pool("span_pool", [span_pooling, doc_pooling], attrs)


def text_pool(span_pooling: Pooling, doc_pooling: Pooling) -> Pool:
    """Make the layer: the windows of `span_pooling` over the whole text, pooled."""
    if not span_pooling.has_ref("window"):
        raise SpanftError(
            'Without segmentation (segmentation = "none"), the windows of the span '
            "pooling go over the whole text, and this one has no windows. Use "
            '@architectures = "spacy-spanft.CnnPooling.v1" as span_pooling.'
        )
    return _pool("text_pool", [span_pooling.get_ref("window"), doc_pooling], {})


def _pool(name: str, layers: list[Model[Any, Any]], attrs: dict[str, Any]) -> Pool:
    dims: dict[str, int | None] = {"nO": None, "nI": None}
    if not layers[1].name.startswith("with_nonempty("):  # thinc's take no empty texts
        layers[1] = with_nonempty(layers[1])
    return Model(name, forward, init=init, layers=layers, dims=dims, attrs=attrs)


def forward(model: Pool, X: DocRows, is_train: bool) -> Applied:
    """Apply the layer."""
    first, doc_pooling = model.layers
    ops: Any = model.ops
    has_spans = "spans_key" in model.attrs
    pieces = pieces_of(model, X, is_train)
    of_docs, sizes = zip(*pieces, strict=True)
    pairs = zip(of_docs, X.starts, strict=False)
    indices = np.concatenate([rows + start for rows, start in pairs])
    counts, n_rows = np.array(list(map(len, sizes))), np.concatenate(sizes)
    rows, lengths, n_pieces = upload(ops, indices, n_rows, counts)
    docs = Sequences(X.vectors[rows], n_pieces, counts)
    if has_spans:
        spans = Sequences(docs.dataXd, lengths, n_rows)
        vectors, backprop_first = first(spans, is_train)
        docs = Sequences(vectors, n_pieces, counts)
    else:
        docs, backprop_first = first(docs, is_train)
    Y, backprop_docs = doc_pooling(docs, is_train)

    def backprop(dY: Floats2d) -> Floats2d:
        d_docs = backprop_docs(dY)
        d_pieces = backprop_first(d_docs.dataXd if has_spans else d_docs)
        d_rows = ops.xp.zeros_like(X.vectors)
        # No row is in two pieces, so there is nothing to add up.
        d_rows[rows] = d_pieces.dataXd
        return d_rows

    return Y, backprop


def pieces_of(model: Pool, X: DocRows, is_train: bool = False) -> list[Pieces]:
    """Return the pieces of each Doc. Without spans, each row is a piece."""
    attrs = model.attrs
    if "spans_key" not in attrs:
        whole = [align_pieces(encoding, NO_SPANS).rows for encoding in X.encodings]
        return [Pieces(rows, np.ones_like(rows)) for rows in whole]
    return [
        align_pieces(
            encoding,
            get_spans(doc, attrs["spans_key"], is_train=is_train),
            max_pieces=attrs["max_pieces"],
            max_rows=attrs["max_rows"],
        )
        for doc, encoding in zip(X.docs, X.encodings, strict=True)
    ]


def init(model: Pool, X: Ragged | None = None, Y: Floats2d | None = None) -> None:
    """Initialize both layers with a sequence as wide as the encoder's rows."""
    first, second = model.layers
    first.initialize(X=X)
    if X is not None:
        pooled = first.predict(X)
        X = pooled if isinstance(pooled, Ragged) else Ragged(pooled, X.lengths)
    second.initialize(X=X)


def text_vector(summary: Summary = "cls", has_pooler: bool = False) -> Pool:
    """Make a `doc_summary`, followed by a pooler if there is one."""
    if not has_pooler:
        return doc_summary(summary)
    model: Model[Any, Any] = chain(doc_summary(summary), zeros_for_nothing(pooler()))
    model.init = init_pooler
    return model


def init_pooler(model: Pool, X: Ragged | None = None, Y: Any = None) -> None:
    """Set up the pooler, which needs the width alone."""
    model.layers[1].initialize(X=None if X is None else X.dataXd)


def doc_summary(summary: Summary = "cls") -> Pool:
    """Make the layer. A Doc without any row becomes zeros.

    summary (Literal["cls", "mean", "unit_mean"]): "mean" takes that of all wordpieces,
        [CLS] among them, and so does "cls" where no row stands for the text (curated,
        tok2vec). "unit_mean" is that mean, scaled to length 1.
    """
    return Model(SUMMARY, forward_summary, attrs={"summary": summary})


def forward_summary(model: Pool, X: DocRows, is_train: bool) -> Applied:
    """Apply the layer."""
    ops: Any = model.ops
    full = np.flatnonzero(np.diff(X.starts))
    Y = ops.xp.zeros((len(X.docs), X.vectors.shape[1]), X.vectors.dtype)
    if not len(full):
        return Y, lambda dY: ops.xp.zeros_like(X.vectors)
    chosen, sizes = _rows_of(X, full, model.attrs["summary"] != "cls")
    # thinc's reduce_mean would ask a GPU whether the sizes are right, five times.
    at, rows, texts, counts = upload(ops, full, chosen, np.repeat(full, sizes), sizes)
    ops.scatter_add(Y, texts, X.vectors[rows])
    Y[at] /= counts[:, None]
    is_unit = model.attrs["summary"] == "unit_mean"
    Y, backprop_unit = normalized(ops.xp, Y) if is_unit else (Y, lambda dY: dY)

    def backprop(dY: Any) -> Floats2d:
        dY = backprop_unit(dY)
        d = ops.xp.zeros_like(dY)
        d[at] = dY[at] / counts[:, None]
        d_rows = ops.xp.zeros_like(X.vectors)
        d_rows[rows] = d[texts]
        return d_rows

    return Y, backprop


def is_mean(model: Model[Any, Any], X: DocRows) -> bool:
    """Whether a layer is a `doc_summary` that takes the mean of each Doc's rows."""
    return model.name == SUMMARY and (X.cls is None or model.attrs["summary"] != "cls")


def normalized(xp: Any, X: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Return vectors of length 1, and the callback; those of zeros stay zeros."""
    lengths = xp.maximum(xp.sqrt((X**2).sum(axis=1, keepdims=True)), 1e-6)
    unit = X / lengths

    def backprop(dY: Any) -> Any:
        dX = (dY - (dY * unit).sum(axis=1, keepdims=True) * unit) / lengths
        return dX * (lengths > 1e-6)

    return unit, backprop


def _rows_of(X: DocRows, full: Ints, takes_mean: bool) -> tuple[Ints, Ints]:
    """Return the row that stands for each Doc, or all but its padding, and how many."""
    if takes_mean or X.cls is None:
        rows = [X.starts[i] + rows_of_windows(X.encodings[i]) for i in full.tolist()]
        return np.concatenate(rows), np.array([len(of_doc) for of_doc in rows])
    cls = np.array(X.cls)[full]
    if (cls < 0).any():
        raise SpanftError(
            "The encoder's tokenizer puts no [CLS] at the beginning or the end of a "
            "text, so that no vector of it stands for the whole. In the block of the "
            'model, set summary = "mean", or, in SpanTextCat, use_cls = false.'
        )
    return np.array(X.starts)[full] + cls, np.ones(len(full), np.int64)
