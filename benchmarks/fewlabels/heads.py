"""Heads that are tried here, and may become the package's if they win."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np
from spacy.util import registry
from thinc.api import LayerNorm, Linear, Model, chain, reduce_max, residual
from thinc.types import Floats2d, Ragged

from spacy_spanft.ml.alignment import get_spans, lengths_of_pieces
from spacy_spanft.ml.architectures.textcat import TextCat, span_textcat
from spacy_spanft.ml.architectures.tok2vec import Tok2Vec, init
from spacy_spanft.ml.layers.doc_rows import DocRows
from spacy_spanft.ml.layers.encoder_rows import encoder_rows
from spacy_spanft.ml.layers.pooling import Pooling
from spacy_spanft.ml.layers.span_tokens import span_tokens
from spacy_spanft.ml.layers.span_window import span_window
from spacy_spanft.ml.layers.with_nonempty import with_nonempty

RESIDUAL = "fewlabels.ResidualCnnPooling.v1"
NORMED = "fewlabels.NormedCnnPooling.v1"
NOTHING = "fewlabels.NoPooling.v1"
SHARED = "fewlabels.SharedTextCat.v1"
GATED = "fewlabels.GatedTextCat.v1"
EDGES = "fewlabels.EdgeTok2Vec.v1"
# A token is all of its piece, or its first one, its last one, or one in between.
N_PLACES = 4


@registry.architectures(RESIDUAL)
def residual_cnn_pooling(kernel_size: int = 3) -> Pooling:
    """Convolve each sequence beside itself, and take the maximum over it.

    It begins nearly as the maximum over the rows, which the encoder made, and not as
    one over features that nobody has trained.

    kernel_size (int): How many rows a window has.
    RETURNS (Model[Ragged, Floats2d]): (n_rows, width) to (n_sequences, width).
    """
    window = span_window(kernel_size, init_W=_near_zero, before=kernel_size // 2)
    return with_nonempty(chain(residual(window), reduce_max()))


@registry.architectures(NORMED)
def normed_cnn_pooling(kernel_size: int = 3) -> Pooling:
    """Convolve each sequence, take the maximum over it, and normalize that.

    The maxima of many features are larger than what the encoder gives.

    kernel_size (int): How many rows a window has.
    RETURNS (Model[Ragged, Floats2d]): (n_rows, width) to (n_sequences, width).
    """
    return with_nonempty(chain(span_window(kernel_size), reduce_max(), LayerNorm()))


@registry.architectures(NOTHING)
def no_pooling() -> Pooling:
    """Give zeros for each sequence: what the spans are beside that decides alone."""
    return Model("no_pooling", _forward_nothing)


def _forward_nothing(
    model: Pooling, X: Ragged, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Ragged]]:
    def backprop(dY: Floats2d) -> Ragged:
        return Ragged(model.ops.xp.zeros_like(X.dataXd), X.lengths)

    vectors: Any = X.dataXd
    return model.ops.alloc2f(len(X.lengths), vectors.shape[1]), backprop


@registry.architectures(SHARED)
@wraps(span_textcat)
def shared_textcat(**settings: Any) -> TextCat:
    """Pool the spans of a text with the weights that pool the rows of a span."""
    return span_textcat(**{**settings, "doc_pooling": settings["span_pooling"]})


@registry.architectures(GATED)
@wraps(span_textcat)
def gated_textcat(**settings: Any) -> TextCat:
    """Let a gate decide how much of each feature of the pooled spans counts."""
    model = span_textcat(**settings)
    parts = model.get_ref("pooled").layers
    parts[0] = gated(parts[0])
    return model


def gated(pool: Model[DocRows, Floats2d]) -> Model[DocRows, Floats2d]:
    """Multiply what a layer gives by sigmoid(W y + b), which is an eighth at first.

    pool (Model[DocRows, Floats2d]): The layer.
    RETURNS (Model[DocRows, Floats2d]): The same, gated.
    """
    return Model(
        "gated",
        _forward_gated,
        init=_init_gated,
        layers=[pool, Linear(init_W=_near_zero)],
    )


def _forward_gated(
    model: Model[DocRows, Floats2d], X: DocRows, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Any]]:
    pool, linear = model.layers
    vectors, backprop_pool = pool(X, is_train)
    opened, backprop_linear = linear(vectors, is_train)
    share: Any = model.ops.sigmoid(opened)

    def backprop(dY: Floats2d) -> Any:
        d_vectors = backprop_linear(dY * vectors * share * (1 - share))
        return backprop_pool(d_vectors + dY * share)

    return vectors * share, backprop


def _init_gated(model: Model[DocRows, Floats2d], X: Any = None, Y: Any = None) -> None:
    pool, linear = model.layers
    pool.initialize(X=X)
    if X is not None:
        for name in ("nO", "nI"):
            linear.set_dim(name, X.dataXd.shape[1])
    linear.initialize()
    linear.set_param("b", linear.get_param("b") - 2)


def _near_zero(ops: Any, shape: tuple[int, ...]) -> Any:
    return ops.asarray(np.random.normal(0, 0.002, shape), dtype="f")


def start_as_baseline(model: Model[Any, Any]) -> None:
    """Set the weights of the spans to zero, so that [CLS] alone decides at first.

    model (Model[List[Doc], Floats2d]): A classifier over spans, initialized.
    """
    output = model.get_ref("output_layer")
    W: Any = output.get_param("W").copy()
    width = model.get_ref("rows").get_dim("nO")
    W[:, :width] = 0.0  # the spans come first
    output.set_param("W", W)


@registry.architectures(EDGES)
def edge_tok2vec(
    tok2vec: Tok2Vec,
    token_pooling: Pooling,
    spans_key: str = "ngrams",
    kernel_size: int = 3,
    keep_tokens: bool = True,
) -> Tok2Vec:
    """Tell each token its place in its span; the windows go over the whole text.

    tok2vec (Model[List[Doc], List[Floats2d]]): The encoder.
    token_pooling (Model[Ragged, Floats2d]): Makes one vector of a token's wordpieces.
    spans_key (str): The key in doc.spans.
    kernel_size (int): How many tokens a window has.
    keep_tokens (bool): Whether a token's own vector stands beside that of its window.
    RETURNS (Model[List[Doc], List[Floats2d]]): Docs to the vectors of their tokens.
    """
    encoder = encoder_rows(tok2vec)
    rows: Model[Any, DocRows] = Model(
        "edge_rows",
        _forward,
        init=_init,
        layers=[encoder],
        dims={"nO": None},
        attrs={"spans_key": spans_key},
    )
    window = span_window(kernel_size, before=kernel_size // 2)
    tokens = span_tokens(with_nonempty(token_pooling), window, None, keep_tokens)
    model: Any = chain(rows, tokens)
    model.init = partial(init, rows, tokens, spans_key)
    return model


def _forward(
    model: Model[Any, DocRows], X: Any, is_train: bool
) -> tuple[DocRows, Callable[[Floats2d], Any]]:
    found, backprop_encoder = model.layers[0](X, is_train)
    width = found.vectors.shape[1]
    key = model.attrs["spans_key"]
    places: Any = np.zeros((len(found.vectors), N_PLACES), "f")
    for doc, encoding, start in zip(
        found.docs, found.encodings, found.starts, strict=False
    ):
        spans = get_spans(doc, key, is_train=is_train)
        place = places_of_tokens(lengths_of_pieces(spans, len(doc)))
        places[start + encoding.rows, np.repeat(place, encoding.n_rows)] = 1.0
    Y = model.ops.xp.hstack([found.vectors, model.ops.asarray2f(places)])

    def backprop(dY: Floats2d) -> Any:
        return backprop_encoder(model.ops.xp.ascontiguousarray(dY[:, :width]))

    return found._replace(vectors=Y), backprop


def places_of_tokens(lengths: Any) -> Any:
    """Say which place in its piece each token has: 0 alone, 1 first, 2 last, 3 inside.

    lengths (Ints): The number of tokens of each piece.
    RETURNS (Ints): The places, (n_tokens,).
    """
    ends = np.cumsum(lengths)
    places = np.full(int(lengths.sum()), 3)
    places[ends - 1] = 2
    places[ends - lengths] = 1
    places[(ends - 1)[lengths == 1]] = 0
    return places


def _init(model: Model[Any, DocRows], X: Any = None, Y: Any = None) -> None:
    model.layers[0].initialize(X=X)
    model.set_dim("nO", model.layers[0].get_dim("nO") + N_PLACES)
