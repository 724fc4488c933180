"""The scores of runs on resampled test data, on which all statistics are based."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[Any]
Score = Callable[[Rows], float]
Floats = NDArray[np.float64]


class Scores(NamedTuple):
    """The scores of an arm's runs.

    observed (NDArray): On the test data (n_runs).
    drawn (NDArray): On resampled test data, the same draws for all arms
        (n_resamples, n_runs).
    n_docs (int): The number of texts in the test data.
    seeds (Optional[Sequence[int]]): The seed of each run, if known.
    """

    observed: Floats
    drawn: Floats
    n_docs: int
    seeds: Sequence[int] | None = None


def resample(
    arms: Mapping[str, Sequence[Rows]],
    score: Score,
    *,
    n_resamples: int = 1000,
    seed: int = 0,
) -> dict[str, Scores]:
    """Resample the test data with replacement, and score all runs of all arms.

    arms (Mapping[str, Sequence[Rows]]): A row for each Doc, from each run of each arm.
    score (Callable[[Rows], float]): Computes a score from such rows.
    """
    runs = [rows for arm in arms.values() for rows in arm]
    n_docs = len(runs[0])
    chance = np.random.default_rng(seed)
    observed = np.array([score(rows) for rows in runs])
    drawn = np.empty((n_resamples, len(runs)))
    for scores in drawn:
        docs = chance.integers(0, n_docs, n_docs)
        scores[:] = [score(rows[docs]) for rows in runs]
    ends = np.cumsum([len(arm) for arm in arms.values()])[:-1]
    columns = zip(np.split(observed, ends), np.split(drawn, ends, axis=1), strict=True)
    return {
        name: Scores(*both, n_docs) for name, both in zip(arms, columns, strict=True)
    }
