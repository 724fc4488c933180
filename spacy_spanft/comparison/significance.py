"""Whether a difference between two arms could be chance."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[Any]
Score = Callable[[Rows], float]


class Difference(NamedTuple):
    """How much better one arm is than another.

    mean (float): The difference of the means over the runs.
    low (float): Where its confidence interval of 95% begins.
    high (float): Where it ends.
    p (float): How probable so great a difference is if there is none.
    test (str): The test that gave p.
    """

    mean: float
    low: float
    high: float
    p: float
    test: str


def paired_bootstrap(
    base: Sequence[Rows],
    other: Sequence[Rows],
    score: Score,
    *,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Difference:
    """Draw the test data anew, the same Docs for both arms, and score all runs.

    base (Sequence[Rows]): What each run of the baseline said of each Doc.
    other (Sequence[Rows]): The same of the other arm.
    score (Callable[[Rows], float]): Makes a score of such rows.
    n_resamples (int): How often to draw.
    seed (int): Of the draws.
    RETURNS (Difference): The difference, other minus base.
    """
    from scipy import stats

    def difference(docs: NDArray[np.int64]) -> float:
        means = [np.mean([score(rows[docs]) for rows in arm]) for arm in (base, other)]
        return float(means[1] - means[0])

    docs = np.arange(len(base[0]))
    found = difference(docs)
    if len(docs) < 2 or _are_equal(base, other):
        return Difference(found, found, found, 1.0, "paired bootstrap")
    drawn = stats.bootstrap(
        (docs,),
        difference,
        vectorized=False,
        n_resamples=n_resamples,
        method="percentile",
        rng=np.random.default_rng(seed),
    )
    values = drawn.bootstrap_distribution
    # With one draw added, p is never zero: nobody has drawn often enough for that.
    sides = [(np.sum(values <= 0) + 1), (np.sum(values >= 0) + 1)]
    p = min(1.0, 2 * min(sides) / (len(values) + 1))
    low, high = drawn.confidence_interval
    return Difference(found, float(low), float(high), float(p), "paired bootstrap")


def mcnemar(
    base: Sequence[NDArray[np.bool_]], other: Sequence[NDArray[np.bool_]]
) -> float:
    """Test whether one arm is right more often than the other: McNemar's exact test.

    Of several runs, each is tested against the one with the same place. Twice the
    median of the p-values is valid however much the runs have to do with each other
    (Rüger, 1978).

    base (Sequence[NDArray]): Of each run of the baseline, which Docs it got right.
    other (Sequence[NDArray]): The same of the other arm.
    RETURNS (float): The p-value.
    """
    from scipy import stats

    found = []
    for a, b in zip(base, other, strict=False):
        only_a, only_b = int((a & ~b).sum()), int((b & ~a).sum())
        n = only_a + only_b
        found.append(stats.binomtest(only_a, n).pvalue if n else 1.0)
    factor = 2 if len(found) > 1 else 1
    return min(1.0, factor * float(np.median(found)))


def holm(ps: Sequence[float]) -> list[float]:
    """Correct p-values for how many there are (Holm, 1979).

    ps (Sequence[float]): The p-values.
    RETURNS (list[float]): What each is if all that are smaller hold too.
    """
    found = [0.0] * len(ps)
    least = 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        least = max(least, min(1.0, (len(ps) - rank) * ps[index]))
        found[index] = least
    return found


def _are_equal(base: Sequence[Rows], other: Sequence[Rows]) -> bool:
    return len(base) == len(other) and all(
        np.array_equal(a, b) for a, b in zip(base, other, strict=True)
    )
