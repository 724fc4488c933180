"""Data that comes in one piece, cut into parts: always the same way."""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

SEED = 0


def split_in_three(rows: Sequence[T], seed: int = SEED) -> dict[str, list[T]]:
    """Shuffle rows, and cut them into 80% to train, 10% dev and 10% test data.

    rows (Sequence[T]): The rows.
    seed (int): Where chance begins.
    RETURNS (dict[str, list[T]]): The parts by their names.
    """
    shuffled = list(rows)
    random.Random(seed).shuffle(shuffled)
    n = len(shuffled) // 10
    return {
        "train": shuffled[2 * n :],
        "dev": shuffled[:n],
        "test": shuffled[n : 2 * n],
    }
