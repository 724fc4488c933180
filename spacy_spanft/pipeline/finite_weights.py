"""What the components of this package check when they are loaded."""

from typing import Any

import numpy as np
from spacy.pipeline import TrainablePipe
from typing_extensions import Self

from ..errors import SpanftError


class FiniteWeights(TrainablePipe):
    """A component that is not loaded with weights that are NaN or infinite.

    Its scores would be NaN as well, and nothing would say so.
    """

    def from_bytes(self, *args: Any, **settings: Any) -> Self:
        """Load the component."""
        super().from_bytes(*args, **settings)
        return self._checked()

    def from_disk(self, *args: Any, **settings: Any) -> Self:
        """Load the component."""
        super().from_disk(*args, **settings)
        return self._checked()

    def _checked(self) -> Self:
        for node in self.model.walk():
            for name in filter(node.has_param, node.param_names):
                weights = node.ops.to_numpy(node.get_param(name))
                if not np.isfinite(weights).all():
                    raise SpanftError(
                        f"The weights {name} of {node.name!r} in {self.name!r} are NaN "
                        "or infinite: the training diverged, or the file is damaged. "
                        "Load another checkpoint."
                    )
        return self
