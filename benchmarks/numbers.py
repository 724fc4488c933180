"""Means over seeds, differences and intervals, as the pages write them."""

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import mean, stdev

# The score of each seed, in points.
Seeds = dict[int, float]


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95% t interval of a mean."""
    from scipy import stats

    half = stats.t.ppf(0.975, len(values) - 1) * stdev(values) / sqrt(len(values))
    return mean(values) - half, mean(values) + half


def minus(ours: Mapping[int, float], base: Mapping[int, float]) -> Seeds:
    """Return the difference of two arms for each seed that both have."""
    return {seed: ours[seed] - base[seed] for seed in ours if seed in base}


def mean_over(groups: Sequence[Seeds]) -> Seeds:
    """Return the mean of several differences for each seed that all of them have."""
    seeds = set.intersection(*map(set, groups)) if groups else set()
    return {seed: mean(group[seed] for group in groups) for seed in sorted(seeds)}


def difference(values: Seeds) -> str:
    """Return a mean difference with its interval, if it has one, and the seeds."""
    if len(values) < 3:
        n = len(values)
        return f"{signed(mean(values.values()))} (n = {n})" if n else "-"
    low, high = map(signed, interval([*values.values()]))
    middle = signed(mean(values.values()))
    return f"{middle} ({low} to {high}, n = {len(values)})"


def spread(values: Seeds) -> str:
    """Return a mean with its standard deviation and the number of seeds."""
    if not values:
        return "-"
    deviation = f" ± {stdev(values.values()):.1f}" if len(values) > 1 else ""
    return f"{mean(values.values()):.1f}{deviation}, n = {len(values)}"


def signed(value: float, digits: int = 1) -> str:
    """Return a number with its sign."""
    return f"{value:+.{digits}f}".replace("-", "−")
