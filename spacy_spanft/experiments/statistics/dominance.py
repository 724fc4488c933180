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

    better (NDArray): The scores of the method that is said to be better.
    worse (NDArray): The scores of the other one.
    n_resamples (int): How often the bootstrap draws.
    seed (int): Of the draws.
    RETURNS (float): An upper bound, with a confidence of 95%: 0 if all is in order,
        below 0.5 if the first method is better, and 1 if all is the other way round.
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
    """Compute the share of the distance where the order is violated.

    better (NDArray): The scores of the method that is said to be better (..., n_runs).
    worse (NDArray): The scores of the other one (..., n_runs).
    RETURNS (NDArray): Of the squared differences of the quantiles, the share where the
        first is lower; a half if there are none.
    """
    gap = _quantiles(better) - _quantiles(worse)
    whole = (gap**2).sum(axis=-1)
    below = (np.minimum(gap, 0.0) ** 2).sum(axis=-1)
    return np.asarray(np.where(whole, below / np.where(whole, whole, 1.0), 0.5))


def _quantiles(scores: Floats) -> Floats:
    """Give the quantiles of the scores as they are: none lies between two of them."""
    at = (np.arange(_N_QUANTILES) + 0.5) / _N_QUANTILES
    places = np.ceil(at * scores.shape[-1]).astype(np.int64) - 1
    return np.asarray(np.sort(scores, axis=-1)[..., places])
