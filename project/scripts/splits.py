"""Data that comes in one piece, cut into parts: always the same way."""

import random
from collections.abc import Callable, Container, Hashable, Sequence
from typing import TypeVar

T = TypeVar("T")

SEED = 0


def split_in_three(rows: Sequence[T]) -> dict[str, list[T]]:
    """Shuffle rows, and cut them into 80% to train, 10% dev and 10% test data.

    RETURNS (dict[str, list[T]]): The parts by their names.
    """
    shuffled = list(rows)
    random.Random(SEED).shuffle(shuffled)
    n = len(shuffled) // 10
    return {
        "train": shuffled[2 * n :],
        "dev": shuffled[:n],
        "test": shuffled[n : 2 * n],
    }


def split_off(
    rows: Sequence[T],
    n: int,
    *,
    key: Callable[[T], Hashable],
    taken: Container[Hashable] = (),
) -> tuple[list[T], list[T]]:
    """Draw some rows, so that no other row says the same as one of them.

    n (int): How many to draw.
    key (Callable[[T], Hashable]): What a row says.
    taken (Container[Hashable]): What is said elsewhere: such rows are left out.
    RETURNS (tuple[list[T], list[T]]): The rows that stay, without those that say the
        same as a drawn one, and the drawn ones, both in their old order.
    """
    free = [row for row in rows if key(row) not in taken]
    places = set(random.Random(SEED).sample(range(len(free)), min(n, len(free))))
    drawn = [free[i] for i in sorted(places)]
    said = {key(row) for row in drawn}
    return [row for row in free if key(row) not in said], drawn
