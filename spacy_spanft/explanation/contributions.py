"""What each piece of a text adds to the scores of a classifier over spans.

A text's vector is pooled from those of its pieces by maxima, convolutions with ReLU and
means: for a given text all of that is linear. So the gradient of a label's score, times
the piece's vector, is just what the piece adds, and with [CLS] and the biases it makes
up the whole score. An attention pooling is a weighted mean: there, a piece adds its
vector with the weight that it has.

Where the mean of the wordpieces takes the place of [CLS], a piece also adds what its
wordpieces add to it beyond an average one: in proportion to what the mean would lose
without them. What the average adds is left to the whole text.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model
from thinc.types import Ragged

from ..errors import Errors, SpanftError
from ..ml.alignment import Pieces
from ..ml.layers.attention_sum import weights_of
from ..ml.layers.doc_rows import DocRows
from ..ml.layers.doc_summary import is_mean
from ..ml.layers.span_pool import flatten, pieces_of
from .linear import pull_back, unknown_layer

Floats = NDArray[np.float32]
# How many numbers there may be at once of what all labels have.
_MOST = 2**24
POOLS = ("span_pool", "text_pool")


class Contributions(NamedTuple):
    """What is added to the score of each label of one Doc.

    pieces (Pieces): The rows of each piece.
    of_pieces (Floats): What each piece adds, (n_pieces, n_labels).
    whole_text (Floats): What the vector of the whole text adds, without what the pieces
        add to it, (n_labels,).
    similarity (Floats): What that of a pair's texts adds, (n_labels,).
    bias (Floats): What is added whatever the text, (n_labels,).
    weights (Optional[Floats]): The attention of each piece, where there is any.
    """

    pieces: Pieces
    of_pieces: Floats
    whole_text: Floats
    similarity: Floats
    bias: Floats
    weights: Floats | None

    @property
    def logits(self) -> Floats:
        """The logits: scores of the labels before a softmax or a logistic function."""
        others = self.whole_text + self.similarity + self.bias
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
    pieces = pieces_of(pool, X)
    sequences = _sequences(pool, X, pieces)
    output = model.get_ref("output_layer")
    W: Any = output.get_param("W")
    b: Any = output.get_param("b")
    pooled = pool.layers[1].predict(sequences)
    width = pooled.shape[1]
    of_pieces = ops.to_numpy(_of_pieces(pool.layers[1], sequences, W[:, :width]))
    of_mean = np.zeros_like(of_pieces)
    of_spans = pooled @ W[:, :width].T + b
    whole_text, similarity = ops.xp.zeros_like(of_spans), ops.xp.zeros_like(of_spans)
    is_something = pooled.any(axis=1)
    for number, part in enumerate(beside, 1):
        vectors, own = part.predict(X), W[:, number * width : (number + 1) * width]
        total = similarity if part.name == "pair_match" else whole_text
        total += vectors @ own.T
        is_something |= vectors.any(axis=1)
        if is_mean(part, X):
            of_mean = _of_mean(ops, X, pieces, vectors, own)
    # `zeros_for_nothing` scores a text without tokens, for one, 0.
    sums = (part * is_something[:, None] for part in (of_spans, whole_text, similarity))
    of_spans, whole_text, similarity = map(ops.to_numpy, sums)
    weights = _weights(pool.layers[1], sequences)
    ends = np.cumsum([len(one.lengths) for one in pieces]).tolist()
    found = []
    for i, (one, end) in enumerate(zip(pieces, ends, strict=True)):
        mine = slice(end - len(one.lengths), end)
        bias = of_spans[i] - of_pieces[mine].sum(axis=0)
        rest = whole_text[i] - of_mean[mine].sum(axis=0)
        attention = None if weights is None else weights[mine]
        added = of_pieces[mine] + of_mean[mine]
        found.append(Contributions(one, added, rest, similarity[i], bias, attention))
    return found


def _parts(model: Model[Any, Any]) -> list[Model[Any, Any]]:
    """Find what pools the spans, and what stands beside it, such as [CLS]."""
    pooled = model.get_ref("pooled")
    return [pooled] if pooled.name in POOLS else list(pooled.layers)


def _sequences(pool: Model[Any, Any], X: DocRows, pieces: list[Pieces]) -> Ragged:
    """Pool each piece, or convolve the rows where there are no spans."""
    ops: Any = pool.ops
    rows, lengths, n_pieces = (ops.asarray1i(part) for part in flatten(pieces, X))
    is_cut = pool.name == "span_pool"
    sequences = Ragged(X.vectors[rows], lengths if is_cut else n_pieces)
    found = pool.layers[0].predict(sequences)
    return Ragged(found if is_cut else found.dataXd, n_pieces)


def _of_pieces(pooling: Model[Any, Any], pieces: Ragged, W: Any) -> Any:
    """Say what each piece adds to each label, (n_pieces, n_labels)."""
    if unknown_layer(pooling) is not None:
        raise SpanftError(Errors.CANNOT_EXPLAIN.format(pooling=pooling.name))
    vectors: Any = pieces.dataXd
    added = pooling.ops.alloc2f(len(vectors), len(W))
    n_labels = max(1, _MOST // max(1, vectors.size))
    for start in range(0, len(W) if len(vectors) else 0, n_labels):
        own = W[start : start + n_labels]
        shape = len(own), len(pieces.lengths), W.shape[1]
        D = pooling.ops.xp.broadcast_to(own[:, None], shape)
        back = pull_back(pooling, pieces, D)
        added[:, start : start + n_labels] = (back * vectors).sum(axis=2).T
    return added


def _of_mean(ops: Any, X: DocRows, pieces: list[Pieces], means: Any, W: Any) -> Floats:
    """Say what each piece adds to the mean of its text's rows, beyond an average row.

    means (Floats2d): The mean of each text, (n_docs, width).
    W (Floats2d): What makes labels of it, (n_labels, width).
    RETURNS (Floats): (n_pieces, n_labels).
    """
    rows, lengths, _ = flatten(pieces, X)
    if not len(rows):
        return np.zeros((0, len(W)), "f")
    text = np.repeat(np.arange(len(pieces)), [len(one.rows) for one in pieces])
    n_rows = np.array([one.windows.sum() for one in X.encodings])
    added = ops.to_numpy(X.vectors[ops.asarray1i(rows)] @ W.T)
    beyond = (added - ops.to_numpy(means @ W.T)[text]) / n_rows[text, None]
    found: Floats = np.add.reduceat(beyond, np.cumsum(lengths) - lengths, axis=0)
    return found.astype("f")


def _weights(pooling: Model[Any, Any], pieces: Ragged) -> Floats | None:
    """Get the attention of each piece, where the pieces themselves have some."""
    leaves = [node for node in pooling.walk() if not node.layers]
    if [node.name for node in leaves] != ["attention_sum"] or not len(pieces.dataXd):
        return None
    full = Ragged(pieces.dataXd, pieces.lengths[pieces.lengths > 0])
    weights: Floats = pooling.ops.to_numpy(weights_of(leaves[0], full)[:, 0])
    return weights
