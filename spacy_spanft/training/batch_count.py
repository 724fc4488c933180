"""How many batches the epochs of a training have."""

import random
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import NamedTuple

from spacy.training import Example

Batcher = Callable[[Iterable[Example]], Iterable[list[Example]]]
# So often training is imagined: batches by words differ with the order of the texts.
_TRIES = 3
# In a training without end no more epochs than this are looked at.
_MANY = 100


class BatchCount(NamedTuple):
    """The batches of a training, each of which is a step.

    per_epoch (int): Those of its shortest epoch; 0 if the batcher makes none.
    total (Optional[int]): Those of all epochs; None if their number is not limited.
        Where it is not certain, because batches go by words, it is a low estimate.
    """

    per_epoch: int
    total: int | None


def count_batches(
    examples: Sequence[Example],
    make_batcher: Callable[[], Batcher],
    max_steps: int,
    max_epochs: int,
) -> BatchCount:
    """Count the batches, by making them as spaCy's training loop does.

    examples (Sequence[Example]): The training data.
    make_batcher (Callable): Makes the batcher of [training.batcher]. Its size may be a
        schedule that goes on from epoch to epoch.
    max_steps (int): The step that training ends with; 0 if none does.
    max_epochs (int): How many epochs it has at most; 0 if that is not limited.
    RETURNS (BatchCount): The numbers.
    """
    tries = [
        _epochs(examples, make_batcher(), max_steps, max_epochs, seed)
        for seed in range(_TRIES)
    ]
    per_epoch = min(min(sizes) for sizes in tries)
    if max_epochs < 1:
        return BatchCount(per_epoch, None)
    totals = [sum(s) + (max_epochs - len(s)) * per_epoch for s in tries]
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
    # One of its own: the training itself draws as if this had not been.
    shuffle = random.Random(seed).shuffle
    sizes: list[int] = []
    for epoch in count():
        is_over = 0 < max_steps < sum(sizes) or 0 < max_epochs == epoch
        if is_over or epoch == _MANY:
            break
        shuffle(shuffled)
        sizes.append(sum(1 for _ in batcher(shuffled)))
        if not sizes[-1]:  # there is no end to wait for
            break
    return sizes
