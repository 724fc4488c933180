"""Vectors of tokens that know their span, for taggers, parsers and NER."""

from functools import partial
from typing import Any, Literal

from spacy.tokens import Doc
from thinc.api import Model, chain
from thinc.types import Floats2d, Ragged

from ..alignment import check_spans_key, mark_sample
from ..layers.encoder_rows import encoder_rows
from ..layers.finite import finite
from ..layers.pooling import Pooling
from ..layers.span_tokens import span_tokens
from ..layers.span_window import check_kernel_size, span_window
from ..layers.with_nonempty import with_nonempty

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
    RETURNS (Model[List[Doc], List[Floats2d]]): Docs to the vectors of their tokens.
    """
    key = spans_key if segmentation == "spans" else None
    settings = tok2vec, token_pooling, spans_key, kernel_size, keep_tokens
    return _build(*settings, window_key=key, pooled_key=None)


def span_beside_tok2vec(
    tok2vec: Tok2Vec,
    token_pooling: Pooling,
    spans_key: str = "ngrams",
    segmentation: Literal["spans", "none"] = "spans",
    kernel_size: int = 3,
    keep_tokens: bool = True,
) -> Tok2Vec:
    """Build `spacy-spanft.SpanTok2Vec.v2`: each token beside its window and its span.

    The window is that of v1, but it goes over the whole text: it sees what is around a
    span. The span is the maximum over the windows of its tokens. The settings are those
    of `spacy-spanft.SpanTok2Vec.v1`.

    segmentation (Literal["spans", "none"]): "none" leaves out the spans.
    RETURNS (Model[List[Doc], List[Floats2d]]): Docs to the vectors of their tokens.
    """
    key = spans_key if segmentation == "spans" else None
    settings = tok2vec, token_pooling, spans_key, kernel_size, keep_tokens
    return _build(*settings, window_key=None, pooled_key=key)


def _build(
    tok2vec: Tok2Vec,
    token_pooling: Pooling,
    spans_key: str,
    kernel_size: int,
    keep_tokens: bool,
    window_key: str | None,
    pooled_key: str | None,
) -> Tok2Vec:
    check_spans_key(spans_key)
    check_kernel_size(kernel_size)
    window = span_window(kernel_size, before=kernel_size // 2)
    pooling = with_nonempty(token_pooling)
    tokens = span_tokens(pooling, window, window_key, keep_tokens, pooled_key)
    rows = encoder_rows(tok2vec)
    model = finite(chain(rows, tokens))
    model.init = partial(init, rows, tokens, spans_key)
    return model


def init(
    rows: Model[Any, Any],
    tokens: Model[Any, Any],
    spans_key: str,
    model: Tok2Vec,
    X: list[Doc] | None = None,
    Y: Any = None,
) -> None:
    """Set up the model from the width of the encoder: no transformer needs to run."""
    if X is not None:
        mark_sample(X, spans_key)
    rows.initialize(X=X)
    row = model.ops.alloc2f(1, rows.get_dim("nO"))
    tokens.initialize(X=Ragged(row, model.ops.asarray1i([1])))
    model.set_dim("nO", tokens.get_dim("nO"))
