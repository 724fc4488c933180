"""Whether trained models differ: other texts of the same kind, but no other seeds."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .resampling import Scores


class Difference(NamedTuple):
    """How much better the trained models of one arm are than those of another.

    mean (float): The difference of the means over the runs.
    low (float): The lower end of its 95% confidence interval.
    high (float): The upper end.
    p (float): The p-value.
    """

    mean: float
    low: float
    high: float
    p: float


def models_difference(base: Scores, other: Scores) -> Difference:
    """Compare the trained models of two arms by a paired bootstrap over the texts.

    RETURNS (Difference): The difference, other minus base.
    """
    mean = float(other.observed.mean() - base.observed.mean())
    values = other.drawn.mean(axis=1) - base.drawn.mean(axis=1)
    low, high = np.quantile(values, (0.025, 0.975))
    # With one draw added, p is never zero.
    sides = [(np.sum(values <= 0) + 1), (np.sum(values >= 0) + 1)]
    p = min(1.0, 2 * min(sides) / (len(values) + 1)) if base.n_docs > 1 else 1.0
    return Difference(mean, float(low), float(high), float(p))


def holm_adjusted(ps: Sequence[float]) -> list[float]:
    """Correct p-values for their number (Holm, 1979), which SciPy does not offer."""
    adjusted = [0.0] * len(ps)
    least = 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        least = max(least, min(1.0, (len(ps) - rank) * ps[index]))
        adjusted[index] = least
    return adjusted
