"""The vectors of an encoder, as the flat rows of a batch."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ...errors import SpanftError
from ..alignment import Encoding, is_sample


class DocRows(NamedTuple):
    """The vectors of a batch of Docs. Their gradient is that of the vectors alone.

    vectors (Floats2d): All rows, one Doc after the other, (n_rows, width).
    starts (list[int]): Where the rows of each Doc begin, and after the last one.
    encodings (list[Encoding]): Which rows are those of which token, for each Doc.
    cls (Optional[list[int]]): Which of its rows stands for all of a Doc, -1 where none
        does; None if the encoder gives no such rows.
    """

    docs: list[Doc]
    vectors: Floats2d
    starts: list[int]
    encodings: list[Encoding]
    cls: list[int] | None


def join(ops: Any, arrays: list[Any]) -> Any:
    """Put rows one after the other, in single precision.

    Some encoders give half precision where they compute in it, and thinc's operations
    for a GPU know no such numbers.
    """
    return ops.xp.concatenate(arrays).astype(np.float32, copy=False)


def join_rows(
    ops: Any, docs: Sequence[Doc], places: Sequence[tuple[DocRows, int]]
) -> DocRows:
    """Put the rows of Docs together that come from several batches.

    ops (Ops): The operations of the encoder's device.
    docs (Sequence[Doc]): The Docs, one at least.
    places (Sequence[tuple[DocRows, int]]): For each a batch, and its index there.
    RETURNS (DocRows): Their rows.
    """
    first, begin = places[0]
    of_one = all(rows is first for rows, _ in places)
    if of_one and all(b == a + 1 for (_, a), (_, b) in pairwise(places)):
        end = begin + len(places)
        vectors: Any = first.vectors[first.starts[begin] : first.starts[end]]
        starts = [
            start - first.starts[begin] for start in first.starts[begin : end + 1]
        ]
    else:
        parts = [
            rows.vectors[rows.starts[i] : rows.starts[i + 1]] for rows, i in places
        ]
        vectors = ops.xp.concatenate(parts)
        starts = [0]
        for part in parts:
            starts.append(starts[-1] + len(part))
    encodings = [rows.encodings[i] for rows, i in places]
    cls = None if first.cls is None else [(rows.cls or [])[i] for rows, i in places]
    return DocRows(list(docs), vectors, starts, encodings, cls)


def as_type_of(array: Any, gradient: Any) -> Any:
    """Give the gradient of an array in the array's precision."""
    return gradient.astype(array.dtype, copy=False)


def starts_of(arrays: list[Any]) -> list[int]:
    """Say where the rows of each Doc begin, and after the last one."""
    return [0, *np.cumsum([len(array) for array in arrays]).tolist()]


def check_annotated(docs: list[Doc]) -> None:
    """Raise where no transformer was there, before a listener makes zeros of it.

    docs (list[Doc]): Docs that a listener is to predict from.
    """
    for doc in docs:
        is_there = doc.has_extension("trf_data") and doc._.trf_data is not None
        if len(doc) and not is_there and not is_sample(doc):
            raise SpanftError(
                "There is no transformer for this component to listen to. Put one "
                'before it in [nlp] pipeline (factory = "transformer"), and name it '
                "in the component's [...model.tok2vec] upstream, or leave upstream "
                'at "*". A transformer that is frozen in training must be taken from '
                "a trained pipeline (source = ...), and be among the "
                "annotating_components."
            )


def init(
    model: Model[list[Doc], DocRows], X: list[Doc] | None = None, Y: Any = None
) -> None:
    """Find out how wide the rows are."""
    source = model.layers[0]
    source.initialize(X=X)
    # A transformer that is not this component's own has been initialized already.
    widths = [node.maybe_get_dim("nO") for node in source.walk()]
    width = source.maybe_get_dim("nO") or next(filter(None, widths), None)
    if width is None:
        raise SpanftError(
            "There is no transformer for this component to listen to. Put one before "
            'it in [nlp] pipeline (factory = "transformer"), and name it in the '
            'component\'s [...model.tok2vec] upstream, or leave upstream at "*". A '
            "transformer that is frozen in training must be taken from a trained "
            "pipeline (source = ...), and be among the annotating_components."
        )
    model.set_dim("nO", width)
