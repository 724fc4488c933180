"""A vector of each token: its own, beside that of its window and of its span."""

import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any, cast

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model, reduce_max
from thinc.types import Floats2d, Ragged
from thinc.util import get_width

from ..alignment import Ints, align_tokens, get_spans, lengths_of_pieces
from .doc_rows import DocRows
from .pooling import Pooling
from .sequences import Sequences, upload

InT = DocRows
OutT = list[Floats2d]


def span_tokens(
    token_pooling: Pooling,
    window: Model[Ragged, Ragged],
    spans_key: str | None = "ngrams",
    keep_tokens: bool = True,
    pooled_key: str | None = None,
) -> Model[InT, OutT]:
    """Make the layer; see `spacy-spanft.SpanTok2Vec.v1` and v2.

    spans_key (Optional[str]): The key in doc.spans of the spans that windows stay in;
        None lets them go over the whole Doc.
    pooled_key (Optional[str]): The key of spans whose maximum over the windows of their
        tokens stands beside each of these; None for no maximum.
    RETURNS (Model[DocRows, List[Floats2d]]): Rows to the tokens of each Doc.
    """
    return Model(
        "span_tokens",
        forward,
        init=init,
        layers=[token_pooling, window, *([reduce_max()] if pooled_key else [])],
        dims={"nO": None, "nI": None},
        attrs={
            "spans_key": spans_key,
            "keep_tokens": keep_tokens,
            "pooled_key": pooled_key,
        },
    )


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], Floats2d]]:
    """Apply the layer."""
    ops: Any = model.ops
    keep = model.attrs["keep_tokens"]
    on_host = _indices(model, X, is_train)
    rows, *indices = upload(ops, *on_host)
    tokens, backprop_tokens = _pool(model, X, rows, indices, on_host, is_train)
    windows, backprop_window = model.layers[1](tokens, is_train)
    views = [tokens.dataXd, windows.dataXd] if keep else [windows.dataXd]
    has_pooled = len(model.layers) > 2
    if has_pooled:
        pieces = Sequences(windows.dataXd, indices[2], on_host[3])
        pooled, backprop_pooled = _maxima(model, pieces, indices[3], is_train)
        views.append(pooled)
    Y = ops.xp.hstack(views) if len(views) > 1 else views[0]
    starts = np.cumsum([0, *(len(doc) for doc in X.docs)]).tolist()
    ends = np.cumsum([view.shape[1] for view in views]).tolist()

    def backprop(dY: OutT) -> Floats2d:
        d: Any = ops.xp.concatenate(dY)
        d_views = [d[:, a:b] for a, b in pairwise([0, *ends])]
        d_windows = ops.xp.ascontiguousarray(d_views[int(keep)])
        if has_pooled:
            d_windows = d_windows + backprop_pooled(d_views[-1])
        d_tokens = backprop_window(tokens.with_rows(d_windows)).dataXd
        if keep:
            d_tokens = d_tokens + d_views[0]
        d_rows = ops.xp.zeros_like(X.vectors)
        # Tokens that share a wordpiece both have it.
        ops.scatter_add(d_rows, rows, backprop_tokens(d_tokens).dataXd)
        return d_rows

    return [Y[a:b] for a, b in pairwise(starts)], backprop


def _maxima(
    model: Model[InT, OutT], pieces: Sequences, piece_of: Any, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Floats2d]]:
    """Return the maximum over the windows of its piece for each token."""
    ops: Any = model.ops
    if not len(pieces.on_host):
        return cast(Floats2d, pieces.dataXd), lambda d: d
    maxima, backprop = model.layers[2](pieces, is_train)

    def backprop_maxima(d_pooled: Floats2d) -> Floats2d:
        d_maxima = ops.alloc2f(*maxima.shape, dtype=maxima.dtype)
        ops.scatter_add(d_maxima, piece_of, ops.xp.ascontiguousarray(d_pooled))
        return cast(Floats2d, backprop(d_maxima).dataXd)

    return maxima[piece_of], backprop_maxima


def tokens_of(model: Model[InT, OutT], X: InT) -> Sequences:
    """Return the vectors of the tokens, one sequence for each piece of windows."""
    on_host = _indices(model, X, False)
    rows, *indices = upload(model.ops, *on_host)
    return _pool(model, X, rows, indices, on_host, False)[0]


def _pool(
    model: Model[InT, OutT],
    X: InT,
    rows: Any,
    indices: list[Any],
    on_host: list[Ints],
    is_train: bool,
) -> tuple[Sequences, Callable[[Any], Any]]:
    wordpieces = Sequences(X.vectors[rows], indices[0], on_host[1])
    vectors, backprop = model.layers[0](wordpieces, is_train)
    return Sequences(vectors, indices[1], on_host[2]), backprop


def _indices(model: Model[InT, OutT], X: InT, is_train: bool) -> list[Ints]:
    """Return the rows of all tokens, the number of each, and the length of each piece.

    If spans are pooled, the lengths of these and the span of each token follow.
    """
    tokens = [align_tokens(encoding) for encoding in X.encodings]
    for doc, (_, counts) in zip(X.docs, tokens, strict=True):
        _warn_of_cut(doc, counts)
    rows = [rows + start for (rows, _), start in zip(tokens, X.starts, strict=False)]
    n_rows = [counts for _, counts in tokens]
    sizes = lengths_of(X.docs, model.attrs["spans_key"], is_train)
    indices = [np.concatenate(rows), np.concatenate(n_rows), sizes]
    if (key := model.attrs["pooled_key"]) is not None:
        pooled = lengths_of(X.docs, key, is_train)
        indices += [pooled, np.repeat(np.arange(len(pooled)), pooled)]
    return indices


def lengths_of(docs: list[Doc], key: str | None, is_train: bool = False) -> Ints:
    """Return the length of each piece of Docs.

    key (Optional[str]): The key in doc.spans; without one a Doc is a piece.
    is_train (bool): Whether a model learns from them, see `get_spans`.
    """
    if key is None:
        return np.array([len(doc) for doc in docs if len(doc)], np.int64)
    spans = [get_spans(doc, key, is_train=is_train) for doc in docs]
    sizes = [lengths_of_pieces(s, len(d)) for s, d in zip(spans, docs, strict=True)]
    return np.concatenate(sizes)


def _warn_of_cut(doc: Doc, counts: Ints) -> None:
    """Warn if the encoder read only the beginning of a text.

    White space and control characters have no wordpieces, words always have.
    """
    tokens = (doc[i] for i in np.flatnonzero(counts == 0).tolist())
    if any(map(str.isalnum, (char for token in tokens for char in token.text))):
        warnings.warn(
            "The transformer cut off a text: words of it have no vector, because a "
            "window has more wordpieces than model_max_length in its "
            "tokenizer_config. Make window and stride in "
            "[components.transformer.model.get_spans] smaller than they are now.",
            stacklevel=2,
        )


def init(
    model: Model[InT, OutT], X: Ragged | None = None, Y: OutT | None = None
) -> None:
    """Initialize both layers with one row as wide as the encoder's."""
    token_pooling, window, *_ = model.layers
    token_pooling.initialize(X=X)
    if X is None:
        window.initialize()
        return
    tokens = Ragged(token_pooling.predict(X), X.lengths)
    window.initialize(X=tokens)
    width = get_width(tokens) if model.attrs["keep_tokens"] else 0
    n_views = 1 + (model.attrs["pooled_key"] is not None)
    model.set_dim("nO", width + n_views * window.get_dim("nO"))
