"""Checks before training of numbers that spaCy accepts, and then trains without end.

Or that end a training before its first step, or let it learn nothing.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...errors import Errors, SpanftError, check_setting


class _Limit(NamedTuple):
    """What a setting must be.

    place (str): Its section, with dots.
    lowest (float): The lowest number it can be.
    note (str): What that number stands for, if it is not a usual one.
    """

    place: str
    name: str
    lowest: float
    note: str = ""


_RATE = "training.optimizer.learn_rate"
_SIZE = "training.batcher.size"
_LIMITS = (
    _Limit("nlp", "batch_size", 1),
    # Before max_steps, which may refer to it.
    _Limit(_RATE, "total_steps", 1),
    _Limit(_RATE, "warmup_steps", 0),
    _Limit(_RATE, "initial_rate", 0),
    _Limit("training.optimizer", "learn_rate", 0),
    _Limit("training", "max_steps", 0, " (0 for no limit)"),
    _Limit("training", "max_epochs", -1, " (-1 to stream the corpus, 0 for no limit)"),
    _Limit("training", "patience", 0, " (0 for no limit)"),
    _Limit("training", "eval_frequency", 1),
    _Limit("training", "accumulate_gradient", 1),
    _Limit("training.batcher", "size", 1),
    _Limit(_SIZE, "start", 1),
    _Limit(_SIZE, "stop", 1),
)


def check_numbers(config: Any) -> None:
    """Raise for a number that a training cannot have, or if nothing would end it.

    config (Config): The pipeline's config, interpolated.
    """
    for limit in _LIMITS:
        block = _block(config, limit.place)
        value = block.get(limit.name)
        # As it is written, a number that is none (NaN) is not lowest or more, either.
        if isinstance(value, int | float) and not value >= limit.lowest:
            _fail(limit.place, limit.name, value, f"{limit.lowest} or more{limit.note}")
    for metric, weight in _block(config, "training.score_weights").items():
        if isinstance(weight, int | float) and not weight >= 0:
            _fail("training.score_weights", metric, weight, "0 or more")
    _check_end(_block(config, "training"))


def _check_end(training: Any) -> None:
    names = ("max_steps", "max_epochs", "patience")
    limits = [training.get(name) for name in names]
    if None not in limits and all(limit <= 0 for limit in limits):
        raise SpanftError(Errors.NO_END)


def check_batches(n_batches: int, batcher: Any) -> None:
    """Raise if a batcher makes no batches, of which spaCy waits for the first forever.

    n_batches (int): The number of batches in an epoch.
    batcher (dict): The block [training.batcher].
    """
    if n_batches == 0:
        settings = ", ".join(f"{k} = {v!r}" for k, v in _numbers(batcher, ""))
        raise SpanftError(Errors.NO_BATCHES.format(settings=settings or "nothing"))


def _numbers(block: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in block.items():
        if isinstance(value, dict):
            yield from _numbers(value, f"{prefix}{name}.")
        elif isinstance(value, int | float):
            yield f"{prefix}{name}", value


def _block(config: Any, place: str) -> Any:
    """Find a section, which is empty if there is none."""
    for name in place.split("."):
        config = config.get(name)
        if not isinstance(config, dict):
            return {}
    return config


def _fail(place: str, name: str, value: Any, expected: str) -> None:
    check_setting(f"[{place}] {name}", value, False, expected)
