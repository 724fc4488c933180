"""A vector of each token: its own, beside that of its window and of its span."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, Literal, cast

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model, chain, reduce_max
from thinc.types import Floats2d, Ragged
from thinc.util import get_width

from ...errors import warn
from ..alignment import Ints, align_tokens, get_spans, mark_sample, piece_of_token
from .encoder_rows import DocRows, Tokens, ToTokens, encoder_rows
from .sequences import Applied, Pooling, Sequences, upload, with_nonempty
from .span_window import span_window

Tok2Vec = Model[list[Doc], list[Floats2d]]


def span_tok2vec(
    tok2vec: Tok2Vec,
    token_pooling: Pooling,
    spans_key: str = "ngrams",
    segmentation: Literal["spans", "none"] = "spans",
    kernel_size: int = 3,
    keep_tokens: bool = True,
) -> Tok2Vec:
    """Build `spacy-spanft.SpanTok2Vec.v1`: each token beside its window in its span.

    The window is ReLU(W [t_(j-1), t_j, t_(j+1)] + b), and never leaves the span.

    tok2vec (Model[List[Doc], List[Floats2d]]): The encoder.
    token_pooling (Model[Ragged, Floats2d]): Makes one vector of a token's wordpieces:
        FirstPooling.v1, as is usual for BERT, or reduce_mean.v1.
    spans_key (str): The key in doc.spans.
    segmentation (Literal["spans", "none"]): "none" is the paper's ablation: the windows
        go over the whole text, and no span is looked at.
    kernel_size (int): The number of tokens of a window.
    keep_tokens (bool): Whether a token's own vector stands beside the others.
    """
    key = spans_key if segmentation == "spans" else None
    tokens = span_tokens(token_pooling, kernel_size, key, keep_tokens)
    return _over(tok2vec, tokens, spans_key)


def span_beside_tok2vec(
    tok2vec: Tok2Vec,
    token_pooling: Pooling,
    spans_key: str = "ngrams",
    segmentation: Literal["spans", "none"] = "spans",
    kernel_size: int = 3,
    keep_tokens: bool = True,
) -> Tok2Vec:
    """Build `spacy-spanft.SpanTok2Vec.v2`: each token beside its window and its span.

    The window goes over the whole text: it sees what is around a span. The span is the
    maximum over the windows of its tokens. The settings are those of
    `spacy-spanft.SpanTok2Vec.v1`.

    segmentation (Literal["spans", "none"]): "none" leaves out the spans.
    """
    key = spans_key if segmentation == "spans" else None
    tokens = span_tokens(token_pooling, kernel_size, None, keep_tokens, key)
    return _over(tok2vec, tokens, spans_key)


def _over(tok2vec: Tok2Vec, tokens: ToTokens, spans_key: str) -> Tok2Vec:
    """Apply the layer to the rows of an encoder."""
    model: Any = chain(encoder_rows(tok2vec), tokens)
    model.init = partial(init_tok2vec, spans_key)
    return model


def init_tok2vec(
    spans_key: str, model: Tok2Vec, X: list[Doc] | None = None, Y: Any = None
) -> None:
    """Set up the model from the width of the encoder: no transformer needs to run."""
    rows, tokens = model.layers
    if X is not None:
        mark_sample(X, spans_key)
    rows.initialize(X=X)
    row = model.ops.alloc2f(1, rows.get_dim("nO"))
    tokens.initialize(X=Ragged(row, model.ops.asarray1i([1])))
    model.set_dim("nO", tokens.get_dim("nO"))


def span_tokens(
    token_pooling: Pooling,
    kernel_size: int = 3,
    spans_key: str | None = None,
    keep_tokens: bool = True,
    pooled_key: str | None = None,
) -> ToTokens:
    """Make the layer; see `spacy-spanft.SpanTok2Vec.v1` and v2.

    spans_key (Optional[str]): The key in doc.spans of the spans that windows stay in;
        None lets them go over the whole Doc.
    pooled_key (Optional[str]): The key of spans whose maximum over the windows of their
        tokens stands beside each of these; None for no maximum.
    """
    window = span_window(kernel_size, before=kernel_size // 2)
    layers: list[Model[Any, Any]] = [with_nonempty(token_pooling), window]
    attrs = {"spans_key": spans_key, "keep_tokens": keep_tokens}
    return Model(
        "span_tokens",
        forward,
        init=init,
        layers=[*layers, reduce_max()] if pooled_key else layers,
        dims={"nO": None, "nI": None},
        attrs={**attrs, "pooled_key": pooled_key},
    )


def forward(model: ToTokens, X: DocRows, is_train: bool) -> Tokens:
    """Apply the layer."""
    ops: Any = model.ops
    keep, pooled_key = model.attrs["keep_tokens"], model.attrs["pooled_key"]
    sizes = None if pooled_key is None else lengths_of(X.docs, pooled_key, is_train)
    spans = [] if sizes is None else [sizes, np.repeat(np.arange(len(sizes)), sizes)]
    tokens, backprop_tokens, uploaded = pool_tokens(model, X, is_train, *spans)
    windows, backprop_window = model.layers[1](tokens, is_train)
    views = [tokens.dataXd, windows.dataXd] if keep else [windows.dataXd]
    if sizes is not None:
        pieces = Sequences(windows.dataXd, uploaded[0], sizes)
        pooled, backprop_pooled = _maxima(model, pieces, uploaded[1], is_train)
        views.append(pooled)
    Y = ops.xp.hstack(views) if len(views) > 1 else views[0]
    ends = np.cumsum([view.shape[1] for view in views]).tolist()

    def backprop(dY: list[Floats2d]) -> Floats2d:
        d: Any = ops.xp.concatenate(dY)
        d_views = [d[:, a:b] for a, b in pairwise([0, *ends])]
        d_windows = ops.xp.ascontiguousarray(d_views[int(keep)])
        if sizes is not None:
            d_windows = d_windows + backprop_pooled(d_views[-1])
        d_tokens = backprop_window(tokens.with_rows(d_windows)).dataXd
        return backprop_tokens(d_tokens + d_views[0] if keep else d_tokens)

    return ops.unflatten(Y, list(map(len, X.docs))), backprop


def pool_tokens(
    model: ToTokens, X: DocRows, is_train: bool, *more: Ints
) -> tuple[Sequences, Callable[[Any], Floats2d], list[Any]]:
    """Pool the wordpieces of each token: one sequence for each piece of windows.

    More indices are uploaded in the same trip.
    """
    ops: Any = model.ops
    tokens = [align_tokens(encoding) for encoding in X.encodings]
    for doc, (_, counts) in zip(X.docs, tokens, strict=True):
        _warn_of_cut(doc, counts)
    pairs = zip(tokens, X.starts, strict=False)
    n_rows = np.concatenate([counts for _, counts in tokens])
    sizes = lengths_of(X.docs, model.attrs["spans_key"], is_train)
    indices = np.concatenate([rows + start for (rows, _), start in pairs])
    rows, counts, lengths, *uploaded = upload(ops, indices, n_rows, sizes, *more)
    wordpieces = Sequences(X.vectors[rows], counts, n_rows)
    vectors, backprop_pooling = model.layers[0](wordpieces, is_train)

    def backprop(d_tokens: Any) -> Floats2d:
        d_rows: Any = ops.xp.zeros_like(X.vectors)
        # Tokens that share a wordpiece both have it.
        ops.scatter_add(d_rows, rows, backprop_pooling(d_tokens).dataXd)
        return d_rows

    return Sequences(vectors, lengths, sizes), backprop, uploaded


def _maxima(
    model: ToTokens, pieces: Sequences, piece_of: Any, is_train: bool
) -> Applied:
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


def lengths_of(docs: list[Doc], key: str | None, is_train: bool = False) -> Ints:
    """Return the length of each piece of Docs; without a key, a Doc is a piece."""
    if key is None:
        return np.array([len(doc) for doc in docs if len(doc)], np.int64)
    spans = [get_spans(doc, key, is_train=is_train) for doc in docs]
    pieces = (piece_of_token(s, len(d)) for s, d in zip(spans, docs, strict=True))
    return np.concatenate([np.bincount(piece) for piece in pieces])


def _warn_of_cut(doc: Doc, counts: Ints) -> None:
    """Warn if the encoder read only the beginning of a text: words have wordpieces."""
    tokens = (doc[i] for i in np.flatnonzero(counts == 0).tolist())
    if any(map(str.isalnum, (char for token in tokens for char in token.text))):
        warn(
            "The transformer cut off a text: words of it have no vector. A pair may "
            "have as many wordpieces as model_max_length in its tokenizer_config; so "
            "may a window of spacy-transformers, whose window and stride are settings "
            "in [components.transformer.model.get_spans]."
        )


def init(model: ToTokens, X: Any = None, Y: Any = None) -> None:
    """Initialize both layers with one row as wide as the encoder's."""
    token_pooling, window, *_ = model.layers
    token_pooling.initialize(X=X)
    tokens = Ragged(token_pooling.predict(X), X.lengths)
    window.initialize(X=tokens)
    width = get_width(tokens) if model.attrs["keep_tokens"] else 0
    n_views = 1 + (model.attrs["pooled_key"] is not None)
    model.set_dim("nO", width + n_views * window.get_dim("nO"))
