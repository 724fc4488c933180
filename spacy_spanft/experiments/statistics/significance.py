"""Whether trained models differ: what other texts of the same kind would say.

That is the narrower of two questions. Whether a method is better, so that models
trained with other seeds would be as well, is the question of `methods`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .resampling import Scores


class Difference(NamedTuple):
    """How much better the trained models of one arm are than those of another.

    mean (float): The difference of the means over the runs.
    low (float): Where its confidence interval of 95% begins.
    high (float): Where it ends.
    p (float): The p-value.
    """

    mean: float
    low: float
    high: float
    p: float


def models_difference(base: Scores, other: Scores) -> Difference:
    """Compare the trained models of two arms by a paired bootstrap over the texts.

    base (Scores): The scores of the baseline.
    other (Scores): Those of the other arm.
    RETURNS (Difference): The difference, other minus base.
    """
    found = float(other.found.mean() - base.found.mean())
    values = other.drawn.mean(axis=1) - base.drawn.mean(axis=1)
    low, high = np.quantile(values, (0.025, 0.975))
    # With one draw added, p is never zero: nobody has drawn often enough for that.
    sides = [(np.sum(values <= 0) + 1), (np.sum(values >= 0) + 1)]
    p = min(1.0, 2 * min(sides) / (len(values) + 1)) if base.n_docs > 1 else 1.0
    return Difference(found, float(low), float(high), float(p))


def holm_adjusted(ps: Sequence[float]) -> list[float]:
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
