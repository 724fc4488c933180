"""How many steps a training has, and what in its config hangs on that."""

from collections.abc import Mapping
from typing import Any

from confection import Config

from ...configs import fitting_epochs
from ...errors import Errors, SpanftError, shown
from ...training.evaluation import evaluation_steps
from .arms import change

RUNNER = "the runner"
RATE = "training.optimizer.learn_rate"
MAX_STEPS = "training.max_steps"
MAX_EPOCHS = "training.max_epochs"
FREQUENCY = "training.eval_frequency"
# How often the dev data is scored in a training, at least.
N_EVALUATIONS = 10


def set_steps(
    config: Config, given: Mapping[str, Any], n_docs: int, epochs: int | None
) -> None:
    """Let a config train so many epochs, but for what was given.

    config (Config): The config, which is changed.
    given (Mapping[str, Any]): What was given, with dots. It stays.
    n_docs (int): How many texts there are to train on.
    epochs (Optional[int]): How often a training sees each text; None asks
        `fitting_epochs`.
    """
    training = config["training"]
    n_batches = _n_batches(config, n_docs)
    epochs = fitting_epochs(config, n_docs) if epochs is None else epochs
    steps = training["max_steps"] if MAX_STEPS in given else epochs * n_batches
    if not _is_whole(steps):
        text = {"place": MAX_STEPS, "value": shown(steps)}
        raise SpanftError(Errors.NOT_WHOLE.format(**text))
    is_free = MAX_STEPS not in given and FREQUENCY not in given
    longest = max(1, steps // N_EVALUATIONS)
    fitted = evaluation_steps(steps, n_batches, longest, can_grow=is_free)
    steps = fitted.n_steps if is_free else steps
    _set(config, given, MAX_STEPS, steps)
    _set(config, given, MAX_EPOCHS, 0)
    _set(config, given, FREQUENCY, fitted.eval_frequency)
    _set_schedule(config, given, steps)


def n_epochs(config: Config, n_docs: int) -> float:
    """Say how often a config sees each text.

    n_docs (int): How many texts there are to train on.
    RETURNS (float): How often.
    """
    return float(config["training"]["max_steps"] / _n_batches(config, n_docs))


def _n_batches(config: Config, n_docs: int) -> int:
    """Count the steps of an epoch."""
    size = _block(config["training"], "batcher").get("size")
    if not _is_whole(size) or not size:
        raise SpanftError(Errors.NO_BATCH_SIZE.format(value=shown(size)))
    # spaCy accumulates gradients over parts of a batch, not over several.
    return -(-n_docs // size)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _block(config: dict[str, Any], name: str) -> dict[str, Any]:
    """Get a block; it is empty where there is none, or something else by mistake."""
    found = config.get(name)
    return found if isinstance(found, dict) else {}


def _set(config: Config, given: Mapping[str, Any], place: str, value: Any) -> None:
    if place not in given:
        change(config, place, value, RUNNER)


def _set_schedule(config: Config, given: Mapping[str, Any], steps: int) -> None:
    """Let a schedule of thinc's warm up for a tenth of so many steps, and end then."""
    optimizer = _block(config["training"], "optimizer")
    if "warmup_steps" in _block(optimizer, "learn_rate"):
        _set(config, given, f"{RATE}.total_steps", steps)
        _set(config, given, f"{RATE}.warmup_steps", steps // 10)
