"""In which order training sees the sequences: known for all times, not kept as a state.

Whoever stops after k steps and goes on reads what comes after them, whatever process
reads it: the n-th example of the run is always the same sequence, masked alike.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .text import Sequences

_HELD_OUT = 0  # the pass over the text that is never trained on


def hold_out(
    n_sequences: int, share: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Choose the sequences that measure, spread evenly over the text.

    n_sequences (int): How many there are.
    share (float): The share of them; if it is more than 0, at least one, and ten if
        that is no more than a tenth of all, as in very few nothing may be masked.
    RETURNS (tuple[NDArray[np.int64], NDArray[np.int64]]): Those to train on, and those
        held out.
    """
    n_held = 0
    if share and n_sequences > 1:
        n_held = max(1, min(10, n_sequences // 10), round(share * n_sequences))
    held = ((np.arange(n_held) + 0.5) * n_sequences / max(1, n_held)).astype(np.int64)
    return np.setdiff1d(np.arange(n_sequences), held), held


class Passes:
    """A data set: some sequences again and again, each pass in an order of its own."""

    def __init__(
        self,
        sequences: Sequences,
        indices: NDArray[np.int64],
        n_examples: int,
        seed: int,
    ) -> None:
        """Make a data set.

        indices (NDArray[np.int64]): Which of them to pass over.
        n_examples (int): How many are read in all.
        seed (int): Another seed, another order.
        """
        self._sequences = sequences
        self._indices = indices
        self._n_examples = n_examples
        self._seed = seed % 2**64
        self._pass = -1
        self._order = indices

    def __len__(self) -> int:
        return self._n_examples

    def __getitem__(self, number: int) -> dict[str, Any]:
        if not 0 <= number < self._n_examples:
            raise IndexError(number)
        n_pass, place = divmod(int(number), len(self._indices))
        if n_pass != self._pass:
            random = np.random.default_rng([self._seed, n_pass])
            self._order = random.permutation(self._indices)
            self._pass = n_pass
        index = int(self._order[place])
        return {**self._sequences.get(index), "key": (1 + n_pass, index)}


class HeldOut:
    """A data set: the sequences that measure, always masked alike."""

    def __init__(self, sequences: Sequences, indices: NDArray[np.int64]) -> None:
        """Make a data set.

        indices (NDArray[np.int64]): Which of them are held out.
        """
        self._sequences = sequences
        self._indices = indices

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, number: int) -> dict[str, Any]:
        index = int(self._indices[number])
        return {**self._sequences.get(index), "key": (_HELD_OUT, index)}
