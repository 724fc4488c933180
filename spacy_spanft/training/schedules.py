"""The steps of a training: how many, which are evaluated, and the rate of each."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence

from spacy.training import Example
from thinc import schedules

from ..errors import SpanftError, check_number

Batcher = Callable[[Iterable[Example]], Iterable[list[Example]]]
WARMUP_LINEAR = "spacy-spanft.warmup_linear.v1"
FREEZE = "spacy-spanft.freeze_transformer.v1"
# Batches by words differ with the order of the texts, so several orders are tried.
_N_ORDERS = 3
_MAX_EPOCHS = 100
# From one evaluation to the next, however long an epoch is.
MOST_STEPS = 100


def evaluation_steps(n_steps: int, steps_per_epoch: int) -> tuple[int, int]:
    """Choose eval_frequency so that each epoch is evaluated, and the last step.

    spaCy's loop counts steps from 0, and evaluates each eval_frequency-th, 0 included.
    As the frequency has to divide the last step, a few steps may be cut. 0 is no limit.
    """
    longest = max(1, min(MOST_STEPS, steps_per_epoch))
    if n_steps <= 0:
        return longest, 0
    longest = min(longest, n_steps)
    near = range(longest, max(1, longest * 3 // 4) - 1, -1)
    frequency = min(near, key=lambda steps: max(n_steps % steps, n_steps // 10))
    return frequency, n_steps - n_steps % frequency


def count_batches(
    examples: Sequence[Example],
    make_batcher: Callable[[], Batcher],
    max_steps: int,
    max_epochs: int,
) -> tuple[int, int | None]:
    """Count the batches, by making them as spaCy's training loop does.

    make_batcher (Callable): Makes the batcher of [training.batcher], whose size may be
        a schedule that continues from epoch to epoch.
    RETURNS (tuple[int, Optional[int]]): The batches of the shortest epoch, 0 if the
        batcher makes none; and those of all epochs, a low estimate where batches go by
        words, or None if the epochs are not limited.
    """
    orders = []
    for seed in range(_N_ORDERS):
        batcher, shuffled = make_batcher(), list(examples)
        sizes: list[int] = []
        # Its own generator: training draws the same numbers with and without the count.
        shuffle = random.Random(seed).shuffle
        while len(sizes) < min(max_epochs or 1, _MAX_EPOCHS):
            shuffle(shuffled)
            sizes.append(sum(1 for _ in batcher(shuffled)))
            if not sizes[-1] or 0 < max_steps < sum(sizes):
                break
        orders.append(sizes)
    per_epoch = min(min(sizes) for sizes in orders)
    if max_epochs < 1:
        return per_epoch, None
    totals = [sum(s) + (max_epochs - len(s)) * per_epoch for s in orders]
    spread = max(totals) - min(totals)
    return per_epoch, max(1, min(totals) - spread)


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
    """
    for name, share in (("warmup_share", warmup_share), ("start_share", start_share)):
        check_number(name, share, lambda x: 0 <= x < 1, "from 0 to 1, and less than 1")
    if max_steps < 1:
        # An optimizer takes the first rate when made, perhaps before steps are counted.
        yield 0.0
        raise SpanftError(
            f"The steps of the training are not known to {WARMUP_LINEAR}. Set "
            "[training] max_steps, or max_epochs and [initialize.after_init] "
            '@callbacks = "spacy-spanft.prepare_training.v1".'
        )
    start = first_step(start_share, max_steps)
    n_steps = max_steps + 1 - start
    n_warmup = int(warmup_share * n_steps)
    rates = schedules.warmup_linear(initial_rate, n_warmup, n_steps)
    yield from schedules.constant_then(0.0, start, rates)


def first_step(share: float, max_steps: int) -> int:
    """Return the step that follows a share of all steps, of which max_steps is last."""
    return round(share * (max_steps + 1))
