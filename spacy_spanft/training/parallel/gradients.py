"""The gradient of a batch, of which each process has a part."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from spacy.language import Language
from thinc.api import Model, PyTorchShim, xp2torch

from ...errors import Errors, SpanftError
from ...pipeline.spanft_encoder import SpanftEncoder
from ...util._compat import found_inf, set_found_inf, torch_module
from .group import Group


class Gradients:
    """The gradients of all that a pipeline trains."""

    def __init__(self, nlp: Language, frozen: Sequence[str], group: Group) -> None:
        """Look at a pipeline, whose weights become those of the first process.

        nlp (Language): The pipeline, initialized.
        frozen (Sequence[str]): The components that are not trained.
        group (Group): Who trains it.
        """
        self._pipes = list(trained(nlp, frozen))
        self._group = group
        models = [pipe.model for pipe in self._pipes]
        self._nodes = list(dict.fromkeys(n for model in models for n in model.walk()))
        shims = dict.fromkeys(shim for node in self._nodes for shim in node.shims)
        self._shims = [shim for shim in shims if isinstance(shim, PyTorchShim)]
        self._check_same()
        group.copy_first(list(self._weights()))

    def sum(self) -> None:
        """Put the gradient of the whole batch in the place of that of its part."""
        for pipe in self._pipes:
            if isinstance(pipe, SpanftEncoder):
                pipe.finish_backprop()
        thinc = [(node, name) for node in self._nodes for name in node.param_names]
        ours = [p for s in self._shims for p in torch_module(s).parameters()]
        there = [node.has_grad(name) for node, name in thinc]
        there += [parameter.grad is not None for parameter in ours]
        # In a part of a batch, there may be nothing for some layer to learn.
        somewhere = self._group.any(there)
        tensors = []
        for (node, name), is_there in zip(thinc, somewhere, strict=False):
            if is_there:
                tensors.append(_gradient_of(node, name))
        for parameter, is_there in zip(ours, somewhere[len(thinc) :], strict=True):
            if is_there and parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            if is_there:
                tensors.append(parameter.grad)
        self._group.sum(tensors)
        self._share_overflow()

    def _share_overflow(self) -> None:
        """Let all processes leave out a step that is too large for half precision."""
        flags = self._group.any([found_inf(shim) for shim in self._shims])
        for shim, flag in zip(self._shims, flags, strict=True):
            set_found_inf(shim, flag)

    def _weights(self) -> Iterator[torch.Tensor]:
        for node in self._nodes:
            for name in node.param_names:
                if node.has_param(name):
                    yield xp2torch(node.get_param(name))
        for shim in self._shims:
            yield from torch_module(shim).parameters()

    def _check_same(self) -> None:
        """Raise if the processes train different pipelines."""
        mine = [list(weight.shape) for weight in self._weights()]
        is_other = self._group.share(mine) != mine
        if any(self._group.any([is_other])):
            raise SpanftError(Errors.OTHER_WEIGHTS_ELSEWHERE)


def trained(nlp: Language, frozen: Sequence[str]) -> Iterator[Any]:
    """Find the components that spaCy's loop updates.

    nlp (Language): The pipeline.
    frozen (Sequence[str]): The components that are not trained.
    YIELDS (TrainablePipe): The components, in their order.
    """
    for name, pipe in nlp.pipeline:
        is_trainable = getattr(pipe, "is_trainable", False)
        if name not in frozen and is_trainable and isinstance(pipe.model, Model):  # type: ignore[attr-defined]
            yield pipe


def _gradient_of(node: Model[Any, Any], name: str) -> torch.Tensor:
    if not node.has_grad(name):
        weights = node.get_param(name)
        node.set_grad(name, node.ops.alloc(weights.shape, dtype=weights.dtype))
    tensor: torch.Tensor = xp2torch(node.get_grad(name))
    return tensor
