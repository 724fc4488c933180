"""spaCy's training in several processes, which `torchrun` starts.

Each process trains on its share of every batch. Gradients are summed before each step,
so that all of them learn what one process would learn from the whole batch. The first
process scores the dev data and saves.
"""

import os
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import torch
from confection import Config
from spacy.language import Language
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import registry
from thinc.api import Model, PyTorchShim, xp2torch
from torch import distributed

from ..errors import SpanftError
from ..pipeline.spanft_encoder import SpanftEncoder
from ..util._compat import (
    found_inf,
    set_found_inf,
    spacy_cli,
    torch_module,
    wrapped_train_batches,
)
from ..util.gpu import CPU, select_gpu

Batch = tuple[int, Sequence[Example]]
# The first process scores the dev data, for which the others wait.
_TIMEOUT = timedelta(days=7)
_NO_LOGGER = "spacy-spanft.no_logger.v1"


def train_in_group(
    config: Config, output: Path | None, *, on_gpus: bool = False
) -> None:
    """Train in all processes that `torchrun` has started, each perhaps on its GPU."""
    if "RANK" not in os.environ:
        raise SpanftError(
            "torchrun starts this: torchrun --nproc-per-node 4 -m spacy spanft train "
            "CONFIG. In one process, train with: python -m spacy train CONFIG"
        )
    gpu_id = int(os.environ.get("LOCAL_RANK", "0")) if on_gpus else CPU
    select_gpu(gpu_id)
    distributed.init_process_group("nccl" if on_gpus else "gloo", timeout=_TIMEOUT)
    is_first = distributed.get_rank() == 0
    try:
        with open(os.devnull, "w", encoding="utf8") as null, ExitStack() as stack:
            if not is_first:  # errors come later, from all processes
                stack.enter_context(redirect_stdout(null))
                stack.enter_context(redirect_stderr(null))
            with spacy_cli().show_validation_error():
                nlp = init_nlp(config, use_gpu=gpu_id)
            if not is_first:
                # One log is enough, and loggers want losses, which empty shares lack.
                registry.loggers.register(_NO_LOGGER, func=lambda: _log_nothing)
                nlp.config["training"]["logger"] = {"@loggers": _NO_LOGGER}
            target = output if is_first else None
            if target is not None:
                target.mkdir(parents=True, exist_ok=True)
            with in_group(nlp):
                train(nlp, target, use_gpu=gpu_id, stdout=sys.stdout, stderr=sys.stderr)
    finally:
        distributed.destroy_process_group()


@contextmanager
def in_group(nlp: Language) -> Iterator[None]:
    """Let spaCy's loop train a pipeline, from the first process's weights, with all."""
    settings = nlp.config.interpolate()["training"]
    pipes = [
        pipe
        for name, pipe in nlp.pipeline
        if name not in settings["frozen_components"]
        and isinstance(getattr(pipe, "model", None), Model)
    ]
    gradients = _Gradients(pipes)
    first: Any = pipes[0]
    finish_update, evaluate = first.finish_update, nlp.evaluate
    rank, size = distributed.get_rank(), distributed.get_world_size()

    def sum_and_finish(sgd: Any) -> None:
        gradients.sum()
        finish_update(sgd)

    def evaluate_once(examples: Iterable[Example], **settings: Any) -> Any:
        return _from_first(None if rank else evaluate(examples, **settings))

    def shares(batches: Iterable[Batch]) -> Iterator[Batch]:
        seed = settings["seed"]
        if seed is None:  # all shuffle alike
            seed = _from_first(random.getrandbits(31))
            random.seed(seed)
        if rank:  # each drops out something else
            np.random.seed((seed + rank) % 2**32)
            torch.manual_seed((seed + rank) % 2**32)
        for epoch, batch in with_own_random_state(batches):
            # By length: no share has all long ones.
            ordered = sorted(batch, key=lambda example: len(example.predicted))
            yield epoch, ordered[rank::size]

    # The loop calls finish_update of the first component when all have learned.
    first.finish_update = sum_and_finish
    nlp.evaluate = evaluate_once  # type: ignore[method-assign]
    try:
        with wrapped_train_batches(shares):
            yield
    finally:
        del first.finish_update, nlp.evaluate


def with_own_random_state(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Yield batches that are shuffled alike in all processes.

    spaCy shuffles with Python's global generator, from which some components draw at
    each update, and processes have different numbers of updates.
    """
    batches, state = iter(batches), random.getstate()
    while True:
        outer = random.getstate()
        random.setstate(state)
        batch = next(batches, None)
        state = random.getstate()
        random.setstate(outer)
        if batch is None:
            return
        yield batch


class _Gradients:
    """The gradients of the components that a pipeline trains."""

    def __init__(self, pipes: Sequence[Any]) -> None:
        """Collect the weights, and replace them by those of the first process."""
        self._encoders = [pipe for pipe in pipes if isinstance(pipe, SpanftEncoder)]
        nodes = dict.fromkeys(node for pipe in pipes for node in pipe.model.walk())
        shims = dict.fromkeys(shim for node in nodes for shim in node.shims)
        self._shims = [shim for shim in shims if isinstance(shim, PyTorchShim)]
        self._params = [(node, name) for node in nodes for name in node.param_names]
        self._torch_params: list[Any] = [
            parameter
            for shim in self._shims
            for parameter in torch_module(shim).parameters()
        ]
        weights = [
            xp2torch(node.get_param(name))
            for node, name in self._params
            if node.has_param(name)
        ]
        weights += [parameter.detach() for parameter in self._torch_params]
        for weight in weights:
            distributed.broadcast(weight, 0)

    def sum(self) -> None:
        """Replace the gradients of the shares by that of the whole batch."""
        for encoder in self._encoders:
            encoder.finish_backprop()
            encoder.forget_batch()
        has_grad = [node.has_grad(name) for node, name in self._params]
        has_grad += [parameter.grad is not None for parameter in self._torch_params]
        # A share may have nothing to learn for some layer.
        in_any = iter(_in_any(has_grad, self._torch_params))
        for node, name in self._params:
            if next(in_any):
                node.inc_grad(name, node.ops.xp.zeros_like(node.get_param(name)))
                distributed.all_reduce(xp2torch(node.get_grad(name)))
        for parameter in self._torch_params:
            if next(in_any):
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
                distributed.all_reduce(parameter.grad)
        # With mixed precision, all skip a step whose gradients overflow in one of them.
        overflows = [found_inf(shim) for shim in self._shims]
        flags = _in_any(overflows, self._torch_params)
        for shim, flag in zip(self._shims, flags, strict=True):
            set_found_inf(shim, flag)


def _in_any(flags: Sequence[bool], like: Sequence[torch.Tensor]) -> list[bool]:
    """Return which flags are true in at least one process."""
    device = like[0].device if like else None
    numbers = torch.tensor([int(flag) for flag in flags], device=device)
    distributed.all_reduce(numbers, distributed.ReduceOp.MAX)
    return [bool(number) for number in numbers.tolist()]


def _from_first(value: Any) -> Any:
    """Return the value that the first process has."""
    values = [value]
    distributed.broadcast_object_list(values, 0)
    return values[0]


def _log_nothing(*_: Any) -> tuple[Callable[..., None], Callable[[], None]]:
    return lambda *_: None, lambda: None
