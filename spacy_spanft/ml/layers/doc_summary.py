"""One vector of each Doc, as the encoder sees it: [CLS], or the mean of its rows."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from thinc.api import Model, chain
from thinc.types import Floats2d, Ragged

from ...errors import SpanftError
from ..alignment import Ints, real_rows
from .dense import pooler
from .doc_rows import DocRows
from .scoring import zeros_for_nothing
from .sequences import upload

InT = DocRows
OutT = Floats2d
Summary = Literal["cls", "mean"]
NAME = "doc_summary"


def text_vector(summary: Summary = "cls", has_pooler: bool = False) -> Model[InT, OutT]:
    """Make the layer, followed by a pooler if there is one.

    RETURNS (Model[DocRows, Floats2d]): Rows to vectors, (n_docs, width).
    """
    if not has_pooler:
        return doc_summary(summary)
    model: Model[Any, Any] = chain(doc_summary(summary), zeros_for_nothing(pooler()))
    model.init = init_pooler
    return model


def init_pooler(
    model: Model[InT, OutT], X: Ragged | None = None, Y: Any = None
) -> None:
    """Set up the pooler, which needs the width alone."""
    model.layers[1].initialize(X=None if X is None else X.dataXd)


def doc_summary(summary: Summary = "cls") -> Model[InT, OutT]:
    """Make the layer. A Doc without any row becomes zeros.

    summary (Literal["cls", "mean"]): "cls" takes the row that stands for the text, and
        the mean where the encoder has none (curated transformers, tok2vec); "mean"
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
    rows_of = [_rows_of(X, cls, number) for number in full.tolist()]
    Y = ops.xp.zeros((len(X.docs), X.vectors.shape[1]), X.vectors.dtype)
    if not rows_of:
        return Y, lambda dY: ops.xp.zeros_like(X.vectors)
    sizes = np.array([len(rows) for rows in rows_of])
    # thinc's reduce_mean would ask a GPU whether the sizes are right, five times.
    text_of = np.repeat(full, sizes)
    at, rows, texts, counts = upload(ops, full, np.concatenate(rows_of), text_of, sizes)
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
    """Whether a layer is a `doc_summary` that takes the mean of each Doc's rows."""
    takes_mean = X.cls is None or model.attrs.get("summary") == "mean"
    return model.name == NAME and takes_mean


def _rows_of(X: DocRows, cls: list[int] | None, number: int) -> Ints:
    """Return the row that stands for a Doc, or without any, all but its padding."""
    if cls is None:
        ends = zip(*real_rows(X.encodings[number]), strict=True)
        return X.starts[number] + np.concatenate([np.arange(a, b) for a, b in ends])
    if cls[number] < 0:
        raise SpanftError(
            "The encoder's tokenizer puts no [CLS] at the beginning or the end of a "
            "text, so that no vector of it stands for the whole. In the block of the "
            'model, set summary = "mean", or, in SpanTextCat, use_cls = false.'
        )
    return np.array([X.starts[number] + cls[number]])
