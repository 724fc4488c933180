"""The figures of few labels for the results page, of what is recorded so far."""

from collections.abc import Mapping, Sequence
from html import escape
from statistics import mean
from typing import Any, NamedTuple

from spacy_spanft.experiments.report.figures import SOFT, drawing, looks, to_svg

from ..matrix import Run
from .arms import BASELINE, CHOSEN, CURVE_TASKS, CUT, MAIN_SIZE
from .names import NAMES
from .page import SCORED, SCORED_RUNS, recorded, scores
from .summary import interval
from .tasks import TASKS

# How many n-grams the default dictionary has.
N_DEFAULT = 100_000
_SIZE = (8.0, 5.2)


class Figure(NamedTuple):
    """A figure.

    svg (str): The file.
    alt (str): What it shows, for those who do not see it.
    """

    svg: str
    alt: str


def learning_curves() -> Figure:
    """Draw the mean score of each arm against the number of labels, for each task.

    Means are over seeds that all drawn arms have: a table may have more of some.
    """
    runs = recorded(SCORED_RUNS)
    names = {BASELINE: "encoder alone", **{arm: NAMES[arm] for arm in SCORED}}
    look = looks([*names.values(), "init"])
    said = []
    with drawing() as (figure, axes):
        axes.remove()
        figure.set_size_inches(_SIZE)
        for ax, name in zip(figure.subplots(2, 3).flat, TASKS, strict=True):
            best = CHOSEN[TASKS[name].kind].init
            curves = curves_of(runs, name, [*names, best])
            for arm, curve in curves.items():
                title = "init" if arm == best else names[arm]
                color, marker, line = look[title]
                style = {"color": color, "marker": marker, "linestyle": line}
                ax.plot([*curve], [*curve.values()], **style, label=title)
            ax.set_xscale("log")
            sizes = [*curves[BASELINE]]
            ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
            ax.minorticks_off()
            ax.set_title(name, loc="left", fontsize="medium")
            ax.grid(axis="y")
            ends = {"encoder alone": curves[BASELINE], "init": curves[best]}
            said += [f"{name}, {title}: {_listed(one)}" for title, one in ends.items()]
        figure.supxlabel("training texts", fontsize="medium")
        # On tokens, one of the curves is that of `init`.
        named = [ax.get_legend_handles_labels() for ax in figure.axes]
        lines = {title: line for own in named for line, title in zip(*own, strict=True)}
        shown = [*filter(lines.get, look)]
        where = {"loc": "outside upper center", "ncols": len(shown)}
        figure.legend([lines[title] for title in shown], shown, **where)
        return _figure(figure, f"Scores by training texts. {'; '.join(said)}.")


def curves_of(
    runs: Sequence[Run], task: str, arms: Sequence[str]
) -> dict[str, dict[int, float]]:
    """Compute the mean score of arms by the number of labels, over seeds all have.

    runs (Sequence[Run]): The runs of all sizes.
    task (str): The task.
    arms (Sequence[str]): The arms.
    RETURNS (dict[str, dict[int, float]]): The scores of each arm.
    """
    curves: dict[str, dict[int, float]] = {arm: {} for arm in arms}
    for size in sorted({run["size"] for run in runs if run["task"] == task}):
        own = [run for run in runs if run["size"] == size]
        found = {arm: scores(own, task, arm) for arm in arms}
        seeds = set.intersection(*(set(one) for one in found.values()))
        for arm in arms if seeds else ():
            curves[arm][size] = mean(found[arm][seed] for seed in seeds)
    return curves


def dictionary_sizes() -> Figure:
    """Draw the gain over the encoder alone against the size of the dictionary."""
    runs = recorded(SCORED_RUNS)
    runs = [run for run in runs if run["size"] == MAIN_SIZE]
    arms = {**{size: arm for arm, size in CUT.items()}, N_DEFAULT: "ngrams"}
    look = looks([BASELINE, *CURVE_TASKS])
    said = []
    with drawing(height=2.8) as (figure, axes):
        axes.axhline(0.0, color=SOFT, linewidth=0.9, dashes=(4, 3))
        for shift, name in zip((0.96, 1.04), CURVE_TASKS, strict=True):
            gains = gains_of(runs, name, arms)
            middles = {size: mean(found) for size, found in gains.items()}
            halves = [middles[s] - interval(found)[0] for s, found in gains.items()]
            axes.errorbar(
                [size * shift for size in gains],
                [*middles.values()],
                halves,
                **{"color": look[name].color, "fmt": look[name].marker, "capsize": 3},
                label=name,
            )
            said.append(f"{name}: {_listed(middles, '+.1f')}")
        axes.set_xscale("log")
        axes.set_xticks([*arms], [f"{size:,}" for size in arms])
        axes.minorticks_off()
        axes.set(xlabel="n-grams in the dictionary", ylabel="points over the encoder")
        axes.legend()
        return _figure(figure, f"Gain by n-grams in the dictionary. {'; '.join(said)}.")


def gains_of(
    runs: Sequence[Run], task: str, arms: Mapping[int, str]
) -> dict[int, list[float]]:
    """Compute what arms gain over the encoder alone, over seeds that all of them have.

    runs (Sequence[Run]): The runs of one number of labels.
    task (str): The task.
    arms (Mapping[int, str]): The arms, by the size of their dictionary.
    RETURNS (dict[int, list[float]]): The gain of each seed; nothing of one seed alone.
    """
    base = scores(runs, task, BASELINE)
    own = {size: scores(runs, task, arm) for size, arm in arms.items()}
    seeds = sorted(set.intersection(set(base), *(set(one) for one in own.values())))
    if len(seeds) < 2:
        return {}
    return {size: [one[s] - base[s] for s in seeds] for size, one in own.items()}


def _listed(curve: Mapping[int, float], form: str = ".1f") -> str:
    return ", ".join(f"{value:{form}} with {size:,}" for size, value in curve.items())


def _figure(figure: Any, alt: str) -> Figure:
    """Write a figure that says itself what it shows."""
    svg = to_svg(figure, transparent=False)
    said = f"<desc>{escape(alt)}</desc>\n <metadata>"
    return Figure(svg.replace("<metadata>", said, 1), alt)


FIGURES = {"learning-curves": learning_curves, "dictionary-sizes": dictionary_sizes}
