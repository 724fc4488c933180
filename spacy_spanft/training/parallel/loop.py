"""spaCy's loop, run by all processes of a group as one."""

import os
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import torch
from spacy import util
from spacy.language import Language
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train

from ...errors import Errors, SpanftError
from ...util._compat import show_validation_error, wrapped_train_batches
from ...util.gpu import CPU, select_gpu
from .gradients import Gradients, trained
from .group import Group, local_rank, said_once

Batch = tuple[int, Sequence[Example]]


def train_in_group(
    config_path: str | Path,
    output: str | Path | None,
    overrides: Mapping[str, Any],
    *,
    on_gpus: bool = False,
) -> None:
    """Train the pipeline of a config in all processes that `torchrun` has started.

    Each has its share of every batch; gradients are summed before each step, so that
    what is learned is what one process would learn. The first process scores the dev
    data, and saves.

    config_path (Union[str, Path]): The config.
    output (Optional[Union[str, Path]]): Where the pipelines are saved.
    overrides (Mapping[str, Any]): Settings in the place of the config's, with dots.
    on_gpus (bool): Whether each process has the GPU of its number on its machine.
    """
    gpu_id = local_rank() if on_gpus else CPU
    select_gpu(gpu_id)
    group = Group(gpu_id)
    try:
        with _output(group):
            with said_once(), show_validation_error(config_path):
                config = util.load_config(
                    config_path, dict(overrides), interpolate=False
                )
                nlp = init_nlp(config, use_gpu=gpu_id)
            if group.rank:
                # Loggers that report to somebody do that once, and those that print
                # want losses, which an empty share does not have.
                util.registry.loggers.register(_NO_LOGGER, func=_log_nothing)
                nlp.config["training"]["logger"] = {"@loggers": _NO_LOGGER}
            target = Path(output) if output is not None and not group.rank else None
            if target is not None:
                target.mkdir(parents=True, exist_ok=True)
            with as_one(nlp, group):
                train(nlp, target, use_gpu=gpu_id, stdout=sys.stdout, stderr=sys.stderr)
    finally:
        group.close()


_NO_LOGGER = "spacy-spanft.no_logger.v1"


def _log_nothing() -> Callable[..., tuple[Callable[..., None], Callable[[], None]]]:
    return lambda *_, **__: (lambda *_: None, lambda: None)


@contextmanager
def as_one(nlp: Language, group: Group) -> Iterator[None]:
    """Let spaCy's loop train a pipeline with all processes of a group.

    nlp (Language): The pipeline, initialized.
    group (Group): The processes.
    """
    settings = nlp.config.interpolate()["training"]
    frozen = settings["frozen_components"]
    first = next(trained(nlp, frozen), None)
    if first is None:
        raise SpanftError(Errors.NOTHING_TRAINED)
    gradients = Gradients(nlp, frozen, group)
    finish_update, evaluate = first.finish_update, nlp.evaluate

    def sum_and_finish(sgd: Any) -> None:
        gradients.sum()  # it is the first that the loop calls, when all have learned
        finish_update(sgd)

    def evaluate_once(examples: Iterable[Example], **settings: Any) -> Any:
        return group.share(None if group.rank else evaluate(examples, **settings))

    def batches(found: Iterable[Batch]) -> Iterator[Batch]:
        _begin_chance(settings["seed"], group)
        for epoch, batch in _by_chance_of_their_own(found):
            yield epoch, share_of(batch, group.rank, group.size)

    with ExitStack() as stack:
        _replace(stack, first, "finish_update", sum_and_finish)
        _replace(stack, nlp, "evaluate", evaluate_once)
        stack.enter_context(wrapped_train_batches(batches))
        yield


def _by_chance_of_their_own(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Give batches, which are the same in all processes whatever else draws numbers.

    They are shuffled by Python's generator, as evaluation is, and some components too:
    `ner` and `parser` at each update, of which processes have as many as their shares
    have parts.
    """
    source, own = iter(batches), random.getstate()
    while True:
        others = random.getstate()
        random.setstate(own)
        try:
            batch = next(source)
        except StopIteration:
            return
        finally:
            own = random.getstate()
            random.setstate(others)
        yield batch


def share_of(batch: Iterable[Example], rank: int, size: int) -> list[Example]:
    """Take the share that a process has of a batch.

    batch (Iterable[Example]): The batch.
    rank (int): The process.
    size (int): How many there are.
    RETURNS (list[Example]): Every so many-th, by length: nobody waits for long ones.
    """
    ordered = sorted(batch, key=lambda example: len(example.predicted))
    return ordered[rank::size]


def _begin_chance(seed: int | None, group: Group) -> None:
    """Let all shuffle alike, and each drop out something else."""
    if seed is None:
        seed = group.share(random.getrandbits(31))
        random.seed(seed)
    if group.rank:
        own = (seed + group.rank) % 2**32
        np.random.seed(own)
        torch.manual_seed(own)


def _replace(
    stack: ExitStack, owner: Any, name: str, function: Callable[..., Any]
) -> None:
    """Give an object another method for a while."""
    setattr(owner, name, function)
    stack.callback(delattr, owner, name)


@contextmanager
def _output(group: Group) -> Iterator[None]:
    """Print in the first process alone. Errors come later, and from all."""
    if group.rank == 0:
        yield
        return
    with (
        open(os.devnull, "w", encoding="utf8") as nothing,
        redirect_stdout(nothing),
        redirect_stderr(nothing),
    ):
        yield
