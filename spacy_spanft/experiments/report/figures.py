"""Figures of a comparison, as images for a page."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean
from typing import Any, NamedTuple

import numpy as np

from ..comparison.comparing import Arm, Comparison
from ..comparison.runs import Training
from . import wording
from .drawing import SOFT, Image, Look, drawing, label, spread, to_image


class Figure(NamedTuple):
    """A figure and what is written below it.

    image (Image): The figure.
    caption (str): What it shows.
    """

    image: Image
    caption: str


def scores(comparison: Comparison, looks: Mapping[str, Look]) -> Figure:
    """Draw the score of each arm, and of each of its runs.

    looks (Mapping[str, Look]): How each arm is drawn.
    """
    arms = comparison.arms
    n_most = max(len(arm.runs) for arm in arms)
    with drawing(height=0.9 + 0.48 * len(arms)) as (figure, axes):
        axes.axvline(100 * arms[0].mean, color=SOFT, linewidth=0.9, dashes=(4, 3))
        for y, arm in enumerate(arms):
            _score(axes, y, arm, looks[arm.name])
        axes.set_yticks(range(len(arms)), [label(arm.name) for arm in arms])
        axes.set_ylim(len(arms) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")
        axes.set_xlabel(f"{wording.metric(comparison)} (%)")
        axes.margins(x=0.08)
        said = "; ".join(f"{arm.name} {wording.percent(arm.scores)}" for arm in arms)
        image = to_image(figure, f"{wording.metric(comparison)} in percent: {said}.")
    caption = f"{wording.metric(comparison)} of each arm, in percent."
    if n_most > 1:
        caption += " Mean and standard deviation over the runs; a ring is a run."
    return Figure(image, f"{caption} The dashed line is the mean of {arms[0].name}.")


def _score(axes: Any, y: int, arm: Arm, look: Look) -> None:
    values = [100 * score for score in arm.scores]
    if arm.std is not None:
        axes.plot(
            values,
            [y + 0.24] * len(values),
            "o",
            color=look.color,
            markerfacecolor="none",
            markersize=4.5,
            markeredgewidth=1.0,
        )
    axes.errorbar(
        100 * arm.mean,
        y,
        xerr=None if arm.std is None else 100 * arm.std,
        fmt=look.marker,
        color=look.color,
        markersize=7,
        capsize=3,
    )
    # Beside the axes, in a column of its own, so that it covers nothing.
    axes.annotate(
        wording.percent(arm.scores),
        (1.0, y),
        xycoords=axes.get_yaxis_transform(),
        xytext=(8, 0),
        textcoords="offset points",
        va="center",
    )


def curves(trainings: Sequence[Training], looks: Mapping[str, Look]) -> Figure | None:
    """Draw how the arms learned.

    trainings (Sequence[Training]): The runs.
    looks (Mapping[str, Look]): How each arm is drawn; others are left out.
    RETURNS (Optional[Figure]): The figure, if any run says how it learned.
    """
    found = {arm: _curve(trainings, arm) for arm in looks}
    found = {arm: curve for arm, curve in found.items() if len(curve[0])}
    if not found:
        return None
    with drawing() as (figure, axes):
        for arm, (steps, values) in found.items():
            look = looks[arm]
            few = look.marker if len(steps) < 2 else ""
            middle = values.mean(axis=0)
            low, high = values.min(axis=0), values.max(axis=0)
            axes.fill_between(
                steps, low, high, color=look.color, alpha=0.14, linewidth=0
            )
            axes.plot(steps, middle, color=look.color, linestyle=look.line, marker=few)
        axes.grid(axis="y")
        axes.set_xlabel("training step")
        axes.set_ylabel("score on the dev data (%)")
        axes.margins(x=0.02)
        is_cut = _cut_beginning(axes, found.values())
        _label_ends(
            axes,
            {arm: values[:, -1].mean() for arm, (_, values) in found.items()},
            looks,
        )
        ends = "; ".join(f"{a} {v[:, -1].mean():.1f}" for a, (_, v) in found.items())
        said = f"Score on the dev data by step; at the end: {ends}"
        image = to_image(figure, said)
    caption = "Learning curves: score on the dev data, in percent."
    if any(len(values) > 1 for _, values in found.values()):
        caption += (
            " Mean over the runs of an arm, as far as all of them go; the band goes "
            "from the worst run to the best."
        )
    if is_cut:
        caption += " The steep beginning is cut off."
    return Figure(image, caption)


def _cut_beginning(axes: Any, found: Iterable[tuple[list[int], Any]]) -> bool:
    """Let the axis begin at what the arms score later, where they differ."""
    late = [
        values[:, np.array(steps) >= steps[-1] / 4].min() for steps, values in found
    ]
    low, high = axes.get_ylim()
    if min(late) - low < 0.25 * (high - low):
        return False
    axes.set_ylim(min(late) - 0.05 * (high - min(late)), high)
    return True


def _curve(trainings: Sequence[Training], arm: str) -> tuple[list[int], Any]:
    """Give the steps that all runs know, and their scores (n_runs, n_steps)."""
    runs = [dict(one.curve) for one in trainings if one.arm == arm and one.curve]
    steps = sorted(set.intersection(*map(set, runs))) if runs else []
    return steps, 100 * np.array([[run[step] for step in steps] for run in runs])


def _label_ends(
    axes: Any, values: Mapping[str, float], looks: Mapping[str, Look]
) -> None:
    """Write names beside the right edge, each as near to its value as there is room."""
    low, high = axes.get_ylim()
    axes.set_ylim(low, high)
    points = axes.figure.get_figheight() * 72 * 0.8  # of which the axes have so much
    places = spread(list(values.values()), 13.5 * (high - low) / points)
    for (arm, value), place in zip(values.items(), places, strict=True):
        look = looks[arm]
        line = {"arrowstyle": "-", "color": look.color, "linewidth": 1.0, "shrinkB": 0}
        axes.annotate(
            label(arm, 20),
            (1.0, value),
            xycoords=axes.get_yaxis_transform(),
            xytext=(1.06, place),
            textcoords=axes.get_yaxis_transform(),
            va="center",
            arrowprops={**line, "shrinkA": 1, "relpos": (0, 0.5)},
        )


def dictionary_sizes(comparison: Comparison, looks: Mapping[str, Look]) -> list[Figure]:
    """Draw spans and scores against the size of the dictionary.

    looks (Mapping[str, Look]): How each arm is drawn.
    RETURNS (list[Figure]): The figures; none where all dictionaries are as large.
    """
    sizes = {arm.name: arm.runs[0].n_ngrams for arm in comparison.arms}
    if len({size for size in sizes.values() if size is not None}) < 2:
        return []
    spans = {
        arm.name: [s for run in arm.runs if (s := run.spans_per_doc) is not None]
        for arm in comparison.arms
    }
    shares = {
        arm.name: [100 * score for score in arm.scores] for arm in comparison.arms
    }
    made = []
    for kind, values, title, caption in (
        ("spans", spans, "spans in a text", "Spans in a text, on average,"),
        (
            "score",
            shares,
            f"{wording.metric(comparison)} (%)",
            f"{wording.metric(comparison)}, in percent,",
        ),
    ):
        there = {arm: found for arm, found in values.items() if found}
        image = _by_size(there, sizes, looks, title)
        said = f"{caption} against the number of n-grams in the dictionary."
        if any(sizes[arm] is None for arm in there):
            said += " Arms without a dictionary are horizontal lines."
        if kind == "score" and any(len(found) > 1 for found in there.values()):
            said += " Mean and standard deviation over the runs."
        made.append(Figure(image, said))
    return made


def _by_size(
    values: Mapping[str, list[float]],
    sizes: Mapping[str, int | None],
    looks: Mapping[str, Look],
    title: str,
) -> Image:
    """Draw values against sizes; those without a size are horizontal lines."""
    sized = sorted((n, arm) for arm in values if (n := sizes[arm]) is not None)
    flat = {arm: mean(values[arm]) for arm in values if sizes[arm] is None}
    with drawing() as (figure, axes):
        smallest = min((n for n, _ in sized if n), default=1)
        axes.set_xscale("symlog", linthresh=smallest, linscale=0.4)
        if len({n for n, _ in sized}) == len(sized):
            line = [mean(values[arm]) for _, arm in sized]
            axes.plot([n for n, _ in sized], line, color=SOFT, linewidth=1.2)
        for n, arm in sized:
            axes.errorbar(
                n,
                mean(values[arm]),
                yerr=np.std(values[arm], ddof=1) if len(values[arm]) > 1 else None,
                fmt=looks[arm].marker,
                color=looks[arm].color,
                markersize=7,
                capsize=3,
            )
        for arm, value in flat.items():
            axes.axhline(value, color=looks[arm].color, linestyle=looks[arm].line)
        axes.margins(x=0.06, y=0.12)
        axes.grid(axis="y")
        axes.set_ylabel(title)
        axes.set_xlabel("n-grams in the dictionary")
        _tick_sizes(axes, [n for n, _ in sized])
        _label_ends(axes, flat, looks)
        said = [f"{n:,} n-grams {mean(values[arm]):.1f}" for n, arm in sized]
        said += [f"{arm} {value:.1f}" for arm, value in flat.items()]
        return to_image(figure, f"{title}: {'; '.join(said)}.")


def _tick_sizes(axes: Any, sizes: list[int]) -> None:
    """Put the sizes themselves below the axis, as far as there is room."""
    places = axes.transData.transform([(n, 0) for n in sizes])[:, 0]
    shown: list[int] = []
    last = -np.inf
    for n, place in zip(sizes, places, strict=True):
        if place - last >= 0.1 * (places[-1] - places[0]):
            shown.append(n)
            last = place
    axes.set_xticks(shown, [_short(n) for n in shown])
    axes.set_xticks([], minor=True)


def _short(number: int) -> str:
    for size, unit in ((1_000_000, "M"), (1000, "k")):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return str(number)
