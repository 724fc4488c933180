"""Keeps weights of a transformer as they are, for one update."""

from collections.abc import Callable
from typing import Any

from thinc.api import Model

from ...ml.optimizers.groups import shim_of
from ...util._compat import forward_of, set_forward, torch_module


class _Frozen:
    """What was changed in a transformer, until its update is finished."""

    def __init__(
        self, transformer: Model[Any, Any], is_frozen: Callable[[str], bool]
    ) -> None:
        self.transformer = transformer
        self.shim = shim_of(transformer)
        self.forward = forward_of(transformer)
        self.parameters = []
        named = list(torch_module(self.shim).named_parameters())
        for name, parameter in named:
            if is_frozen(name):
                # An update leaves zeros here. With them, Adam would go on by its
                # momentum, and weight decay would shrink the weight.
                parameter.grad = None
                if parameter.requires_grad:
                    parameter.requires_grad_(False)
                    self.parameters.append(parameter)
        self.is_whole = not any(parameter.requires_grad for _, parameter in named)
        if self.is_whole:
            set_forward(transformer, self.predict)
        self.shim.finish_update = self.finish_update

    def predict(self, model: Any, docs: Any, is_train: bool) -> tuple[Any, Any]:
        """Go forward as in prediction: no dropout, no graph, and no way back."""
        output, _ = self.forward(model, docs, is_train=False)
        return output, lambda d_output: docs

    def finish_update(self, optimizer: Any) -> None:
        """Update what is not frozen, and put everything back."""
        try:
            # Without gradients there is nothing to do, and the scaler of mixed
            # precision must not take the update for one that did not overflow.
            if not self.is_whole:
                type(self.shim).finish_update(self.shim, optimizer)
        finally:
            self.restore()

    def restore(self) -> None:
        for parameter in self.parameters:
            parameter.requires_grad_(True)
        set_forward(self.transformer, self.forward)
        del self.shim.finish_update


def freeze_for_update(
    transformer: Model[Any, Any], is_frozen: Callable[[str], bool]
) -> None:
    """Keep weights of a transformer bit by bit as they are, for the coming update.

    They get no gradient, and no backward pass is run through anything below the lowest
    one that still learns. If none does, the transformer predicts, without dropout. The
    end of the update (`finish_update`) puts everything back.

    transformer (Model): The transformer, of which nothing is frozen.
    is_frozen (Callable[[str], bool]): Whether to freeze a parameter, by its name.
    """
    _Frozen(transformer, is_frozen)


def restore(transformer: Model[Any, Any]) -> None:
    """Put back what `freeze_for_update` changed, if its update was never finished."""
    finish_update = vars(shim_of(transformer)).get("finish_update")
    holder = getattr(finish_update, "__self__", None)
    if isinstance(holder, _Frozen):
        holder.restore()
