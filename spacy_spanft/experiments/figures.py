"""Figures of a comparison, as SVG images for a page."""

import io
import re
import warnings
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import mean, stdev
from typing import Any, NamedTuple

import numpy as np

from ..util import require
from .comparison import Comparison
from .result_tables import metric_name, percent
from .run_folder import Training

# The color-blind can tell them apart (after Okabe and Ito, and Tol).
COLORS = ("#6e7781", "#0072b2", "#c44e00", "#00805c", "#a23b78", "#8a6d00", "#4b3fa7")
_MARKERS = "osD^vP"
_LINES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "the same ids each time",
    "text.parse_math": False,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#d8dee4",
}
# Characters that XML cannot hold.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


class Look(NamedTuple):
    """How an arm is drawn, in all figures of a report."""

    color: str
    marker: str
    line: Any


class Figure(NamedTuple):
    """An image as a data URL, which cannot affect the page, and two texts."""

    image: str
    alt: str
    caption: str


def looks_of(names: Sequence[str]) -> dict[str, Look]:
    """Return how each arm is drawn; the first one, the baseline, is grey."""
    return {
        name: Look(COLORS[i % 7], _MARKERS[i % 6], _LINES[i % 4])
        for i, name in enumerate(dict.fromkeys(names))
    }


def clean(text: str) -> str:
    """Replace the characters that a page cannot hold; the others keep their places."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


@contextmanager
def _drawing(height: float) -> Iterator[tuple[Any, Any]]:
    """Create a figure and its axes in our own style, whatever the user's is."""
    require("A report in HTML", "scipy", "matplotlib")
    from matplotlib import style
    from matplotlib.figure import Figure as Canvas

    with style.context(_STYLE, after_reset=True), warnings.catch_warnings():
        # The reader's fonts may have the glyphs that the measuring font lacks.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        canvas = Canvas(figsize=(5.6, height), layout="constrained")
        yield canvas, canvas.add_subplot()


def _figure(canvas: Any, alt: str, caption: str) -> Figure:
    buffer = io.BytesIO()
    metadata = {"Date": None, "Creator": None}  # the same bytes each time
    canvas.savefig(buffer, format="svg", transparent=True, metadata=metadata)
    svg = b64encode(buffer.getvalue()).decode()
    return Figure(f"data:image/svg+xml;base64,{svg}", clean(alt), caption)


def _label(name: str) -> str:
    """Shorten a name; paths differ at both ends."""
    name = clean(name).replace("\n", " ")
    return name if len(name) <= 24 else f"{name[:10]}…{name[-13:]}"


def score_figure(comparison: Comparison, looks: Mapping[str, Look]) -> Figure:
    """Draw the score of each arm, and of each of its runs."""
    arms, title = comparison.arms, f"{metric_name(comparison)} in percent"
    with _drawing(height=0.9 + 0.48 * len(arms)) as (canvas, axes):
        axes.axvline(100 * arms[0].mean, color="#59636e", linewidth=0.9, linestyle="--")
        for y, arm in enumerate(arms):
            look, scores = looks[arm.name], [100 * score for score in arm.scores]
            axes.plot(scores, [y + 0.2] * len(scores), ".", color=look.color)
            error = stdev(scores) if len(scores) > 1 else None
            style = {"fmt": look.marker, "color": look.color, "capsize": 3}
            axes.errorbar(mean(scores), y, xerr=error, **style)
        names = [f"{_label(arm.name)}  {percent(arm.scores)}" for arm in arms]
        axes.set_yticks(range(len(arms)), names)
        axes.set_ylim(len(arms) - 0.4, -0.6)
        axes.grid(axis="x")
        axes.set_xlabel(title)
        texts = "; ".join(f"{arm.name} {percent(arm.scores)}" for arm in arms)
        caption = (
            f"{title}: mean and standard deviation, and a dot for each run. The dashed "
            f"line is the mean of {arms[0].name}."
        )
        return _figure(canvas, f"{title}: {texts}.", caption)


def curve_figure(
    trainings: Sequence[Training], looks: Mapping[str, Look]
) -> Figure | None:
    """Draw how the arms learned, or return None if no run has a curve."""
    curves = {arm: curve for arm in looks if (curve := _curve(trainings, arm))}
    if not curves:
        return None
    with _drawing(height=3.3) as (canvas, axes):
        for arm, (steps, scores) in curves.items():
            color, marker, line = looks[arm]
            low, high = scores.min(axis=0), scores.max(axis=0)
            axes.fill_between(steps, low, high, color=color, alpha=0.14)
            style = {"color": color, "linestyle": line, "label": _label(arm)}
            style["marker"] = marker if len(steps) == 1 else ""
            axes.plot(steps, scores.mean(axis=0), **style)
        axes.grid(axis="y")
        axes.set_xlabel("training step")
        axes.set_ylabel("score on the dev data, in percent")
        canvas.legend(loc="outside upper center", ncols=2, frameon=False)
        ends = [f"{arm} {y[:, -1].mean():.1f}" for arm, (_, y) in curves.items()]
        caption = (
            "Score on the dev data: mean over the runs of an arm, as far as all of "
            "them go; the band goes from the worst run to the best."
        )
        alt = f"Score on the dev data by step; at the end: {'; '.join(ends)}."
        return _figure(canvas, alt, caption)


def _curve(trainings: Sequence[Training], arm: str) -> tuple[list[int], Any] | None:
    """Return the steps that all runs have, and their scores (n_runs, n_steps)."""
    runs = [dict(run.curve) for run in trainings if run.arm == arm and run.curve]
    steps = sorted(set.intersection(*map(set, runs))) if runs else []
    scores = 100 * np.array([[run[step] for step in steps] for run in runs])
    return (steps, scores) if steps else None
