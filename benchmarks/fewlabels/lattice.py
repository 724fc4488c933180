"""A head over all n-grams that match, and not over those of one cut alone."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from spacy.attrs import IDS
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Model
from thinc.types import Floats2d

from spacy_spanft import default_dictionary
from spacy_spanft.ml.alignment import (
    Encoding,
    Ints,
    Pieces,
    align_pieces,
    align_tokens,
)
from spacy_spanft.ml.architectures.textcat import TextCat, span_textcat
from spacy_spanft.ml.layers.doc_rows import DocRows
from spacy_spanft.ml.layers.pooling import Pooling
from spacy_spanft.ml.layers.sequences import Sequences, upload
from spacy_spanft.ml.layers.span_pool import flatten
from spacy_spanft.ml.layers.span_pool import init as init_pool
from spacy_spanft.segmenters.matcher import NgramMatcher

LATTICE = "fewlabels.LatticeTextCat.v1"


@registry.architectures(LATTICE)
@wraps(span_textcat)
def lattice_textcat(**settings: Any) -> TextCat:
    """Pool the longest n-gram of every token, whatever others it overlaps."""
    model = span_textcat(**settings)
    parts = model.get_ref("pooled").layers
    parts[0] = lattice_pool(*parts[0].layers)
    return model


def lattice_pool(
    span_pooling: Pooling, doc_pooling: Pooling
) -> Model[DocRows, Floats2d]:
    """Make the layer that takes the place of `span_pool`.

    span_pooling (Model[Ragged, Floats2d]): Pools the rows of each piece.
    doc_pooling (Model[Ragged, Floats2d]): Pools the pieces of each Doc.
    RETURNS (Model[DocRows, Floats2d]): Rows to vectors, (n_docs, width).
    """
    return Model(
        "lattice_pool",
        _forward,
        init=init_pool,
        layers=[span_pooling, doc_pooling],
        dims={"nO": None, "nI": None},
        attrs={"matcher": NgramMatcher(default_dictionary())},
    )


def _forward(
    model: Model[DocRows, Floats2d], X: DocRows, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Floats2d]]:
    span_pooling, doc_pooling = model.layers
    ops: Any = model.ops
    pieces = [
        overlapping_pieces(encoding, matches(doc, model.attrs["matcher"]))
        for doc, encoding in zip(X.docs, X.encodings, strict=True)
    ]
    flat = flatten(pieces, X)
    rows, lengths, n_pieces = upload(ops, *flat)
    spans = Sequences(X.vectors[rows], lengths, flat[1])
    vectors, backprop_spans = span_pooling(spans, is_train)
    Y, backprop_docs = doc_pooling(Sequences(vectors, n_pieces, flat[2]), is_train)

    def backprop(dY: Floats2d) -> Floats2d:
        d_pieces = backprop_spans(backprop_docs(dY).dataXd)
        d_rows: Floats2d = ops.xp.zeros_like(X.vectors)
        ops.scatter_add(d_rows, rows, d_pieces.dataXd)  # a row is in many pieces
        return d_rows

    return Y, backprop


def matches(doc: Doc, matcher: NgramMatcher) -> Ints:
    """Find the longest n-gram that begins at each token, if one does.

    doc (Doc): The text.
    matcher (NgramMatcher): What finds them, by lower-cased words.
    RETURNS (Ints): Their starts and ends, (n_spans, 2).
    """
    if not len(doc):
        return np.zeros((0, 2), np.int64)
    ids: Any = doc.to_array(IDS["LOWER"])
    lengths = matcher.longest(ids, np.zeros(1, np.int64))
    heads = np.flatnonzero(lengths > 1)
    return np.stack([heads, heads + lengths[heads]], axis=1)


def overlapping_pieces(encoding: Encoding, spans: Ints) -> Pieces:
    """Find the rows of each token, of each row of no token, and of each span.

    encoding (Encoding): What the encoder says of the Doc.
    spans (Ints): Spans, which may overlap, (n_spans, 2).
    RETURNS (Pieces): The spans come last.
    """
    single = align_pieces(encoding, np.zeros((0, 2), np.int64))
    rows, n_rows = align_tokens(encoding)
    ends = np.append(0, np.cumsum(n_rows))
    found = [np.unique(rows[ends[start] : ends[end]]) for start, end in spans]
    found = [one for one in found if len(one)]
    lengths = np.array([len(one) for one in found], np.int64)
    return Pieces(
        np.concatenate([single.rows, *found]), np.append(single.lengths, lengths)
    )
