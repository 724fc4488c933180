"""Scores of runs on resampled test data, with which all statistics begin."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[Any]
Score = Callable[[Rows], float]
Floats = NDArray[np.float64]


class Scores(NamedTuple):
    """The scores of an arm's runs.

    found (NDArray): On the test data (n_runs).
    drawn (NDArray): On resampled test data, the same draws for all arms
        (n_resamples, n_runs).
    n_docs (int): How many texts the test data has.
    seeds (Optional[Sequence[int]]): The seed of each run, if known.
    """

    found: Floats
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

    arms (Mapping[str, Sequence[Rows]]): What each run of each arm said of each Doc.
    score (Callable[[Rows], float]): Makes a score of such rows.
    n_resamples (int): How often to draw.
    seed (int): Of the draws.
    RETURNS (dict[str, Scores]): The scores of each arm.
    """
    runs = [rows for arm in arms.values() for rows in arm]
    n_docs = len(runs[0])
    chance = np.random.default_rng(seed)
    found = np.array([score(rows) for rows in runs])
    drawn = np.empty((n_resamples, len(runs)))
    for scores in drawn:
        docs = chance.integers(0, n_docs, n_docs)
        scores[:] = [score(rows[docs]) for rows in runs]
    ends = np.cumsum([len(arm) for arm in arms.values()])[:-1]
    columns = zip(np.split(found, ends), np.split(drawn, ends, axis=1), strict=True)
    return {
        name: Scores(*both, n_docs) for name, both in zip(arms, columns, strict=True)
    }
