"""A vector of each token: its own, beside that of its window and of its span."""

import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, cast

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


class Beside(NamedTuple):
    """The pieces whose maximum stands beside their tokens.

    lengths (Ints1d): How many tokens each has.
    piece_of (Ints1d): The piece of each token.
    on_host (Ints): The lengths on the host.
    """

    lengths: Any
    piece_of: Any
    on_host: Ints


class Pooled(NamedTuple):
    """The tokens of a batch.

    tokens (Sequences): Their vectors, one sequence for each piece that windows stay in.
    beside (Optional[Beside]): The pieces whose maximum stands beside them.
    rows (Ints1d): The rows that were pooled.
    backprop (Callable): Takes the gradient of the vectors back to these.
    """

    tokens: Sequences
    beside: Beside | None
    rows: Any
    backprop: Callable[[Any], Any]


def span_tokens(
    token_pooling: Pooling,
    window: Model[Ragged, Ragged],
    spans_key: str | None = "ngrams",
    keep_tokens: bool = True,
    pooled_key: str | None = None,
) -> Model[InT, OutT]:
    """Make the layer.

    token_pooling (Model[Ragged, Floats2d]): Makes one vector of each token's rows.
    window (Model[Ragged, Ragged]): Looks at a token and its neighbors in the span.
    spans_key (Optional[str]): The key in doc.spans of what windows stay in; None lets
        them go over the whole Doc.
    keep_tokens (bool): Whether a token's own vector stands beside that of its window.
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
    tokens, beside, rows, backprop_tokens = _pool(model, X, is_train)
    windows, backprop_window = model.layers[1](tokens, is_train)
    views = [tokens.dataXd, windows.dataXd] if keep else [windows.dataXd]
    if beside:
        pooled, backprop_pooled = _maxima(model, windows.dataXd, beside, is_train)
        views.append(pooled)
    Y = ops.xp.hstack(views) if len(views) > 1 else views[0]
    starts = np.cumsum([0, *(len(doc) for doc in X.docs)]).tolist()
    ends = np.cumsum([view.shape[1] for view in views]).tolist()

    def backprop(dY: OutT) -> Floats2d:
        d: Any = ops.xp.concatenate(dY)
        d_views = [d[:, a:b] for a, b in pairwise([0, *ends])]
        d_windows = ops.xp.ascontiguousarray(d_views[int(keep)])
        if beside:
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
    model: Model[InT, OutT], windows: Any, beside: Beside, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Floats2d]]:
    """Give each token the maximum over the windows of its piece."""
    ops: Any = model.ops
    lengths, piece_of, on_host = beside
    if not len(on_host):
        return windows, lambda d: d
    pieces = Sequences(windows, lengths, on_host)
    maxima, backprop = model.layers[2](pieces, is_train)

    def backprop_maxima(d_pooled: Floats2d) -> Floats2d:
        d_maxima = ops.alloc2f(*maxima.shape, dtype=maxima.dtype)
        ops.scatter_add(d_maxima, piece_of, ops.xp.ascontiguousarray(d_pooled))
        return cast(Floats2d, backprop(d_maxima).dataXd)

    return maxima[piece_of], backprop_maxima


def tokens_of(model: Model[InT, OutT], X: InT) -> Sequences:
    """Pool the rows of each token into what the windows go over.

    model (Model[DocRows, List[Floats2d]]): The layer.
    X (DocRows): The rows of the encoder.
    RETURNS (Sequences): The tokens of all Docs, one sequence for each piece.
    """
    return _pool(model, X, False).tokens


def _pool(model: Model[InT, OutT], X: InT, is_train: bool) -> Pooled:
    flat = _indices(model, X, is_train)
    rows, counts, lengths, *beside = upload(model.ops, *flat)
    wordpieces = Sequences(X.vectors[rows], counts, flat[1])
    vectors, backprop = model.layers[0](wordpieces, is_train)
    tokens = Sequences(vectors, lengths, flat[2])
    pieces = Beside(beside[0], beside[1], flat[3]) if beside else None
    return Pooled(tokens, pieces, rows, backprop)


def _indices(model: Model[InT, OutT], X: InT, is_train: bool) -> list[Ints]:
    """Find the rows of all tokens, how many each has, and the length of each piece.

    If spans are pooled, the lengths of these and the one of each token come after them.
    """
    tokens = [align_tokens(encoding) for encoding in X.encodings]
    for doc, (_, mine) in zip(X.docs, tokens, strict=True):
        _warn_of_cut(doc, mine)
    rows = [own + start for (own, _), start in zip(tokens, X.starts, strict=False)]
    counts = [count for _, count in tokens]
    sizes = lengths_of(X.docs, model.attrs["spans_key"], is_train)
    found = [np.concatenate(rows), np.concatenate(counts), sizes]
    if (key := model.attrs["pooled_key"]) is not None:
        pooled = lengths_of(X.docs, key, is_train)
        found += [pooled, np.repeat(np.arange(len(pooled)), pooled)]
    return found


def lengths_of(docs: list[Doc], key: str | None, is_train: bool = False) -> Ints:
    """Find the length of each piece of Docs.

    docs (list[Doc]): The Docs.
    key (Optional[str]): The key in doc.spans; without one a Doc is a piece.
    is_train (bool): Whether a model learns from them, see `get_spans`.
    RETURNS (Ints): The lengths.
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
    for i in np.flatnonzero(counts == 0).tolist():
        if any(character.isalnum() for character in doc[i].text):
            warnings.warn(
                "The transformer cut off a text: words of it have no vector, because a "
                "window has more wordpieces than model_max_length in its "
                "tokenizer_config. Make window and stride in "
                "[components.transformer.model.get_spans] smaller than they are now.",
                stacklevel=2,
            )
            return


def init(
    model: Model[InT, OutT], X: Ragged | None = None, Y: OutT | None = None
) -> None:
    """Initialize both layers with one row as wide as the encoder's."""
    token_pooling, window, *_ = model.layers
    token_pooling.initialize(X=X)
    if X is not None:
        tokens = Ragged(token_pooling.predict(X), X.lengths)
        window.initialize(X=tokens)
        own = get_width(tokens) if model.attrs["keep_tokens"] else 0
        n_views = 1 + (model.attrs["pooled_key"] is not None)
        model.set_dim("nO", own + n_views * window.get_dim("nO"))
    else:
        window.initialize()
