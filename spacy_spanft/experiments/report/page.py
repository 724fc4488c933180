"""A comparison as one page of HTML, with figures, for people to read and to print."""

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from ...util.extras import require
from ..comparison.comparing import Comparison
from ..comparison.runs import Training
from ..metrics.scoring import SCORES
from . import figures, wording
from .disagreement import disagreements
from .drawing import Look, clean, looks
from .headline import caveats, corrected, headline, meanings
from .reasons import Why

Explain = Callable[[Sequence[tuple[str, str]]], list[Why]]
_TEMPLATE = "page.html.jinja"
_PACKAGES = ("spacy", "torch", "transformers", "spacy-spanft")


class Cost(NamedTuple):
    """What training an arm cost, on average of its runs.

    n_runs (int): How many runs there are.
    words_per_second (float): How many words it was trained with in a second.
    peak_memory (Optional[float]): The most memory it had, in MB, if known of all.
    seconds (float): How long a run took.
    """

    n_runs: int
    words_per_second: float
    peak_memory: float | None
    seconds: float


def to_html(
    comparisons: Mapping[str, Comparison],
    trainings: Mapping[str, list[Training]] | None = None,
    title: str = "Comparison of trained pipelines",
    notes: Mapping[str, str] | None = None,
    explain: Mapping[str, Explain] | None = None,
) -> str:
    """Write comparisons as one page, which needs no other file.

    comparisons (Mapping[str, Comparison]): The comparison of each task.
    trainings (Optional[Mapping[str, list[Training]]]): How the arms of a task were
        trained.
    notes (Optional[Mapping[str, str]]): What must be said of arms.
    explain (Optional[Mapping[str, Callable]]): For a task, what says why the last arm
        answers texts as it does: from texts with what is right for them.
    RETURNS (str): HTML.
    """
    require("A report in HTML", "scipy", "matplotlib")
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    names = [arm.name for one in comparisons.values() for arm in one.arms]
    look = looks(names)
    tasks = [
        _task(f"t{i}", name, one, (trainings or {}).get(name, []), look, notes or {})
        | _disagreements(one, (explain or {}).get(name))
        for i, (name, one) in enumerate(comparisons.items())
    ]
    return environment.get_template(_TEMPLATE).render(
        title=title,
        tasks=tasks,
        arms=list(look),
        versions={name: _version(name) for name in _PACKAGES},
        wording=wording,
    )


def _finalize(value: Any) -> Any:
    """Replace what a page cannot hold in whatever text is written into it."""
    return clean(value) if type(value) is str else value


def _task(
    key: str,
    name: str,
    comparison: Comparison,
    trainings: list[Training],
    look: Mapping[str, Look],
    notes: Mapping[str, str],
) -> dict[str, Any]:
    """Gather what the page says of a task."""
    here = {arm.name: look[arm.name] for arm in comparison.arms}
    drawn = [
        figures.scores(comparison, here),
        figures.curves(trainings, here),
        *figures.dictionary_sizes(comparison, here),
    ]
    values = comparison.to_json()
    return {
        "key": key,
        "name": name,
        "metric": wording.metric(comparison),
        "comparison": comparison,
        "headline": headline(comparison),
        "caveats": caveats(comparison),
        "meanings": meanings(comparison) if len(comparison.arms) > 1 else [],
        "rows": list(zip(comparison.arms, values["arms"], strict=True)),
        "ensembles": list(
            zip(comparison.ensembles, values.get("ensembles", []), strict=True)
        ),
        "best": max(arm.mean for arm in comparison.arms),
        "corrected": corrected(comparison),
        "costs": _costs(trainings),
        "figures": [figure for figure in drawn if figure is not None],
        "notes": {arm: notes[arm] for arm in here if notes.get(arm)},
        "is_score": comparison.metric in SCORES,
        "has_votes": any(len(arm.runs) > 1 for arm in comparison.arms),
        "has_spans": any(comparison.arms[-1].runs[0].spans),
        "has_ngrams": any(arm.runs[0].n_ngrams is not None for arm in comparison.arms),
    }


def _disagreements(comparison: Comparison, explain: Explain | None) -> dict[str, Any]:
    """Find the texts on which two arms disagree, and why the last one has its way."""
    sides = disagreements(comparison)
    shown = [one for side in sides for one in side.shown]
    texts = comparison.arms[-1].runs[0].texts
    golds = [(texts[one.number - 1], one.gold) for one in shown]
    reasons = explain(golds) if explain and golds else []
    numbers = (one.number for one in shown)
    return {
        "sides": sides,
        "reasons": dict(zip(numbers, reasons, strict=bool(reasons))),
    }


def _costs(trainings: list[Training]) -> dict[str, Cost]:
    found = {}
    for arm in dict.fromkeys(one.arm for one in trainings):
        runs = [one for one in trainings if one.arm == arm]
        memory = [one.peak_memory for one in runs if one.peak_memory is not None]
        found[arm] = Cost(
            len(runs),
            mean(one.words_per_second for one in runs),
            mean(memory) if len(memory) == len(runs) else None,
            mean(one.seconds for one in runs),
        )
    return found


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # a source tree that was never installed
        return "unknown"
