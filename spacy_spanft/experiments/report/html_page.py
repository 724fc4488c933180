"""A comparison as one page of HTML, with figures, which needs no other file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spacy.util import get_package_version

from ...util.extras import require
from ..comparison.comparing import Comparison
from ..comparison.runs import Training
from ..metrics.scoring import SCORES
from . import tables
from .disagreements import Explain, disagreements
from .figures import Look, clean, curve_figure, looks, score_figure, size_figures

_PACKAGES = ("spacy", "torch", "transformers", "spacy-spanft")


def to_html(
    comparisons: Mapping[str, Comparison],
    trainings: Mapping[str, Sequence[Training]] | None = None,
    notes: Mapping[str, Mapping[str, str]] | None = None,
    explain: Mapping[str, Explain] | None = None,
) -> str:
    """Write the comparisons of tasks, by their names, as one page.

    trainings (Optional[Mapping[str, Sequence[Training]]]): How the arms were trained.
    notes (Optional[Mapping[str, Mapping[str, str]]]): The notes on arms.
    explain (Optional[Mapping[str, Callable]]): Explains the labels of the last arm.
    """
    require("A report in HTML", "scipy", "matplotlib")
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: clean(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    look = looks([arm.name for one in comparisons.values() for arm in one.arms])
    tasks = [
        {
            **_task(comparison, (trainings or {}).get(name, ()), look),
            "name": name,
            "remarks": tables.remarks(comparison, (notes or {}).get(name, {})),
            "sides": disagreements(comparison, (explain or {}).get(name)),
        }
        for name, comparison in comparisons.items()
    ]
    return environment.get_template("page.html.jinja").render(
        tasks=tasks,
        overview=_overview(comparisons),
        versions=[f"{name} {get_package_version(name)}" for name in _PACKAGES],
        tables=tables,
    )


def _overview(comparisons: Mapping[str, Comparison]) -> list[tables.Row]:
    """Return the scores of each arm in all tasks; † marks significant differences."""
    rows: dict[str, tables.Row] = {}
    names = {name: f"{name}: {tables.metric(c)}" for name, c in comparisons.items()}
    for name, comparison in comparisons.items():
        ps = tables.corrected(comparison)
        for arm in comparison.arms:
            empty = {"Arm": arm.name, **dict.fromkeys(names.values(), "")}
            mark = "†" if ps.get(arm.name, 1) < tables.LEVEL else ""
            row = rows.setdefault(arm.name, empty)
            row[names[name]] = f"{tables.percent(arm.scores)}{mark}"
    return list(rows.values())


def _task(
    comparison: Comparison, trainings: Sequence[Training], look: Mapping[str, Look]
) -> dict[str, Any]:
    here = {arm.name: look[arm.name] for arm in comparison.arms}
    curves = curve_figure(trainings, here)
    return {
        "comparison": comparison,
        "scores": tables.score_rows(comparison),
        "costs": tables.cost_rows(comparison, trainings),
        "figures": [
            score_figure(comparison, here),
            *([curves] if curves else []),
            *size_figures(comparison, here),
        ],
        "is_score": comparison.metric in SCORES,
        "last": comparison.arms[-1].name,
    }
