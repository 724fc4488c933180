"""Learning rates that end with the training, however many steps that has."""

from collections.abc import Iterator
from typing import Any

from confection import Config

from ..errors import SpanftError, check_number

WARMUP_LINEAR = "spacy-spanft.warmup_linear.v1"
_NO_STEPS = (
    f"{WARMUP_LINEAR} ends with the training, but how many steps that has is not "
    "known. Set [training] max_steps, or max_steps of the schedule, or count the steps "
    'of the epochs with [initialize.after_init] @callbacks = "spacy-spanft.'
    'prepare_training.v1".'
)


def warmup_linear(
    initial_rate: float,
    warmup_share: float = 0.1,
    max_steps: int = 0,
    start_share: float = 0.0,
) -> Iterator[float]:
    """Build `spacy-spanft.warmup_linear.v1`: thinc's, with shares instead of steps.

    initial_rate (float): The highest rate, after warming up.
    warmup_share (float): The share of the steps in which the rate grows from 0.
    max_steps (int): The last step of the training. If it is 0, the callback
        `spacy-spanft.prepare_training.v1` sets it to the steps of the epochs.
    start_share (float): The share of all steps before the schedule begins. The rate is
        0 there, as while `spacy-spanft.freeze_transformer.v1` freezes (with the same
        until_share).
    RETURNS (Iterator[float]): The rate of each step.
    """
    for name, share in (("warmup_share", warmup_share), ("start_share", start_share)):
        expected = "a number from 0 to 1, and less than 1"
        check_number(name, share, lambda share: 0 <= share < 1, expected)
    return _rates(initial_rate, warmup_share, max_steps, start_share)


def first_step(share: float, max_steps: int) -> int:
    """Return the step that follows a share of all steps.

    max_steps (int): The last step of the training, counted from 0.
    """
    return round(share * (max_steps + 1))


def set_max_steps(config: Config) -> None:
    """Set the max_steps of the schedules in a config to that of its [training].

    config (Config): The pipeline's config, which is changed, and so saved with the
        pipeline.
    """
    limits = config.interpolate().get("training", {})
    max_steps = limits.get("max_steps")
    for block in _schedules(config.get("training")):
        if block.get("max_steps"):
            continue
        # With epochs and without a corpus, somebody else has the data and the loop.
        if not max_steps and limits.get("max_epochs", 0) < 1:
            raise SpanftError(_NO_STEPS)
        block["max_steps"] = max_steps or 0


def _schedules(block: Any) -> Iterator[Any]:
    if isinstance(block, dict):
        if block.get("@schedules") == WARMUP_LINEAR:
            yield block
        for inner in block.values():
            yield from _schedules(inner)


def _rates(
    initial_rate: float, warmup_share: float, max_steps: int, start_share: float
) -> Iterator[float]:
    if max_steps < 1:
        # An optimizer takes the first rate when it is made, perhaps before the steps
        # are counted.
        yield 0.0
        raise SpanftError(_NO_STEPS)
    start = first_step(start_share, max_steps)
    n_steps = max_steps + 1 - start
    n_warmup = int(warmup_share * n_steps)
    yield from (0.0 for _ in range(start))
    for step in range(n_warmup):
        yield initial_rate * step / n_warmup
    for step in range(n_warmup, n_steps):
        yield initial_rate * (n_steps - step) / (n_steps - n_warmup)
    while True:
        yield 0.0
