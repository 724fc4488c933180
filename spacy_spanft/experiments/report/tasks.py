"""Several tasks compared at once, and their reports: JSON, Markdown and HTML."""

import json
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

from ...errors import ComparisonError, ExtraError
from ...util.files import write_whole
from ..comparison.comparing import Comparison, compare
from ..comparison.runs import (
    Missing,
    Training,
    arms_of,
    missing_of,
    notes_of,
    read_trainings,
)
from .disagreements import reasons_in_subprocess
from .html_page import to_html
from .tables import escape_markdown, to_markdown


class Task(NamedTuple):
    """The pipelines of each arm, and the test data that they are compared on.

    notes (Mapping[str, str]): The notes on arms.
    trainings (Sequence[Training]): How the runs were trained, if that is known.
    metric (Optional[str]): The metric; None for the pipelines' own.
    positive_label (Optional[str]): The positive label, for "cats_f1".
    missing (Missing): The missing runs.
    """

    data: str
    arms: Mapping[str, list[Any]]
    notes: Mapping[str, str] = {}
    trainings: Sequence[Training] = ()
    metric: str | None = None
    positive_label: str | None = None
    missing: Missing = Missing()


def task_of_runs(
    folder: str | Path,
    data: str | Path,
    metric: str | None = None,
    positive_label: str | None = None,
    *,
    allow_missing: bool = False,
) -> Task:
    """Return the task of an experiment's folder, with ARM/SEED in it.

    allow_missing (bool): Whether to leave out failed and missing runs, which the
        reports name; otherwise they are an error.
    """
    missing = missing_of(folder)
    if missing.told() and not allow_missing:
        reasons = [shorten(reason, 200) for reason in missing.reasons()[:3]]
        raise ComparisonError(
            f"The experiment in '{folder}' is not complete. "
            f"{' '.join([*missing.told(), *reasons])} Rerun it to resume, or compare "
            f"the finished runs (--allow-missing). The logs of failed runs are in "
            f"ARM/SEED.failed."
        )
    arms, notes, trainings = arms_of(folder), notes_of(folder), read_trainings(folder)
    return Task(str(data), arms, notes, trainings, metric, positive_label, missing)


def compare_tasks(
    tasks: Mapping[str, Task],
    *,
    gpu_id: int = -1,
    n_resamples: int = 1000,
    ensemble: bool = False,
) -> dict[str, Comparison]:
    """Compare the arms of each task: see `compare`."""
    settings = {"gpu_id": gpu_id, "n_resamples": n_resamples, "ensemble": ensemble}
    comparisons = {}
    for name, task in tasks.items():
        metric = {"metric": task.metric, "positive_label": task.positive_label}
        comparison = compare(task.arms, task.data, **metric, **settings)  # type: ignore[arg-type]
        comparisons[name] = comparison._replace(missing=task.missing)
    return comparisons


def table_of(tasks: Mapping[str, Task], comparisons: Mapping[str, Comparison]) -> str:
    """Write the comparisons in Markdown, with headings unless it is a single one."""
    tables = {name: to_markdown(comparisons[name], tasks[name].notes) for name in tasks}
    if _is_single(tasks):
        return next(iter(tables.values()))
    return "\n".join(f"## {escape_markdown(n)}\n\n{t}" for n, t in tables.items())


def write_reports(
    output: Path, tasks: Mapping[str, Task], comparisons: Mapping[str, Comparison]
) -> None:
    """Write comparison.json, comparison.md and, with matplotlib, comparison.html."""
    text = json.dumps(_values(tasks, comparisons), indent=2) + "\n"
    write_whole(output / "comparison.json", text.encode())
    write_whole(output / "comparison.md", table_of(tasks, comparisons).encode())
    try:
        page = to_html(
            comparisons,
            {name: task.trainings for name, task in tasks.items()},
            {name: task.notes for name, task in tasks.items()},
            {
                name: partial(reasons_in_subprocess, str([*task.arms.values()][-1][0]))
                for name, task in tasks.items()
                if comparisons[name].metric.startswith("cats_")
            },
        )
    except ExtraError as error:
        print(f"⚠ {error}", file=sys.stderr)
    else:
        write_whole(output / "comparison.html", page.encode())
    print(f"✔ Written to {output}", file=sys.stderr)


def _is_single(tasks: Mapping[str, Task]) -> bool:
    return len(tasks) == 1 and not any(task.trainings for task in tasks.values())


def _values(
    tasks: Mapping[str, Task], comparisons: Mapping[str, Comparison]
) -> dict[str, Any]:
    if _is_single(tasks):
        return next(iter(comparisons.values())).to_json()
    values = {
        name: {
            **comparisons[name].to_json(),
            "notes": dict(task.notes),
            "trainings": [training._asdict() for training in task.trainings],
        }
        for name, task in tasks.items()
    }
    return {"tasks": values}
