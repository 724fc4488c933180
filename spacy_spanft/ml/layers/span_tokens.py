"""A vector of each token: its own, beside that of its window in its span."""

import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d, Ragged
from thinc.util import get_width

from ...errors import Warnings
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
) -> Model[InT, OutT]:
    """Make the layer.

    token_pooling (Model[Ragged, Floats2d]): Makes one vector of each token's rows.
    window (Model[Ragged, Ragged]): Looks at a token and its neighbors in the span.
    spans_key (Optional[str]): The key in doc.spans; None lets the window go over the
        whole Doc.
    keep_tokens (bool): Whether a token's own vector stands beside that of its window.
    RETURNS (Model[DocRows, List[Floats2d]]): Rows to the tokens of each Doc.
    """
    return Model(
        "span_tokens",
        forward,
        init=init,
        layers=[token_pooling, window],
        dims={"nO": None, "nI": None},
        attrs={"spans_key": spans_key, "keep_tokens": keep_tokens},
    )


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], Floats2d]]:
    """Apply the layer."""
    ops: Any = model.ops
    keep = model.attrs["keep_tokens"]
    spans, rows, backprop_tokens = _pool(model, X, is_train)
    tokens: Any = spans.dataXd
    windows, backprop_window = model.layers[1](spans, is_train)
    Y = ops.xp.hstack([tokens, windows.dataXd]) if keep else windows.dataXd
    starts = np.cumsum([0, *(len(doc) for doc in X.docs)]).tolist()
    width = tokens.shape[1]

    def backprop(dY: OutT) -> Floats2d:
        d: Any = ops.xp.concatenate(dY)
        d_windows = ops.xp.ascontiguousarray(d[:, width:] if keep else d)
        d_tokens = backprop_window(spans.with_rows(d_windows)).dataXd
        if keep:
            d_tokens = d_tokens + d[:, :width]
        d_rows = ops.xp.zeros_like(X.vectors)
        # Tokens that share a wordpiece both have it.
        ops.scatter_add(d_rows, rows, backprop_tokens(d_tokens).dataXd)
        return d_rows

    return [Y[a:b] for a, b in pairwise(starts)], backprop


def tokens_of(model: Model[InT, OutT], X: InT) -> Sequences:
    """Pool the rows of each token into what the windows go over.

    model (Model[DocRows, List[Floats2d]]): The layer.
    X (DocRows): The rows of the encoder.
    RETURNS (Sequences): The tokens of all Docs, one sequence for each piece.
    """
    return _pool(model, X, False)[0]


def _pool(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[Sequences, Any, Callable[[Any], Any]]:
    """Pool the rows of each token; say which rows those are, and how to go back."""
    flat = _indices(model, X, is_train)
    rows, counts, lengths = upload(model.ops, *flat)
    wordpieces = Sequences(X.vectors[rows], counts, flat[1])
    tokens, backprop_tokens = model.layers[0](wordpieces, is_train)
    return Sequences(tokens, lengths, flat[2]), rows, backprop_tokens


def _indices(model: Model[InT, OutT], X: InT, is_train: bool) -> tuple[np.ndarray, ...]:
    """Find the rows of all tokens, how many each has, and the length of each piece."""
    tokens = [align_tokens(encoding) for encoding in X.encodings]
    for doc, (_, mine) in zip(X.docs, tokens, strict=True):
        _warn_of_cut(doc, mine)
    rows = [own + start for (own, _), start in zip(tokens, X.starts, strict=False)]
    key = model.attrs["spans_key"]
    sizes = [_lengths(doc, key, is_train) for doc in X.docs]
    counts = [count for _, count in tokens]
    return np.concatenate(rows), np.concatenate(counts), np.concatenate(sizes)


def _lengths(doc: Doc, key: str | None, is_train: bool) -> Ints:
    """Find the length of each piece of a Doc."""
    if key is None:
        return np.array([len(doc)] if len(doc) else [], np.int64)
    return lengths_of_pieces(get_spans(doc, key, is_train=is_train), len(doc))


def _warn_of_cut(doc: Doc, counts: Ints) -> None:
    """Warn if the encoder read only the beginning of a text.

    White space and control characters have no wordpieces, words always have.
    """
    for i in np.flatnonzero(counts == 0).tolist():
        if any(character.isalnum() for character in doc[i].text):
            warnings.warn(Warnings.CUT_OFF, stacklevel=2)
            return


def init(
    model: Model[InT, OutT], X: Ragged | None = None, Y: OutT | None = None
) -> None:
    """Initialize both layers with one row as wide as the encoder's."""
    token_pooling, window = model.layers
    token_pooling.initialize(X=X)
    if X is not None:
        tokens = Ragged(token_pooling.predict(X), X.lengths)
        window.initialize(X=tokens)
        own = get_width(tokens) if model.attrs["keep_tokens"] else 0
        model.set_dim("nO", own + window.get_dim("nO"))
    else:
        window.initialize()
