"""One vector of each Doc, as the encoder sees it: [CLS], or the mean of its rows."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d

from ...errors import SpanftError
from ..alignment import Ints, real_rows
from .doc_rows import DocRows
from .sequences import upload

InT = DocRows
OutT = Floats2d
Summary = Literal["cls", "mean"]
NAME = "doc_summary"


def doc_summary(summary: Summary = "cls") -> Model[InT, OutT]:
    """Make the layer. A Doc without any row becomes zeros.

    summary (Literal["cls", "mean"]): "cls" takes the row that stands for the text, and
        the mean where the encoder gives none (curated transformers, tok2vec); "mean"
        takes that of all wordpieces, [CLS] and [SEP] among them.
    RETURNS (Model[DocRows, Floats2d]): Rows to vectors, (n_docs, width).
    """
    return Model(NAME, forward, attrs={"summary": summary})


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[Any], Floats2d]]:
    """Apply the layer."""
    ops: Any = model.ops
    full = np.flatnonzero(np.diff(X.starts))
    cls = None if is_mean(model, X) else X.cls
    if cls is None:
        own = [_real(X, number) for number in full.tolist()]
    else:
        own = _those_of_texts(X, cls, full)
    Y = ops.xp.zeros((len(X.docs), X.vectors.shape[1]), X.vectors.dtype)
    if not own:
        return Y, lambda dY: ops.xp.zeros_like(X.vectors)
    sizes = np.array([len(rows) for rows in own])
    # thinc's reduce_mean would ask a GPU whether the sizes are right, five times.
    text_of = np.repeat(full, sizes)
    at, rows, texts, counts = upload(ops, full, np.concatenate(own), text_of, sizes)
    ops.scatter_add(Y, texts, X.vectors[rows])
    Y[at] /= counts[:, None]

    def backprop(dY: Any) -> Floats2d:
        d = ops.xp.zeros_like(dY)
        d[at] = dY[at] / counts[:, None]
        d_rows = ops.xp.zeros_like(X.vectors)
        d_rows[rows] = d[texts]
        return d_rows

    return Y, backprop


def is_mean(model: Model[Any, Any], X: DocRows) -> bool:
    """Say whether what a layer gives is the mean of each Doc's rows.

    model (Model[DocRows, Floats2d]): Any layer that makes a vector of each Doc.
    X (DocRows): What it is given.
    RETURNS (bool): Whether it is this layer, and takes the mean.
    """
    takes_mean = X.cls is None or model.attrs.get("summary") == "mean"
    return model.name == NAME and takes_mean


def _real(X: DocRows, number: int) -> Ints:
    """Find the rows of a Doc that are not padding."""
    ends = zip(*real_rows(X.encodings[number]), strict=True)
    return X.starts[number] + np.concatenate([np.arange(a, b) for a, b in ends])


def _those_of_texts(X: DocRows, cls: Sequence[int], full: Ints) -> list[Ints]:
    """Find the row that stands for each Doc."""
    if any(cls[number] < 0 for number in full):
        raise SpanftError(
            "The encoder's tokenizer puts no [CLS] at the beginning or the end of a "
            "text, so that no vector of it stands for the whole. In the block of the "
            'model, set summary = "mean", or, in SpanTextCat, use_cls = false.'
        )
    return [np.array([X.starts[number] + cls[number]]) for number in full]
