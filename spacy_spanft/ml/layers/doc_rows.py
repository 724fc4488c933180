"""The vectors of an encoder, as the flat rows of a batch, and as those of tokens."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d, Ragged

from ...errors import SpanftError
from ..alignment import Encoding, is_sample
from .sequences import upload, with_nonempty


class DocRows(NamedTuple):
    """The vectors of a batch of Docs. Their gradient is that of the vectors alone.

    cls (Optional[list[int]]): Which of its rows stands for all of a Doc, -1 where none
        does; None if the encoder has no such rows.
    """

    docs: list[Doc]
    vectors: Floats2d  # one Doc after the other, (n_rows, width)
    starts: list[int]  # the first row of each Doc, and the number of rows
    encodings: list[Encoding]
    cls: list[int] | None


def join(ops: Any, arrays: list[Any]) -> tuple[Any, list[int]]:
    """Concatenate the rows of Docs into the vectors and the starts of DocRows."""
    # Some encoders return half precision, which thinc does not take on a GPU.
    starts = [0, *np.cumsum([len(array) for array in arrays]).tolist()]
    return ops.xp.concatenate(arrays).astype(np.float32, copy=False), starts


def split(d_vectors: Any, arrays: list[Any], starts: list[int]) -> list[Any]:
    """Cut the gradient of joined rows into that of each array, in its precision."""
    parts = [d_vectors[a:b] for a, b in pairwise(starts)]
    pairs = zip(parts, arrays, strict=True)
    return [part.astype(array.dtype, copy=False) for part, array in pairs]


def join_rows(
    ops: Any, docs: Sequence[Doc], parts: Sequence[tuple[DocRows, int]]
) -> DocRows:
    """Join the rows of Docs, each the n-th of a batch."""
    first, begin = parts[0]
    end = begin + len(parts)
    numbers = [number for rows, number in parts if rows is first]
    if numbers == list(range(begin, end)):
        bounds = first.starts[begin : end + 1]
        vectors: Any = first.vectors[bounds[0] : bounds[-1]]
        starts = (np.array(bounds) - bounds[0]).tolist()
        encodings = first.encodings[begin:end]
        cls = None if first.cls is None else first.cls[begin:end]
    else:
        arrays = [rows.vectors[slice(*rows.starts[i : i + 2])] for rows, i in parts]
        vectors, starts = join(ops, arrays)
        encodings = [rows.encodings[i] for rows, i in parts]
        cls = None if first.cls is None else [(rows.cls or [])[i] for rows, i in parts]
    return DocRows(list(docs), vectors, starts, encodings, cls)


def check_annotated(docs: list[Doc]) -> None:
    """Raise where no transformer ran, of which a listener would make zeros."""
    for doc in docs:
        is_there = doc.has_extension("trf_data") and doc._.trf_data is not None
        if len(doc) and not is_there and not is_sample(doc):
            raise no_transformer()


def no_transformer() -> SpanftError:
    """Return the error of a listener without a transformer."""
    return SpanftError(
        "There is no transformer before this component to listen to. Put one before it "
        'in [nlp] pipeline (factory = "spanft_encoder"), and name it as upstream in '
        'the component\'s [...model.tok2vec], or leave upstream at "*". One of '
        "spacy-transformers that is frozen must be taken from a trained pipeline "
        "(source = ...), and be among the annotating_components."
    )


def rows_to_tokens(
    pooling: Model[Ragged, Floats2d], grad_factor: float = 1.0
) -> Model[DocRows, list[Floats2d]]:
    """Make the layer, which pools a token's wordpieces in all windows that have them.

    So does spacy-transformers. A token without any wordpiece becomes zeros.
    """
    return Model(
        "rows_to_tokens",
        forward_tokens,
        layers=[with_nonempty(pooling)],
        dims={"nO": None},
        attrs={"grad_factor": grad_factor},
    )


def forward_tokens(
    model: Model[DocRows, list[Floats2d]], X: DocRows, is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], Floats2d]]:
    """Apply the layer."""
    ops: Any = model.ops
    pairs = zip(X.starts, X.encodings, strict=False)
    indices = np.concatenate([start + encoding.rows for start, encoding in pairs])
    sizes = np.concatenate([encoding.n_rows for encoding in X.encodings])
    rows, counts = upload(ops, indices, sizes)
    wordpieces = Ragged(X.vectors[rows], counts)
    vectors, backprop_pooling = model.layers[0](wordpieces, is_train)
    bounds = [0, *np.cumsum([len(doc) for doc in X.docs]).tolist()]

    def backprop(dY: list[Floats2d]) -> Floats2d:
        d_rows: Any = ops.xp.zeros_like(X.vectors)
        d_wordpieces = backprop_pooling(ops.xp.concatenate(dY)).dataXd
        # A row may be one of several tokens.
        ops.scatter_add(d_rows, rows, d_wordpieces * model.attrs["grad_factor"])
        return d_rows

    return [vectors[a:b] for a, b in pairwise(bounds)], backprop
