"""How many batches a training has, and which of its steps are evaluated."""

import random
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import NamedTuple

from spacy.training import Example

Batcher = Callable[[Iterable[Example]], Iterable[list[Example]]]
# Batches by words differ with the order of the texts, so several orders are tried.
_N_ORDERS = 3
_MAX_EPOCHS = 100


class EvaluationSteps(NamedTuple):
    """spaCy's loop evaluates step 0 and then every eval_frequency-th step.

    eval_frequency (int): The steps from one evaluation to the next.
    n_steps (int): The last step ([training] max_steps), counted from 0; 0 if training
        has no last step.
    """

    eval_frequency: int
    n_steps: int


class BatchCount(NamedTuple):
    """The batches of a training, each of which is a step.

    per_epoch (int): Those of its shortest epoch; 0 if the batcher makes none.
    total (Optional[int]): Those of all epochs; None if the epochs are not limited. A
        low estimate where batches go by words.
    """

    per_epoch: int
    total: int | None


def evaluation_steps(
    n_steps: int, steps_per_epoch: int, eval_frequency: int, *, can_grow: bool
) -> EvaluationSteps:
    """Choose a frequency that evaluates each epoch and the last step.

    Evaluations never become rarer. As the frequency has to divide the last step, that
    moves: by less than the number of evaluations if it can grow, and by as little as a
    slightly higher frequency allows if it cannot.

    n_steps (int): The last step; 0 if training has none.
    steps_per_epoch (int): The steps of an epoch.
    eval_frequency (int): The most steps from one evaluation to the next.
    can_grow (bool): Whether steps may be added. Otherwise some may be cut.
    RETURNS (EvaluationSteps): The frequency and the last step.
    """
    longest = max(1, min(eval_frequency, steps_per_epoch))
    if n_steps <= 0:
        return EvaluationSteps(longest, 0)
    longest = min(longest, n_steps)
    if can_grow:
        n_evaluations = -(-n_steps // longest)
        frequency = -(-n_steps // n_evaluations)
        return EvaluationSteps(frequency, n_evaluations * frequency)
    near = range(longest, max(1, longest * 3 // 4) - 1, -1)
    frequency = min(near, key=lambda steps: n_steps % steps)
    return EvaluationSteps(frequency, n_steps - n_steps % frequency)


def count_batches(
    examples: Sequence[Example],
    make_batcher: Callable[[], Batcher],
    max_steps: int,
    max_epochs: int,
) -> BatchCount:
    """Count the batches, by making them as spaCy's training loop does.

    examples (Sequence[Example]): The training data.
    make_batcher (Callable): Makes the batcher of [training.batcher], whose size may be
        a schedule that continues from epoch to epoch.
    max_steps (int): The last step; 0 for no limit.
    max_epochs (int): The number of epochs; 0 for no limit.
    RETURNS (BatchCount): The counts.
    """
    orders = [
        _epochs(examples, make_batcher(), max_steps, max_epochs, seed)
        for seed in range(_N_ORDERS)
    ]
    per_epoch = min(min(sizes) for sizes in orders)
    if max_epochs < 1:
        return BatchCount(per_epoch, None)
    totals = [sum(s) + (max_epochs - len(s)) * per_epoch for s in orders]
    spread = max(totals) - min(totals)
    return BatchCount(per_epoch, max(1, min(totals) - spread))


def _epochs(
    examples: Sequence[Example],
    batcher: Batcher,
    max_steps: int,
    max_epochs: int,
    seed: int,
) -> list[int]:
    """Count the batches of each epoch, up to the end of training."""
    shuffled = list(examples)
    # Its own generator: training draws the same numbers with and without the count.
    shuffle = random.Random(seed).shuffle
    sizes: list[int] = []
    for epoch in count():
        is_over = 0 < max_steps < sum(sizes) or 0 < max_epochs == epoch
        if is_over or epoch == _MAX_EPOCHS:
            break
        shuffle(shuffled)
        sizes.append(sum(1 for _ in batcher(shuffled)))
        if not sizes[-1]:
            break
    return sizes
