"""The vectors of any tok2vec, as the flat rows of a batch."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..alignment import encoding_of_tokens
from .curated_rows import curated_rows, is_curated
from .doc_rows import DocRows, as_type_of, init, join, starts_of
from .wordpiece_rows import is_transformer, wordpiece_rows

InT = list[Doc]
OutT = DocRows


def encoder_rows(tok2vec: Model[InT, Any]) -> Model[InT, OutT]:
    """Make the layer.

    tok2vec (Model[List[Doc], List[Floats2d]]): Any tok2vec. If it is a transformer (a
        listener to one, or one of its own), the rows are its wordpieces: the layer
        that pools them into tokens is left out, and need not be there. Else they are
        its tokens.
    RETURNS (Model[List[Doc], DocRows]): Docs to rows.
    """
    layers = tok2vec.layers
    if layers and layers[-1].name == "rows_to_tokens":
        return _rows_of_encoder(layers[0], layers[-1].attrs["grad_factor"])
    if is_transformer(tok2vec):
        return wordpiece_rows(tok2vec)
    if is_curated(tok2vec):
        return curated_rows(tok2vec)
    return Model(
        "token_rows", forward_tokens, init=init, layers=[tok2vec], dims={"nO": None}
    )


def _rows_of_encoder(encoder: Model[InT, OutT], grad_factor: float) -> Model[InT, OutT]:
    """Make the layer of one that gives rows, such as a listener to `spanft_encoder`."""
    return Model(
        "encoder_rows",
        forward_rows,
        init=init,
        layers=[encoder],
        dims={"nO": None},
        attrs={"grad_factor": grad_factor},
    )


def forward_rows(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[Floats2d], Any]]:
    """Take the rows as they are."""
    rows, backprop_encoder = model.layers[0](docs, is_train)
    grad_factor = model.attrs["grad_factor"]

    def backprop(d_vectors: Floats2d) -> Any:
        return backprop_encoder(
            d_vectors * grad_factor if grad_factor != 1 else d_vectors
        )

    return rows, backprop


def forward_tokens(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[Floats2d], InT]]:
    """Take one row for each token."""
    arrays, backprop_source = model.layers[0](docs, is_train)
    encodings = [encoding_of_tokens(len(doc)) for doc in docs]
    starts = starts_of(arrays)
    rows = DocRows(docs, join(model.ops, arrays), starts, encodings, None)

    def backprop(d_vectors: Floats2d) -> InT:
        parts = zip(arrays, pairwise(starts), strict=True)
        return backprop_source(
            [as_type_of(array, d_vectors[a:b]) for array, (a, b) in parts]
        )

    return rows, backprop
