"""What each piece of a text adds to the scores of a classifier over spans.

Where the mean of the wordpieces takes the place of [CLS], a piece also adds what its
wordpieces add to it beyond an average one: in proportion to what the mean would lose
without them (of a mean of length 1, the slope). That is exact. What the average adds,
[CLS], and the similarity of a pair are those of the whole text: the encoder has mixed
its words. They can only be spread, by what the score loses when each piece is deleted
from the text.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from spacy.tokens import Doc
from spacy.util import minibatch
from thinc.api import Model
from thinc.types import Ragged

from ..ml.alignment import Pieces, read_spans, rows_of_windows
from ..ml.layers import span_pool
from ..ml.layers.encoder_rows import DocRows, join_rows
from ..ml.layers.span_pool import is_mean
from .explanation import Contributions, Explanation, Floats, Part
from .linear import pull_back

# From a Doc and its parts to Docs without each of them, as the component gets them.
Delete = Callable[[Doc, list[Part]], Iterator[Doc]]
POOLS = ("span_pool", "text_pool")
# Texts without a part that are encoded at once.
_N_DELETED = 128


def is_over_spans(model: Model[Any, Any]) -> bool:
    """Whether a model classifies texts over spans."""
    has_pool = any(node.name in POOLS for node in model.walk())
    return has_pool and bool(model.has_ref("pooled"))


def explain_texts(pipe: Any, docs: list[Doc], delete: Delete) -> Iterator[Explanation]:
    """Predict the labels of Docs by a `SpanTextCat.v1`, and take their scores apart."""
    model = pipe.model
    X = model.get_ref("rows").predict(docs)
    # Not pipe.predict, which would encode the texts again.
    pooled = model.get_ref("pooled").predict(X)
    pipe.set_annotations(docs, model.layers[-1].predict(pooled))
    labels, is_exclusive = tuple(pipe.labels), not model.attrs["multi_label"]
    for i, doc in enumerate(docs):
        rows = join_rows(model.ops, [doc], [(X, i)])
        made = contributions(model, rows, pooled[i])
        lost = cache(partial(_lost, model, made, partial(delete, doc)))
        trace = partial(lambda made, span: made, made)
        yield Explanation(doc, labels, is_exclusive, None, trace, lost)


def _lost(
    model: Any, made: Contributions, delete: Callable[[list[Part]], Iterator[Doc]]
) -> Floats:
    """Return what the logits lose without each part, (n_parts, n_labels)."""
    output, ops = model.get_ref("output_layer"), model.ops
    W, b = map(output.get_param, "Wb")
    logits = []
    for docs in minibatch(delete(made.parts), _N_DELETED):
        pooled = model.get_ref("pooled").predict(model.get_ref("rows").predict(docs))
        # `zeros_for_nothing` scores a text of which nothing is left 0.
        scored = (pooled @ W.T + b) * pooled.any(axis=1, keepdims=True)
        logits.append(ops.to_numpy(scored))
    return made.logits - np.concatenate(logits)


def contributions(model: Model[Any, Any], X: DocRows, pooled: Any) -> Contributions:
    """Take the scores of one text apart.

    pooled (Floats1d): The vectors of its spans and of the whole text, side by side.
    """
    ops: Any = model.ops
    layers = model.get_ref("pooled")
    pool, *beside = [layers] if layers.name in POOLS else layers.layers
    output: Any = model.get_ref("output_layer")
    W, b = map(output.get_param, "Wb")
    pieces, sequences = pieces_of(pool, X)
    parts = name_parts(X, pieces, pool)
    whole_text, similarity = np.zeros((2, len(W)), "f")
    if not pooled.any():  # `zeros_for_nothing` scores it 0
        zeros = np.zeros((len(parts), len(W)), "f")
        return Contributions(parts, zeros, whole_text, whole_text, similarity)
    width = len(pooled) // (1 + len(beside))
    of_spans, *others = (slice(i, i + width) for i in range(0, len(pooled), width))
    pulled = pull_back(pool.layers[1], sequences, W[:, None, of_spans])
    added = ops.to_numpy((pulled * sequences.dataXd).sum(axis=2).T)
    bias = ops.to_numpy(W[:, of_spans] @ pooled[of_spans] + b) - added.sum(axis=0)
    for layer, columns in zip(beside, others, strict=True):
        total = ops.to_numpy(W[:, columns] @ pooled[columns])
        if layer.name == "pair_match":
            similarity += total
            continue
        whole_text += total
        if is_mean(layer, X):
            of_rows = _of_rows(ops, X, W[:, columns], total, layer, pooled[columns])
            starts = np.cumsum(pieces.lengths) - pieces.lengths
            of_pieces = np.add.reduceat(of_rows[pieces.rows], starts)
            added += of_pieces
            whole_text -= of_pieces.sum(axis=0)
    return Contributions(parts, added, bias, whole_text, similarity)


def _of_rows(
    ops: Any, X: DocRows, W: Any, total: Floats, layer: Model[Any, Any], vector: Any
) -> Floats:
    """Return what each row adds to the score of their mean, beyond an average one."""
    along: Any = 1.0
    length: Any = 1.0
    if layer.attrs["summary"] == "unit_mean":
        # What a row has in the direction of the mean changes only its length.
        along = ops.to_numpy(X.vectors @ vector)[:, None]
        length = max(along[rows_of_windows(X.encodings[0])].mean(), 1e-6)
    added: Floats = ops.to_numpy(X.vectors @ W.T) - along * total
    return added / (length * X.encodings[0].windows.sum())


def pieces_of(pool: Model[Any, Any], X: DocRows) -> tuple[Pieces, Ragged]:
    """Return the pieces of one text, and their vectors as one sequence."""
    (pieces,) = span_pool.pieces_of(pool, X)
    ops: Any = pool.ops
    n_pieces = ops.asarray1i([len(pieces.lengths)])
    rows: Any = X.vectors[ops.asarray1i(pieces.rows)]
    if pool.name != "span_pool":
        return pieces, pool.layers[0].predict(Ragged(rows, n_pieces))
    lengths = ops.asarray1i(pieces.lengths)
    return pieces, Ragged(pool.layers[0].predict(Ragged(rows, lengths)), n_pieces)


def name_parts(X: DocRows, pieces: Pieces, pool: Model[Any, Any]) -> list[Part]:
    """Name the pieces of one text by the tokens whose rows they have."""
    doc, encoding = X.docs[0], X.encodings[0]
    tokens = np.repeat(np.arange(len(doc)), encoding.n_rows).tolist()
    pairs = list(zip(tokens, encoding.rows.tolist(), strict=True))
    # The first token that has a row keeps it, and so do others that have no other row:
    # [UNK] may be that of several.
    first = {row: token for token, row in reversed(pairs)}
    owners = set(first.values())
    last = {row: t for t, row in pairs if t == first[row] or t not in owners}
    key = pool.attrs.get("spans_key")
    span_ends = {} if key is None else dict(read_spans(doc, key).tolist())
    parts = []
    for rows in np.split(pieces.rows, np.cumsum(pieces.lengths)[:-1]):
        named = [row for row in rows.tolist() if row in first]
        if not named:
            parts.append(Part(""))
            continue
        start = min(first[row] for row in named)
        # Where `max_rows` cuts off rows, the span stays whole.
        end = span_ends.get(start, 1 + max(last[row] for row in named))
        parts.append(Part(doc[start:end].text, start, end))
    return parts[: len(pieces.lengths)]
