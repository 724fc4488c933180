"""The gradient of an encoder, to which several components add."""

from collections.abc import Callable
from typing import Any

from thinc.api import Optimizer


class PendingGradient:
    """The gradient of a batch, until all listeners have given theirs."""

    def __init__(
        self, backprop: Callable[[Any], Any], n_left: int, sgd: Optimizer | None
    ) -> None:
        """Begin with none.

        backprop (Callable[[Any], Any]): What it goes to in the end.
        n_left (int): How many listeners have not given theirs.
        sgd (Optional[Optimizer]): What is to follow at once.
        """
        self.backprop = backprop
        self.n_left = n_left
        self.sgd = sgd
        self.gradient: Any = None

    def add(self, gradient: Any) -> None:
        """Add that of a listener.

        gradient (Floats2d): Its gradient.
        """
        self.n_left -= 1
        if self.gradient is None:
            self.gradient = gradient
        else:
            self.gradient = self.gradient + gradient
