"""Whether arms differ: trained models on other texts, and methods with other seeds too.

Trained models are compared by a paired bootstrap over the texts. A method is compared
given the spread of both its runs and the texts.

A score varies with the seed of its run and with the texts of the test data. Write y for
the score of a run: y = method + texts + run + (run x texts). The scores of an arm's R
runs on the same texts spread by run and interaction alone, so their variance, divided
by R, is the part of runs, and nothing in it is counted again: the part of texts is the
mean covariance of two runs under a bootstrap over the texts, which has no interaction
in it (Obuchowski and Rockette, 1995: there the runs are radiologists who read images).

The part of texts is estimated from hundreds of texts and taken as known. The part of
runs, V, is estimated from a few, with df degrees of freedom: those of the differences
where runs are paired by seed, Welch's for both arms together where they are not. So
df * V / (true V) is chi-squared, and the test integrates over the true V. Its prior is
(texts / 4 + V) / V**2: without texts that is 1 / V, which yields Student's t (or
Welch's), and where texts dominate the mean of V is its estimate. With 1 / V throughout
(Behrens and Fisher), or a separate integral for each arm, equal methods differ in 1 to
3 of 100 experiments with three runs instead of 5; with Satterthwaite's degrees of
freedom for the whole variance, or the whole of the texts in the prior, in 6 to 8.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .row_scores import Rows, Score

Floats = NDArray[np.float64]
# For an interval of 95% and a test at 5%.
_QUANTILE = 0.975
_POWER = 0.8
_MOST_RUNS = 1000
_N_ERRORS = 400
_LEAST_FOR_ORDER = 5
_N_QUANTILES = 200


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


class Difference(NamedTuple):
    """How much better the trained models of one arm are than those of another.

    `mean` is the difference of the means over the runs, from `low` to `high` its 95%
    confidence interval.
    """

    mean: float
    low: float
    high: float
    p: float


class MethodDifference(NamedTuple):
    """How much better one method is than another; see `Difference`.

    is_paired (bool): Whether runs with the same seed were paired.
    runs_needed (Optional[int]): How many runs of each arm would show a difference as
        large as this one in four of five experiments; None if no number would, because
        the texts are too few.
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

    runs (list[tuple[float, int]]): The variance of runs and their number: of each arm
        or, if they are paired, of the differences.
    texts (float): The part of texts, however many runs there are.
    models (float): What the texts add to the difference of these very runs.
    """

    runs: list[tuple[float, int]]
    texts: float
    models: float

    @property
    def of_runs(self) -> float:
        return sum(value / n for value, n in self.runs)

    @property
    def df(self) -> float:
        """Welch's degrees of freedom of `of_runs`."""
        spread = sum((value / n) ** 2 / (n - 1) for value, n in self.runs)
        return self.of_runs**2 / spread

    def errors(self) -> tuple[Floats, Floats]:
        """Return standard errors that the difference may have, and their weights."""
        from scipy import special

        if not (self.of_runs**2):
            # Where runs are equal, as they can be on a few texts, the texts are left.
            return np.sqrt([self.texts or self.models]), np.ones(1)
        share = (np.arange(_N_ERRORS) + 0.5) / _N_ERRORS
        runs = self.of_runs * self.df / special.chdtri(self.df, share)
        weights = (self.texts / 4 + runs) / runs
        return np.sqrt(self.texts + runs), weights / weights.sum()

    def with_runs(self, n_runs: int) -> tuple[float, float]:
        """Return the variance and its degrees of freedom with so many runs."""
        runs = [value / n_runs for value, _ in self.runs]
        total = sum(runs) + self.texts
        known = sum(value**2 for value in runs) / (n_runs - 1)
        return total, total**2 / known if known else np.inf


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


def models_difference(base: Scores, other: Scores) -> Difference:
    """Compare the trained models of two arms by a paired bootstrap over the texts.

    RETURNS (Difference): The difference, other minus base.
    """
    mean = float(other.observed.mean() - base.observed.mean())
    values = other.drawn.mean(axis=1) - base.drawn.mean(axis=1)
    low, high = np.quantile(values, (0.025, 0.975))
    # With one draw added, p is never zero.
    sides = [(np.sum(values <= 0) + 1), (np.sum(values >= 0) + 1)]
    p = min(1.0, 2 * float(min(sides)) / (len(values) + 1))
    return Difference(mean, float(low), float(high), max(p, _least_p(base)))


def _least_p(scores: Scores) -> float:
    """Return the p-value of a sign test in which all texts agree.

    A bootstrap of a few texts that agree has no spread at all, and would be sure.
    """
    return 2.0 ** (1 - scores.n_docs)


def method_difference(base: Scores, other: Scores) -> MethodDifference | None:
    """Compare two methods over runs and texts.

    base (Scores): The scores of the baseline.
    other (Scores): Those of the other arm.
    RETURNS (Optional[MethodDifference]): The difference, other minus base; None if an
        arm has a single run, which does not show what another seed would give, or if
        there is a single text.
    """
    n_runs = min(len(base.observed), len(other.observed))
    if min(n_runs, base.n_docs) < 2:
        return None
    order = _pairs(base, other)
    variance = _unpaired(base, other) if order is None else _paired(base, other, order)
    mean = float(other.observed.mean() - base.observed.mean())
    errors, weights = variance.errors()
    half = _half_width(errors, weights)
    if errors.max():
        p = _two_tails(abs(mean), errors, weights)
    else:  # neither runs nor texts vary
        p = 2 / (len(base.drawn) + 1) if mean else 1.0
    epsilon = None
    if n_runs >= _LEAST_FOR_ORDER:
        epsilon = almost_stochastic_order(other.observed, base.observed)
    needed = _runs_needed(mean, variance)
    ends = mean - half, mean + half
    p = max(p, _least_p(base))
    return MethodDifference(mean, *ends, p, order is not None, needed, epsilon)


def _pairs(base: Scores, other: Scores) -> list[int] | None:
    """Return the run of the other arm that has the seed of each run of the baseline."""
    if not base.seeds or not other.seeds or len(set(base.seeds)) < len(base.seeds):
        return None
    if sorted(base.seeds) != sorted(other.seeds):
        return None
    return [list(other.seeds).index(seed) for seed in base.seeds]


def _paired(base: Scores, other: Scores, order: list[int]) -> _Variance:
    gaps = other.observed[order] - base.observed
    shared = _covariance(other.drawn[:, order] - base.drawn)
    runs = [(float(gaps.var(ddof=1)), len(gaps))]
    return _Variance(runs, max(0.0, _between(shared)), float(shared.mean()))


def _unpaired(base: Scores, other: Scores) -> _Variance:
    n = len(base.observed)
    shared = _covariance(np.hstack([base.drawn, other.drawn]))
    of_base, of_other = shared[:n, :n], shared[n:, n:]
    both = 2 * float(shared[:n, n:].mean())
    scores = base.observed, other.observed
    runs = [(float(arm.var(ddof=1)), len(arm)) for arm in scores]
    texts = _between(of_base) + _between(of_other) - both
    models = float(of_base.mean() + of_other.mean()) - both
    return _Variance(runs, max(0.0, texts), max(0.0, models))


def _covariance(drawn: Floats) -> Floats:
    return np.asarray(np.cov(drawn, rowvar=False))


def _between(covariance: Floats) -> float:
    """Return the mean covariance of two runs."""
    n = len(covariance)
    return float((covariance.sum() - np.trace(covariance)) / (n * (n - 1)))


def _two_tails(distance: float, errors: Floats, weights: Floats) -> float:
    """Return how often a normal number with one of these errors is that far from 0."""
    from scipy import special

    return float(2 * weights @ special.ndtr(-distance / errors))


def _half_width(errors: Floats, weights: Floats) -> float:
    """Return the distance that chance exceeds in one of twenty experiments."""
    from scipy import optimize, special

    quantile = float(special.ndtri(_QUANTILE))
    low, high = quantile * errors.min(), quantile * errors.max()
    if low == high:
        return float(low)

    def excess(distance: float) -> float:
        return _two_tails(distance, errors, weights) - 2 * (1 - _QUANTILE)

    return float(optimize.brentq(excess, low, high, rtol=1e-6))


def _runs_needed(mean: float, variance: _Variance) -> int | None:
    """Return the least number of runs that would show a difference often enough."""
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
    """Estimate how often so many runs would show a difference."""
    # Much faster than the distributions of scipy.stats.
    from scipy import special

    total, df = variance.with_runs(n_runs)
    if not total:
        return 1.0
    shift = abs(mean) / np.sqrt(total)
    if df > 1e6:  # where SciPy's noncentral t gives up
        return float(special.ndtr(shift - special.ndtri(_QUANTILE)))
    missed = special.nctdtr(df, shift, special.stdtrit(df, _QUANTILE))
    return float(1 - np.nan_to_num(missed))  # NaN where the shift is huge


def holm_adjusted(ps: Sequence[float]) -> list[float]:
    """Correct p-values for their number (Holm, 1979), which SciPy does not offer."""
    order = np.argsort(ps)
    factors = np.arange(len(ps), 0, -1)
    adjusted = np.empty(len(ps))
    products = np.maximum.accumulate(factors * np.take(ps, order))
    adjusted[order] = np.minimum(products, 1.0)
    return [float(p) for p in adjusted]


def almost_stochastic_order(
    better: Floats, worse: Floats, *, n_resamples: int = 1000, seed: int = 0
) -> float:
    """Bound how far the scores of one method are from being higher at every rank.

    This is almost stochastic order (Del Barrio, Cuesta-Albertos and Matrán, 2018; for
    trained models Dror, Shlomov and Reichart, 2019).

    RETURNS (float): An upper bound at 95% confidence: 0 if the first method is better
        at every rank, below 0.5 if it is better on the whole, 1 if it is nowhere.
    """
    from scipy import special

    chance = np.random.default_rng(seed)
    draws = (chance.choice(x, (n_resamples, len(x))) for x in (better, worse))
    # The deviation of the ratio itself: the factor sqrt(nm / (n + m)) of the papers
    # multiplies it and divides it again.
    deviation = np.std(violation(*draws))
    bound = violation(better, worse) + deviation * special.ndtri(0.95)
    return float(np.clip(bound, 0.0, 1.0))


def violation(better: Floats, worse: Floats) -> Floats:
    """Return the share of the squared distance between quantiles that is the wrong way.

    Both are scores (..., n_runs); equal ones have a share of a half.
    """
    gap = _quantiles(better) - _quantiles(worse)
    whole = (gap**2).sum(axis=-1)
    below = (np.minimum(gap, 0.0) ** 2).sum(axis=-1)
    return np.asarray(np.where(whole, below / np.where(whole, whole, 1.0), 0.5))


def _quantiles(scores: Floats) -> Floats:
    at = (np.arange(_N_QUANTILES) + 0.5) / _N_QUANTILES
    return np.quantile(scores, at, axis=-1, method="inverted_cdf").T
