"""Whether a method is better: what other seeds and other texts would say, together.

A score has two sources of chance, the seed of its run and the texts of the test data.
The variance of runs counts with a share of 1/R in the mean of R runs. What the texts do
to all runs alike, the covariance of two runs under a bootstrap over the texts, stays
however many runs there are. The sum of both is the variance of the difference
(Obuchowski and Rockette, 1995: there the runs are radiologists who read images).

The variance of a few runs is itself uncertain. Satterthwaite's degrees of freedom,
which are usual here, are estimated from it in their turn: where it is small by chance,
they call it certain as well, and with three runs 8 of 100 equal methods differ at a
level of 5%. So its uncertainty is integrated over, as Behrens and Fisher do: that is
Student's t where texts do nothing, and the normal distribution where runs do nothing.
"""

from typing import NamedTuple

import numpy as np

from .dominance import almost_stochastic_order
from .resampling import Floats, Scores

# For an interval of 95% and a test at 5%.
_QUANTILE = 0.975
_POWER = 0.8
_MOST_RUNS = 1000
# So finely the distribution of each variance is cut up.
_N_ERRORS = 400
# Fewer runs say too little about the whole of a distribution.
_LEAST_FOR_ORDER = 5


class MethodDifference(NamedTuple):
    """How much better one method is than another.

    mean (float): The difference of the means over the runs.
    low (float): Where its confidence interval of 95% begins.
    high (float): Where it ends.
    p (float): The p-value.
    is_paired (bool): Whether runs with the same seed were paired.
    runs_needed (Optional[int]): How many runs of each arm would show a difference as
        large as this one in four of five experiments; None if no number would, as the
        texts are too few.
    epsilon (Optional[float]): Almost stochastic order, from five runs on: below 0.5 the
        method is better than the baseline, below 0.2 clearly.
    """

    mean: float
    low: float
    high: float
    p: float
    is_paired: bool
    runs_needed: int | None
    epsilon: float | None


class _Variance(NamedTuple):
    """The variance of a difference, by its sources.

    runs (list[tuple[float, int]]): The variance of runs, and how many there are: of
        each arm or, if they are paired, of the differences.
    texts (float): What texts do to all runs alike.
    models (float): What texts do to the difference of these very runs.
    """

    runs: list[tuple[float, int]]
    texts: float
    models: float

    def errors(self) -> Floats:
        """Give standard errors that the difference may have, all equally likely."""
        from scipy import special

        total = np.array(self.texts)
        for value, n in self.runs:
            share = (np.arange(_N_ERRORS) + 0.5) / _N_ERRORS
            ratios = (n - 1) / special.chdtri(n - 1, share)
            total = np.add.outer(total, value / n * ratios)
        # Where runs are equal, as they can be on a few texts, the texts are left.
        return np.sqrt(total.ravel() if total.any() else [self.models])

    def of(self, n_runs: int) -> tuple[float, float]:
        """Estimate the variance and its degrees of freedom with so many runs."""
        runs = [value / n_runs for value, _ in self.runs]
        total = sum(runs) + self.texts
        known = sum(value**2 for value in runs) / (n_runs - 1)
        return total, total**2 / known if known else np.inf


def method_difference(base: Scores, other: Scores) -> MethodDifference | None:
    """Compare two methods over runs and texts.

    base (Scores): The scores of the baseline.
    other (Scores): Those of the other arm.
    RETURNS (Optional[MethodDifference]): The difference, other minus base; None if an
        arm has one run only, which says nothing of what another seed would give, or
        there is one text.
    """
    n_runs = min(len(base.found), len(other.found))
    if min(n_runs, base.n_docs) < 2:
        return None
    order = _pairs(base, other)
    variance = _unpaired(base, other) if order is None else _paired(base, other, order)
    mean = float(other.found.mean() - base.found.mean())
    errors = variance.errors()
    half = _half_width(errors)
    least = 2 / (len(base.drawn) + 1)  # where neither runs nor texts vary
    return MethodDifference(
        mean,
        mean - half,
        mean + half,
        _p_value(mean, errors, least),
        order is not None,
        _runs_needed(mean, variance),
        almost_stochastic_order(other.found, base.found)
        if n_runs >= _LEAST_FOR_ORDER
        else None,
    )


def _pairs(base: Scores, other: Scores) -> list[int] | None:
    """Find the run of the other arm that has the seed of each run of the baseline."""
    if not base.seeds or not other.seeds or len(set(base.seeds)) < len(base.seeds):
        return None
    if sorted(base.seeds) != sorted(other.seeds):
        return None
    return [list(other.seeds).index(seed) for seed in base.seeds]


def _paired(base: Scores, other: Scores, order: list[int]) -> _Variance:
    found = other.found[order] - base.found
    shared = _covariance(other.drawn[:, order] - base.drawn)
    runs = [(float(found.var(ddof=1)), len(found))]
    return _Variance(runs, max(0.0, _between(shared)), float(shared.mean()))


def _unpaired(base: Scores, other: Scores) -> _Variance:
    n = len(base.found)
    shared = _covariance(np.hstack([base.drawn, other.drawn]))
    of_base, of_other = shared[:n, :n], shared[n:, n:]
    both = 2 * float(shared[:n, n:].mean())
    runs = [(float(arm.found.var(ddof=1)), len(arm.found)) for arm in (base, other)]
    texts = _between(of_base) + _between(of_other) - both
    models = float(of_base.mean() + of_other.mean()) - both
    return _Variance(runs, max(0.0, texts), max(0.0, models))


def _covariance(drawn: Floats) -> Floats:
    return np.asarray(np.cov(drawn, rowvar=False))


def _between(covariance: Floats) -> float:
    """Compute the mean covariance of two runs."""
    n = len(covariance)
    return float((covariance.sum() - np.trace(covariance)) / (n * (n - 1)))


def _p_value(mean: float, errors: Floats, least: float) -> float:
    """Compute how often chance makes as large a difference as this."""
    if not errors.max():
        return least if mean else 1.0
    return _two_tails(abs(mean), errors)


def _two_tails(distance: float, errors: Floats) -> float:
    """Compute how often a normal number is that far from 0, with any of the errors."""
    from scipy import special

    return float(2 * np.mean(special.ndtr(-distance / errors)))


def _half_width(errors: Floats) -> float:
    """Find the distance beyond which chance leads in one of twenty cases."""
    from scipy import optimize, special

    quantile = float(special.ndtri(_QUANTILE))
    low, high = quantile * errors.min(), quantile * errors.max()
    if low == high:
        return float(low)

    def excess(distance: float) -> float:
        return _two_tails(distance, errors) - 2 * (1 - _QUANTILE)

    return float(optimize.brentq(excess, low, high, rtol=1e-6))


def _runs_needed(mean: float, variance: _Variance) -> int | None:
    """Find the least number of runs that would show a difference often enough."""
    low, high = 2, _MOST_RUNS
    if not mean or _power(mean, variance, high) < _POWER:
        return None
    while low < high:
        middle = (low + high) // 2
        if _power(mean, variance, middle) >= _POWER:
            high = middle
        else:
            low = middle + 1
    return low


def _power(mean: float, variance: _Variance, n_runs: int) -> float:
    """Estimate how often a difference would be found with so many runs."""
    # Much faster than the distributions of scipy.stats, which ask many questions.
    from scipy import special

    total, df = variance.of(n_runs)
    if not total:
        return 1.0
    shift = abs(mean) / np.sqrt(total)
    if df > 1e6:  # where SciPy's noncentral t gives up
        return float(special.ndtr(shift - special.ndtri(_QUANTILE)))
    return float(1 - special.nctdtr(df, shift, special.stdtrit(df, _QUANTILE)))
