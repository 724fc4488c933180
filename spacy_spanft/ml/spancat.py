"""spaCy's SpanCategorizer, which multiplies tokens where it can, and not candidates."""

from collections.abc import Callable
from typing import Any

import numpy as np
from spacy.ml.models.spancat import build_spancat_model
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d, Ragged

from ..util._compat import set_forward
from .alignment import ranges
from .layers.sequences import Layer, Pooling, matmul, upload

# A candidate is as many rows of spaCy's reducer as it has tokens, and several of them
# have each token: of 1 to 5 tokens, 15.
_PARTS = "reduce_last", "reduce_first", "reduce_mean", "reduce_max"
_AFTER = "dropout", "maxout", "layernorm"  # in the order of thinc's walk
Spancat = Model[tuple[list[Doc], Ragged], Floats2d]


def span_categorizer(
    tok2vec: Model[list[Doc], list[Floats2d]], reducer: Pooling, scorer: Layer
) -> Spancat:
    """Build `spacy-spanft.SpanCategorizer.v1`: spaCy's, with a faster mean_max_reducer.

    Its layers, scores and gradients are those of `spacy.SpanCategorizer.v1`, which any
    other reducer gets: a trained pipeline can have either.

    tok2vec (Model[List[Doc], List[Floats2d]]): The vectors of the tokens.
    reducer (Model[Ragged, Floats2d]): Makes one vector of those of a candidate.
    scorer (Model[Floats2d, Floats2d]): The scores of labels.
    """
    model = build_spancat_model(tok2vec, reducer, scorer)
    names = [node.name for node in reducer.walk() if not node.layers]
    if names == [*_PARTS, *_AFTER]:
        set_forward(model, forward)
    return model


def forward(
    model: Spancat, X: tuple[list[Doc], Ragged], is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Any]]:
    """Apply the layers."""
    (tokens, spans), backprop_tokens = model.layers[0](X, is_train)
    reducer, scorer = model.get_ref("reducer"), model.get_ref("scorer")
    vectors, backprop_vectors = mean_max(reducer, tokens, spans, is_train)
    Y, backprop_scores = scorer(vectors, is_train)

    def backprop(dY: Floats2d) -> Any:
        return backprop_tokens((backprop_vectors(backprop_scores(dY)), spans))

    return Y, backprop


def mean_max(
    reducer: Pooling, tokens: Ragged, spans: Ragged, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Ragged]]:
    """Return what spaCy's mean_max_reducer makes of candidates.

    W [t_last; t_first; mean t; max t] + b is a sum of four products. Three of them are
    computed once for each token, and the last one for each candidate.
    """
    ops: Any = reducer.ops
    first, last, lengths, members, member_of = _locate(ops, tokens, spans)
    sizes = ops.asarray2f(lengths[:, None])
    rows: Any = tokens.dataXd
    nodes = {node.name: node for node in reducer.walk()}
    dropout, maxout, norm = map(nodes.__getitem__, _AFTER)
    W: Any = maxout.get_param("W")
    b: Any = maxout.get_param("b")
    nO, nP, nI = W.shape
    W = W.reshape(nO * nP, len(_PARTS), -1).transpose(1, 0, 2)
    of_last, of_first, of_mean = (matmul(rows, W[part].T) for part in range(3))
    maxima, which = ops.reduce_max(rows[members], lengths)
    Y = matmul(maxima, W[3].T)
    Y += b.reshape(-1)
    Y += of_last[last]
    Y += of_first[first]
    # thinc's reduce_mean would make a GPU wait to check the lengths.
    sums = ops.alloc2f(*Y.shape)
    ops.scatter_add(sums, member_of, of_mean[members])
    Y += sums / sizes
    best, piece = ops.maxout(Y.reshape(-1, nO, nP))
    normal, backprop_norm = norm(best, is_train)
    vectors, backprop_dropout = dropout(normal, is_train)

    def backprop(d_vectors: Floats2d) -> Ragged:
        d_best = backprop_norm(backprop_dropout(d_vectors))
        d = ops.backprop_maxout(d_best, piece, nP).reshape(Y.shape)
        parts = (last, d), (first, d), (members, (d / sizes)[member_of])
        dW = ops.xp.empty(W.shape, W.dtype)
        dW[3] = matmul(d.T, maxima)
        d_maxima = ops.backprop_reduce_max(matmul(d, W[3]), which, lengths)
        dX = ops.alloc2f(*rows.shape)
        ops.scatter_add(dX, members, d_maxima)
        for part, (at, d_part) in enumerate(parts):
            d_tokens = ops.alloc2f(len(rows), nO * nP)
            ops.scatter_add(d_tokens, at, d_part)
            dW[part] = matmul(d_tokens.T, rows)
            dX += matmul(d_tokens, W[part])
        maxout.inc_grad("W", dW.transpose(1, 0, 2).reshape(nO, nP, nI))
        maxout.inc_grad("b", d.sum(axis=0).reshape(nO, nP))
        return Ragged(dX, tokens.lengths)

    return vectors, backprop


def _locate(ops: Any, tokens: Ragged, spans: Ragged) -> list[Any]:
    """Return where candidates are in the rows of tokens.

    RETURNS (list[Ints1d]): The first and the last token of each candidate, its length,
        the tokens of all of them, and the candidate that each of these belongs to.
    """
    arrays = tokens.lengths, spans.lengths, spans.dataXd
    of_docs, n_spans, pairs = map(ops.to_numpy, arrays)
    offsets = np.repeat(np.cumsum(of_docs) - of_docs, n_spans)
    first, end = pairs[:, 0] + offsets, pairs[:, 1] + offsets
    lengths = end - first
    member_of = np.repeat(np.arange(len(pairs)), lengths)
    return upload(ops, first, end - 1, lengths, ranges(first, lengths), member_of)
