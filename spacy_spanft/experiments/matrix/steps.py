"""The number of training steps, and the settings that depend on it."""

from collections.abc import Mapping
from typing import Any

from confection import Config

from ...configs import fitting_epochs
from ...errors import SpanftError, shown
from ...training.schedules import evaluation_steps
from .arms import change

_MAX_STEPS = "training.max_steps"
_MAX_EPOCHS = "training.max_epochs"
_FREQUENCY = "training.eval_frequency"
_RATE = "training.optimizer.learn_rate"
# The least number of evaluations in a training.
_N_EVALUATIONS = 10


def set_steps(
    config: Config, given: Mapping[str, Any], n_docs: int, epochs: int | None
) -> None:
    """Set the number of steps, the evaluations and the schedule of a config.

    config (Config): The config, which is changed.
    given (Mapping[str, Any]): Settings to keep: {"training.max_steps": 100}.
    n_docs (int): The number of training texts.
    epochs (Optional[int]): The number of epochs; None is that of `fitting_epochs`.
    """
    training = config["training"]
    n_batches = _n_batches(config, n_docs)
    epochs = fitting_epochs(config, n_docs) if epochs is None else epochs
    can_grow = not given.keys() & {_MAX_STEPS, _FREQUENCY}
    steps = training["max_steps"] if _MAX_STEPS in given else epochs * n_batches
    if not isinstance(steps, int) or steps < 0:
        raise SpanftError(f"{_MAX_STEPS!r} is {shown(steps)}, not a whole number.")
    longest = max(1, steps // _N_EVALUATIONS)
    fitted = evaluation_steps(steps, n_batches, longest, can_grow=can_grow)
    steps = fitted.n_steps if can_grow else steps
    settings = {_MAX_STEPS: steps, _FREQUENCY: fitted.eval_frequency, _MAX_EPOCHS: 0}
    optimizer = training.get("optimizer")
    schedule = optimizer.get("learn_rate") if isinstance(optimizer, dict) else None
    if isinstance(schedule, dict) and "warmup_steps" in schedule:
        settings |= {
            f"{_RATE}.total_steps": steps,
            f"{_RATE}.warmup_steps": steps // 10,
        }
    for path, value in settings.items():
        if path not in given:
            change(config, path, value, "the experiment")


def n_epochs(config: Config, n_docs: int) -> float:
    """Return how often a training sees each text.

    n_docs (int): The number of training texts.
    """
    return float(config["training"]["max_steps"] / _n_batches(config, n_docs))


def _n_batches(config: Config, n_docs: int) -> int:
    """Return the number of steps in an epoch."""
    batcher = config["training"].get("batcher")
    size = batcher.get("size") if isinstance(batcher, dict) else None
    if not isinstance(size, int) or size < 1:
        raise SpanftError(
            f"[training.batcher] size is {shown(size)}, but must be a number of texts. "
            f"Use spacy.batch_by_sequence.v1."
        )
    # spaCy accumulates gradients over parts of a batch, not over several.
    return -(-n_docs // size)
