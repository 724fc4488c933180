"""Layers that are not loaded with weights that are NaN or infinite."""

from typing import Any

import numpy as np
from thinc.api import Model

from ...errors import SpanftError


class FiniteModel(Model[Any, Any]):
    """A layer whose output cannot be NaN in silence because its saved weights are."""

    __slots__ = ()

    def set_param(self, name: str, value: Any) -> None:
        """Set a weight, as loading does whatever the model around the layer is."""
        # A step of training, of which there is a gradient, is not to wait for a GPU.
        is_new = value is not None and not self.has_grad(name)
        if is_new and not np.isfinite(self.ops.to_numpy(value)).all():
            raise SpanftError(
                f"The weights {name} of the layer {self.name!r} are NaN or infinite: "
                "the training diverged, or the file is damaged. Use another checkpoint."
            )
        super().set_param(name, value)


def finite(model: Any) -> Any:
    """Let a model, and all layers in it, check the weights that they are loaded with.

    model (Model): Any model. Layers of other classes than thinc's stay as they are.
    """
    for node in model.walk():
        if type(node) is Model:
            node.__class__ = FiniteModel
    return model
