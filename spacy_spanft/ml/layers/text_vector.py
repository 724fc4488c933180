"""The vector of each text that stands beside its pooled spans, or alone."""

from collections.abc import Callable
from typing import Any

from thinc.api import Model
from thinc.types import Floats2d, Ragged

from .doc_rows import DocRows
from .doc_summary import Summary, doc_summary
from .pooler import pooler as make_pooler
from .zeros_for_nothing import zeros_for_nothing

InT = DocRows
OutT = Floats2d


def text_vector(summary: Summary = "cls", pooler: bool = False) -> Model[InT, OutT]:
    """Make the layer.

    summary (Literal["cls", "mean"]): See `doc_summary`.
    pooler (bool): Whether it goes through a dense layer with tanh.
    RETURNS (Model[DocRows, Floats2d]): Rows to vectors, (n_docs, width).
    """
    summarize = doc_summary(summary)
    if not pooler:
        return summarize
    layers: list[Model[Any, Any]] = [summarize, zeros_for_nothing(make_pooler())]
    return Model("text_vector", forward, init=init, layers=layers)


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], Floats2d]]:
    """Apply the layer."""
    summarize, pooler = model.layers
    vectors, backprop_summary = summarize(X, is_train)
    Y, backprop_pooler = pooler(vectors, is_train)

    def backprop(dY: OutT) -> Floats2d:
        d_rows: Any = backprop_summary(backprop_pooler(dY))
        return d_rows

    return Y, backprop


def init(model: Model[InT, OutT], X: Ragged | None = None, Y: Any = None) -> None:
    """Set up the pooler, which needs the width alone."""
    model.layers[1].initialize(X=None if X is None else X.dataXd)
