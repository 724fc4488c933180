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
Welch's), and where texts dominate the mean of V is its estimate. With other priors,
equal methods differ in 1 to 3 or 6 to 8 of 100 experiments instead of 5.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .metrics import Rows, Score

Floats = NDArray[np.float64]
# For an interval of 95% and a test at 5%.
_QUANTILE = 0.975
_N_ERRORS = 400
_ROUNDING = 1e-20  # a variance that equal differences of scores may have


class Scores(NamedTuple):
    """The scores of an arm's runs."""

    observed: Floats  # on the test data (n_runs)
    drawn: Floats  # on the same draws for all arms (n_resamples, n_runs)
    n_docs: int  # the number of texts in the test data
    seeds: Sequence[int] | None = None  # of each run, if known


class Difference(NamedTuple):
    """How much better the trained models, or the method, of one arm are.

    `mean` is the difference of the means over the runs, from `low` to `high` its 95%
    confidence interval.

    is_paired (bool): Whether runs with the same seed were paired.
    """

    mean: float
    low: float
    high: float
    p: float
    is_paired: bool = True


def resample(
    arms: Mapping[str, Sequence[Rows]],
    score: Score,
    *,
    n_resamples: int = 1000,
    seed: int = 0,
) -> dict[str, Scores]:
    """Resample the test data with replacement, and score all runs of all arms.

    arms (Mapping[str, Sequence[Rows]]): A row for each Doc, from each run of each arm.
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
    """Compare the models of two arms, other minus base, by a paired bootstrap."""
    mean = float(other.observed.mean() - base.observed.mean())
    values = other.drawn.mean(axis=1) - base.drawn.mean(axis=1)
    low, high = np.quantile(values, (0.025, 0.975))
    # With one draw added, p is never zero.
    sides = [(np.sum(values <= 0) + 1), (np.sum(values >= 0) + 1)]
    p = min(1.0, 2 * float(min(sides)) / (len(values) + 1))
    return Difference(mean, float(low), float(high), max(p, _least_p(base)))


def _least_p(scores: Scores) -> float:
    """Return p if all texts agree: a bootstrap of a few of them would be sure."""
    return 2.0 ** (1 - scores.n_docs)


def method_difference(base: Scores, other: Scores) -> Difference | None:
    """Compare two methods, other minus base, over runs and texts.

    RETURNS (Optional[Difference]): None if an arm has a single run, which does not show
        what another seed would give, or if there is a single text.
    """
    n_runs = min(len(base.observed), len(other.observed))
    if min(n_runs, base.n_docs) < 2:
        return None
    order = _pairs(base, other)
    parts = _unpaired(base, other) if order is None else _paired(base, other, order)
    mean = float(other.observed.mean() - base.observed.mean())
    errors, weights = _errors(*parts)
    half = _half_width(errors, weights)
    if errors.max():
        p = _two_tails(abs(mean), errors, weights)
    else:  # neither runs nor texts vary
        p = 2 / (len(base.drawn) + 1) if mean else 1.0
    ends = mean - half, mean + half
    return Difference(mean, *ends, max(p, _least_p(base)), order is not None)


def _pairs(base: Scores, other: Scores) -> list[int] | None:
    """Return the run of the other arm that has the seed of each run of the baseline."""
    first, second = list(base.seeds or ()), list(other.seeds or ())
    if not first or len({*first}) < len(first) or sorted(first) != sorted(second):
        return None
    return [second.index(seed) for seed in first]


# The variance of runs and their number, of each arm or, if they are paired, of the
# differences; the part of texts, however many runs there are; and what the texts add to
# the difference of these very runs.
_Parts: TypeAlias = tuple[list[tuple[float, int]], float, float]


def _paired(base: Scores, other: Scores, order: list[int]) -> _Parts:
    gaps = other.observed[order] - base.observed
    shared = np.cov(other.drawn[:, order] - base.drawn, rowvar=False)
    runs = [(float(gaps.var(ddof=1)), len(gaps))]
    return runs, max(0.0, _between(shared)), max(0.0, float(shared.mean()))


def _unpaired(base: Scores, other: Scores) -> _Parts:
    n = len(base.observed)
    shared = np.cov(np.hstack([base.drawn, other.drawn]), rowvar=False)
    of_base, of_other = shared[:n, :n], shared[n:, n:]
    both = 2 * float(shared[:n, n:].mean())
    scores = base.observed, other.observed
    runs = [(float(arm.var(ddof=1)), len(arm)) for arm in scores]
    texts = _between(of_base) + _between(of_other) - both
    models = float(of_base.mean() + of_other.mean()) - both
    return runs, max(0.0, texts), max(0.0, models)


def _between(covariance: NDArray[Any]) -> float:
    """Return the mean covariance of two runs."""
    n = len(covariance)
    return float((covariance.sum() - np.trace(covariance)) / (n * (n - 1)))


def _errors(
    runs: list[tuple[float, int]], texts: float, models: float
) -> tuple[Floats, Floats]:
    """Return the standard errors that a difference may have, and their weights."""
    from scipy import special

    of_runs = sum(value / n for value, n in runs)
    if of_runs < _ROUNDING:
        # Where runs are equal, as they can be on a few texts, the texts are left.
        return np.sqrt([texts or models]), np.ones(1)
    df = of_runs**2 / sum((value / n) ** 2 / (n - 1) for value, n in runs)  # Welch's
    share = (np.arange(_N_ERRORS) + 0.5) / _N_ERRORS
    drawn = of_runs * df / special.chdtri(df, share)
    weights = (texts / 4 + drawn) / drawn
    return np.sqrt(texts + drawn), weights / weights.sum()


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


def holm_adjusted(ps: Sequence[float]) -> list[float]:
    """Correct p-values for their number (Holm, 1979), which SciPy does not offer."""
    order = np.argsort(ps)
    factors = np.arange(len(ps), 0, -1)
    adjusted = np.empty(len(ps))
    products = np.maximum.accumulate(factors * np.take(ps, order))
    adjusted[order] = np.minimum(products, 1.0)
    return [float(p) for p in adjusted]
