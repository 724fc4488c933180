"""What each piece of a text adds to the scores of a classifier over spans.

A text's vector is pooled from those of its pieces by maxima, convolutions with ReLU and
means: for a given text all of that is linear. So the gradient of a label's score, times
the piece's vector, is just what the piece adds, and with [CLS] and the biases it makes
up the whole score. An attention pooling is a weighted mean: there, a piece adds its
vector with the weight that it has.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model
from thinc.types import Ragged

from ..errors import Errors, SpanftError
from ..ml.alignment import Pieces
from ..ml.layers import span_pool, text_pool
from ..ml.layers.attention_sum import weights_of
from ..ml.layers.doc_rows import DocRows
from ..ml.layers.span_pool import flatten

Floats = NDArray[np.float32]
_LINEAR = {"span_window", "reduce_max", "reduce_mean", "reduce_sum"}
_LINEAR |= {"reduce_first", "reduce_last"}
_ATTENTION = "attention_sum"
POOLS = ("span_pool", "text_pool")


class Contributions(NamedTuple):
    """What is added to the score of each label of one Doc.

    pieces (Pieces): The rows of each piece.
    of_pieces (Floats): What each piece adds, (n_pieces, n_labels).
    of_text (Floats): What the vector of the whole text adds, (n_labels,).
    of_match (Floats): What the similarity of a pair's texts adds, (n_labels,).
    bias (Floats): What is added whatever the text, (n_labels,).
    weights (Optional[Floats]): The attention of each piece, where there is any.
    """

    pieces: Pieces
    of_pieces: Floats
    of_text: Floats
    of_match: Floats
    bias: Floats
    weights: Floats | None

    @property
    def logits(self) -> Floats:
        """The logits: scores of the labels before a softmax or a logistic function."""
        others = self.of_text + self.of_match + self.bias
        total: Floats = self.of_pieces.sum(axis=0) + others
        return total


def contributions(model: Model[Any, Any], X: DocRows) -> list[Contributions]:
    """Take the scores of Docs apart.

    model (Model[List[Doc], Floats2d]): A `spacy-spanft.SpanTextCat.v1`, trained.
    X (DocRows): What its encoder makes of the Docs.
    RETURNS (list[Contributions]): What adds up to the scores of each.
    """
    ops: Any = model.ops
    pool, *beside = _parts(model)
    is_cut = pool.name == "span_pool"
    pieces = span_pool.pieces_of(pool, X, False) if is_cut else text_pool.pieces_of(X)
    vectors, n_pieces = _vectors(pool, X, pieces)
    output = model.get_ref("output_layer")
    W: Any = output.get_param("W")
    b: Any = output.get_param("b")
    added, pooled, weights = _of_pieces(pool.layers[1], vectors, n_pieces, W)
    width = pooled.shape[1]
    bias = pooled @ W[:, :width].T + b
    of_text, of_match = ops.xp.zeros_like(bias), ops.xp.zeros_like(bias)
    for number, part in enumerate(beside, 1):
        total = of_match if part.name == "pair_match" else of_text
        total += part.predict(X) @ W[:, number * width : (number + 1) * width].T
    # A text without tokens is scored 0.
    is_text = np.array([[len(doc) > 0] for doc in X.docs])
    added = ops.to_numpy(added)
    bias, of_text, of_match = (
        ops.to_numpy(part) * is_text for part in (bias, of_text, of_match)
    )
    weights = None if weights is None else ops.to_numpy(weights)
    ends = np.cumsum([len(one.lengths) for one in pieces]).tolist()
    found = []
    for i, (one, end) in enumerate(zip(pieces, ends, strict=True)):
        mine = slice(end - len(one.lengths), end)
        rest = bias[i] - added[mine].sum(axis=0)
        attention = None if weights is None else weights[mine]
        found.append(
            Contributions(one, added[mine], of_text[i], of_match[i], rest, attention)
        )
    return found


def _parts(model: Model[Any, Any]) -> list[Model[Any, Any]]:
    """Find what pools the spans, and what stands beside it, such as [CLS]."""
    pooled = model.get_ref("pooled")
    return [pooled] if pooled.name in POOLS else list(pooled.layers)


def _vectors(
    pool: Model[Any, Any], X: DocRows, pieces: list[Pieces]
) -> tuple[Any, Any]:
    """Pool each piece, or convolve the rows where there are no spans."""
    ops: Any = pool.ops
    rows, lengths, n_pieces = (ops.asarray1i(part) for part in flatten(pieces, X))
    is_cut = pool.name == "span_pool"
    sequences = Ragged(X.vectors[rows], lengths if is_cut else n_pieces)
    found = pool.layers[0].predict(sequences)
    return (found if is_cut else found.dataXd), n_pieces


def _of_pieces(
    pooling: Model[Any, Any], vectors: Any, n_pieces: Any, W: Any
) -> tuple[Any, Any, Any]:
    """Say what each piece adds to each label, with the pooled vectors."""
    ops: Any = pooling.ops
    X = Ragged(vectors, n_pieces)
    names = {node.name for node in pooling.walk() if not node.layers}
    if not names <= {*_LINEAR, _ATTENTION}:
        raise SpanftError(Errors.CANNOT_EXPLAIN.format(pooling=pooling.name))
    added = ops.alloc2f(len(vectors), len(W))
    if _ATTENTION in names:
        (layer,) = (node for node in pooling.walk() if node.name == _ATTENTION)
        weights = weights_of(layer, Ragged(vectors, n_pieces[n_pieces > 0]))
        added[:] = (vectors * weights) @ W[:, : vectors.shape[1]].T
        return added, pooling.predict(X), weights[:, 0]
    # Going back adds to the gradients of a layer: so it is a copy that does.
    pooled, backprop = pooling.copy()(X, is_train=True)
    for label, row in enumerate(W[:, : pooled.shape[1]]):
        d_pooled = ops.xp.tile(row, (len(pooled), 1))
        added[:, label] = (backprop(d_pooled).dataXd * vectors).sum(axis=1)
    return added, pooled, None
