"""The last layer of a classifier, to which labels can be added later."""

from functools import partial
from typing import Any

import numpy as np
from thinc.api import Linear, Model, Softmax, resizable
from thinc.layers.resizable import resize_linear_weighted
from thinc.types import Floats2d

# What a class added after training begins with. spaCy's models have -5000 here, which
# Adam, with steps as small as the learning rate, never makes good again.
_UNLIKELY = -10.0


def resizable_output(
    exclusive: bool, nO: int | None = None
) -> tuple[Model[Floats2d, Floats2d], Model[Floats2d, Floats2d]]:
    """Make the layer: a softmax, or scores that know nothing of each other.

    exclusive (bool): Whether there is exactly one class.
    nO (Optional[int]): The number of classes.
    RETURNS (tuple[Model, Model]): The layer with the weights, and what holds it, which
        can be resized.
    """
    layer = Softmax if exclusive else Linear
    output: Model[Floats2d, Floats2d] = layer(nO, init_W=small_normal_init)
    # With classes that are added later, the scores of the others stay as they are.
    fill = {"W": 0.0, "b": _UNLIKELY if exclusive else 0.0}
    resize = partial(resize_linear_weighted, fill_defaults=fill)
    growing: Any = resizable(output, resize_layer=resize)
    return output, growing


def small_normal_init(ops: Any, shape: tuple[int, ...]) -> Any:
    """Draw the weights as BERT's own heads do, N(0, 0.02).

    With zeros, as in spaCy's own models, the encoder learns nothing at first, and worse
    all along: see benchmarks/finetune.py.

    ops (Ops): Where the weights are.
    RETURNS (FloatsXd): The weights.
    """
    return ops.asarray(np.random.normal(0, 0.02, shape), dtype="f")
