"""Heads that are tried here, and may become the package's if they win."""

from typing import Any

import numpy as np
from spacy.util import registry
from thinc.api import Model, chain, reduce_max, residual

from spacy_spanft.ml.layers.pooling import Pooling
from spacy_spanft.ml.layers.span_window import span_window
from spacy_spanft.ml.layers.with_nonempty import with_nonempty

RESIDUAL = "fewlabels.ResidualCnnPooling.v1"


@registry.architectures(RESIDUAL)
def residual_cnn_pooling(kernel_size: int = 3) -> Pooling:
    """Convolve each sequence beside itself, and take the maximum over it.

    It begins nearly as the maximum over the rows, which the encoder made, and not as
    one over features that nobody has trained.

    kernel_size (int): How many rows a window has.
    RETURNS (Model[Ragged, Floats2d]): (n_rows, width) to (n_sequences, width).
    """
    window = span_window(kernel_size, init_W=_near_zero, before=kernel_size // 2)
    return with_nonempty(chain(residual(window), reduce_max()))


def _near_zero(ops: Any, shape: tuple[int, ...]) -> Any:
    return ops.asarray(np.random.normal(0, 0.002, shape), dtype="f")


def start_as_baseline(model: Model[Any, Any]) -> None:
    """Set the weights of the spans to zero, so that [CLS] alone decides at first.

    model (Model[List[Doc], Floats2d]): A classifier over spans, initialized.
    """
    output = model.get_ref("output_layer")
    W: Any = output.get_param("W").copy()
    width = model.get_ref("rows").get_dim("nO")
    W[:, :width] = 0.0  # the spans come first
    output.set_param("W", W)
