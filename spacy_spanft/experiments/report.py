"""The reports of comparisons: JSON, Markdown, and one page of HTML with a figure."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from spacy.util import get_package_version

from ..explanation.display import render
from ..util.files import write_whole
from . import result_tables as tables
from .comparison import Comparison
from .disagreements import disagreements
from .metrics import OF_NUMBERS

_PACKAGES = ("spacy", "torch", "transformers", "spacy-spanft")
_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500)


def report(comparisons: Mapping[str, Comparison], output: Path | None = None) -> str:
    """Return comparisons in Markdown, each under the name of its task.

    output (Optional[Path]): A folder for comparison.json, comparison.md and
        comparison.html.
    """
    text = "\n".join(
        f"## {tables.escape_markdown(name)}\n\n{tables.to_markdown(comparison)}"
        for name, comparison in comparisons.items()
    )
    if output is None:
        return text
    values = {"tasks": {name: c.to_json() for name, c in comparisons.items()}}
    pages = {"json": f"{json.dumps(values, indent=2)}\n", "md": text}
    for ending, page in {**pages, "html": to_html(comparisons)}.items():
        data = page.encode("utf-8", "backslashreplace")  # as names may be
        write_whole(output / f"comparison.{ending}", data)
    return text


def to_html(comparisons: Mapping[str, Comparison]) -> str:
    """Return the comparisons of tasks, by their names, as one page."""
    return render(
        Path(__file__).with_name("page.html.jinja"),
        comparisons=comparisons,
        versions=[f"{name} {get_package_version(name)}" for name in _PACKAGES],
        tables=tables,
        score_figure=score_figure,
        disagreements=disagreements,
        of_numbers=OF_NUMBERS,
    )


class Figure(NamedTuple):
    """The arms on a scale, whose places are percentages of its width."""

    arms: list[dict[str, Any]]  # with the interval of the difference as a "bar"
    ticks: list[tuple[float, str]]  # the places of numbers on the scale
    line: float  # the place of the first arm's mean
    caption: str


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
            "score": tables.percent(arm.scores),
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
        f"{tables.metric_name(comparison)} in percent: the mean, and a small dot for "
        f"each run. The line is the mean of {arms[0].name}; a bar is the 95% interval "
        "of the difference from it, and one that crosses the line shows none."
    )
    ticks = [(place(number / 100), f"{number:g}") for number in numbers]
    return Figure(rows, ticks, place(first), caption)
