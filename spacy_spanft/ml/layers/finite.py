"""Models that are not loaded with weights that are NaN or infinite."""

from typing import Any

import numpy as np
from thinc.api import Model

from ...errors import SpanftError


class FiniteModel(Model[Any, Any]):
    """A model whose scores cannot be NaN in silence because its weights are."""

    __slots__ = ()

    def from_dict(self, msg: dict[str, Any]) -> "FiniteModel":
        """Read the weights, as `from_bytes` and `from_disk` do."""
        super().from_dict(msg)
        for node in self.walk():
            for name in filter(node.has_param, node.param_names):
                if not np.isfinite(node.ops.to_numpy(node.get_param(name))).all():
                    raise SpanftError(
                        f"The weights {name} of the layer {node.name!r} are NaN or "
                        "infinite: the training diverged, or the file is damaged. Load "
                        "another checkpoint."
                    )
        return self


def finite(model: Any) -> Any:
    """Let a model check the weights that it is loaded with."""
    model.__class__ = FiniteModel
    return model
