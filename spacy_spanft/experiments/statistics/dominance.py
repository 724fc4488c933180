"""Almost stochastic order: whether one method's scores are higher at nearly every rank.

Del Barrio, Cuesta-Albertos and Matrán (2018); for trained models Dror, Shlomov and
Reichart (2019).
"""

import numpy as np

from .resampling import Floats

_N_QUANTILES = 200
_CONFIDENCE = 0.95


def almost_stochastic_order(
    better: Floats, worse: Floats, *, n_resamples: int = 1000, seed: int = 0
) -> float:
    """Bound how far the scores of one method are from being higher at every rank.

    RETURNS (float): An upper bound at 95% confidence: 0 if the first method is better
        at every rank, below 0.5 if it is better on the whole, 1 if it is nowhere.
    """
    from scipy import stats

    chance = np.random.default_rng(seed)
    drawn = violation(
        *(chance.choice(x, (n_resamples, len(x))) for x in (better, worse))
    )
    # The deviation of the ratio itself: the factor sqrt(nm / (n + m)) of the papers
    # multiplies it and divides it again.
    bound = violation(better, worse) + np.std(drawn) * stats.norm.ppf(_CONFIDENCE)
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
    """Return quantiles without interpolation, along the last axis."""
    at = (np.arange(_N_QUANTILES) + 0.5) / _N_QUANTILES
    indices = np.ceil(at * scores.shape[-1]).astype(np.int64) - 1
    return np.asarray(np.sort(scores, axis=-1)[..., indices])
