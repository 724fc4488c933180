"""The figure of a comparison: where each arm stands on one scale."""

import re
from typing import Any, NamedTuple

from .comparison import Comparison
from .result_tables import metric_name, percent

# Characters that a page cannot hold.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500)


class Figure(NamedTuple):
    """The arms on a scale, whose places are percentages of its width.

    arms (list[dict[str, Any]]): For each its name, its score in words, and the places
        of its mean, its runs ("dots"), and the interval of its difference from the
        first ("bar"), which begins at the first one's mean.
    ticks (list[tuple[float, str]]): The places of numbers on the scale.
    line (float): The place of the first arm's mean.
    """

    arms: list[dict[str, Any]]
    ticks: list[tuple[float, str]]
    line: float
    caption: str


def clean(text: str) -> str:
    """Replace the characters that a page cannot hold; the others keep their places."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def score_figure(comparison: Comparison) -> Figure:
    """Place the score of each arm, of each of its runs, and how far it may be off."""
    arms, first = comparison.arms, comparison.arms[0].mean
    known = {arm.name: arm.method or arm.models for arm in arms}
    bars = {k: (first + d.low, first + d.high) for k, d in known.items() if d}
    values = [score for arm in arms for score in arm.scores]
    values += [end for bar in bars.values() for end in bar]
    low, high = min(values), max(values)
    margin = 0.05 * (high - low) or 0.01
    low, width = low - margin, high - low + 2 * margin

    def place(value: float) -> float:
        return 100 * (value - low) / width

    rows = [
        {
            "name": arm.name,
            "score": percent(arm.scores),
            "mean": place(arm.mean),
            "dots": [place(score) for score in arm.scores],
            "bar": [place(end) for end in bars.get(arm.name, ())],
        }
        for arm in arms
    ]
    step = next((step for step in _STEPS if 100 * width / step < 6), 1000)
    start = int(100 * low // step) + 1
    numbers = [step * i for i in range(start, int(100 * (low + width) // step) + 1)]
    caption = (
        f"{metric_name(comparison)} in percent: the mean, and a small dot for each "
        f"run. The line is the mean of {arms[0].name}; a bar is the 95% interval of "
        "the difference from it, and one that crosses the line shows none."
    )
    ticks = [(place(number / 100), f"{number:g}") for number in numbers]
    return Figure(rows, ticks, place(first), caption)
