"""The vectors of an encoder, as the flat rows of a batch."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc
from thinc.types import Floats2d

from ...errors import SpanftError
from ..alignment import Encoding, is_sample


class DocRows(NamedTuple):
    """The vectors of a batch of Docs. Their gradient is that of the vectors alone.

    vectors (Floats2d): All rows, one Doc after the other, (n_rows, width).
    starts (list[int]): The first row of each Doc, and the number of rows.
    encodings (list[Encoding]): The rows of each token, for each Doc.
    cls (Optional[list[int]]): Which of its rows stands for all of a Doc, -1 where none
        does; None if the encoder has no such rows.
    """

    docs: list[Doc]
    vectors: Floats2d
    starts: list[int]
    encodings: list[Encoding]
    cls: list[int] | None


def join(ops: Any, arrays: list[Any]) -> tuple[Any, list[int]]:
    """Concatenate the rows of Docs, in single precision.

    Some encoders return half precision where they compute in it, which thinc's
    operations for a GPU do not take.

    RETURNS (tuple[Floats2d, list[int]]): The vectors and the starts of DocRows.
    """
    starts = [0, *np.cumsum([len(array) for array in arrays]).tolist()]
    return ops.xp.concatenate(arrays).astype(np.float32, copy=False), starts


def split(d_vectors: Any, arrays: list[Any], starts: list[int]) -> list[Any]:
    """Cut the gradient of joined rows into that of each array, in its precision."""
    parts = [d_vectors[a:b] for a, b in pairwise(starts)]
    pairs = zip(parts, arrays, strict=True)
    return [part.astype(array.dtype, copy=False) for part, array in pairs]


def join_rows(
    ops: Any, docs: Sequence[Doc], places: Sequence[tuple[DocRows, int]]
) -> DocRows:
    """Join the rows of Docs that come from several batches.

    ops (Ops): The operations of the encoder's device.
    docs (Sequence[Doc]): The Docs, one at least.
    places (Sequence[tuple[DocRows, int]]): The batch of each, and its index there.
    RETURNS (DocRows): Their rows.
    """
    first, begin = places[0]
    is_slice = all(rows is first for rows, _ in places) and all(
        b == a + 1 for (_, a), (_, b) in pairwise(places)
    )
    if is_slice:
        bounds = first.starts[begin : begin + len(places) + 1]
        vectors: Any = first.vectors[bounds[0] : bounds[-1]]
        starts = [start - bounds[0] for start in bounds]
    else:
        parts = [rows.vectors[slice(*rows.starts[i : i + 2])] for rows, i in places]
        vectors = ops.xp.concatenate(parts)
        starts = [0, *np.cumsum([len(part) for part in parts]).tolist()]
    encodings = [rows.encodings[i] for rows, i in places]
    cls = None if first.cls is None else [(rows.cls or [])[i] for rows, i in places]
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
        "There is no transformer for this component to listen to. Put one before it in "
        '[nlp] pipeline (factory = "transformer"), and name it in the component\'s '
        '[...model.tok2vec] upstream, or leave upstream at "*". A transformer that is '
        "frozen in training must be taken from a trained pipeline (source = ...), and "
        "be among the annotating_components."
    )
