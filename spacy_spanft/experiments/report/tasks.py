"""Several tasks compared at once, and the reports of them."""

import json
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

from ...errors import ComparisonError, Errors, ExtraError
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
from .markdown import to_markdown, to_markdown_of_tasks
from .page import Explain, to_html
from .reasons import reasons_in_subprocess

_N_REASONS, _LONGEST = 3, 200


class Task(NamedTuple):
    """What is compared.

    data (str): The test data.
    arms (Mapping[str, list]): The pipelines of each arm.
    notes (Mapping[str, str]): What must be said of arms.
    trainings (list[Training]): How they were trained, if that is known.
    metric (Optional[str]): The metric; None for the pipelines' own.
    positive_label (Optional[str]): The positive label, for "cats_f1".
    missing (Missing): What is missing of the matrix whose runs these are.
    """

    data: str
    arms: Mapping[str, list[Any]]
    notes: Mapping[str, str] = {}
    trainings: list[Training] = []  # noqa: RUF012
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
    """Find what a matrix of trainings left in a folder.

    folder (Union[str, Path]): The folder of a task, with ARM/SEED in it.
    data (Union[str, Path]): The test data.
    allow_missing (bool): Whether to go on without the runs that failed, or are missing
        otherwise: the reports say so. Else they are an error.
    RETURNS (Task): What is there to compare.
    """
    missing = missing_of(folder)
    if missing.told() and not allow_missing:
        reasons = [shorten(why, _LONGEST) for why in missing.reasons()[:_N_REASONS]]
        told = " ".join([*missing.told(), *reasons])
        raise ComparisonError(Errors.MISSING_RUNS.format(folder=folder, told=told))
    arms, notes, trainings = arms_of(folder), notes_of(folder), read_trainings(folder)
    return Task(str(data), arms, notes, trainings, metric, positive_label, missing)


def compare_tasks(
    tasks: Mapping[str, Task],
    *,
    gpu_id: int = -1,
    n_resamples: int = 1000,
    ensemble: bool = False,
) -> dict[str, Comparison]:
    """Compare the arms of each task.

    gpu_id (int): The GPU; -1 for the CPU.
    n_resamples (int): How often the bootstrap draws.
    ensemble (bool): Whether to measure the runs of each arm as one pipeline, too.
    RETURNS (dict[str, Comparison]): What was found of each.
    """
    return {
        name: compare(
            task.arms,
            task.data,
            metric=task.metric,
            positive_label=task.positive_label,
            gpu_id=gpu_id,
            n_resamples=n_resamples,
            ensemble=ensemble,
        )._replace(missing=task.missing)
        for name, task in tasks.items()
    }


def table_of(tasks: Mapping[str, Task], found: Mapping[str, Comparison]) -> str:
    """Write the comparisons as tables in Markdown.

    found (Mapping[str, Comparison]): What was found of each.
    RETURNS (str): Markdown; without a heading if there is one task that has no runs.
    """
    if _is_single(tasks):
        return to_markdown(next(iter(found.values())))
    notes = {name: task.notes for name, task in tasks.items()}
    return to_markdown_of_tasks(found, notes)


def write_reports(
    output: Path, tasks: Mapping[str, Task], found: Mapping[str, Comparison]
) -> None:
    """Write comparison.json, comparison.md and comparison.html.

    The page comes last, as it needs a library more; without it there is a warning.

    output (Path): The folder.
    found (Mapping[str, Comparison]): What was found of each.
    """
    text = json.dumps(_values(tasks, found), indent=2) + "\n"
    write_whole(output / "comparison.json", text.encode())
    write_whole(output / "comparison.md", table_of(tasks, found).encode())
    trainings = {name: task.trainings for name, task in tasks.items()}
    try:
        explain = {
            name: _explainer(task, found[name])
            for name, task in tasks.items()
            if found[name].metric.startswith("cats_")
        }
        page = to_html(found, trainings, notes=_joined(tasks), explain=explain)
    except ExtraError as error:
        print(f"⚠ {error}", file=sys.stderr)
    else:
        write_whole(output / "comparison.html", page.encode())
    print(f"✔ Written to {output}", file=sys.stderr)


def _explainer(task: Task, comparison: Comparison) -> Explain:
    """Make what explains the labels of the last arm, by its first run."""
    *_, runs = task.arms.values()
    component = comparison.arms[-1].runs[0].component
    return partial(reasons_in_subprocess, str(runs[0]), component)


def _is_single(tasks: Mapping[str, Task]) -> bool:
    return len(tasks) == 1 and not any(task.trainings for task in tasks.values())


def _values(
    tasks: Mapping[str, Task], found: Mapping[str, Comparison]
) -> dict[str, Any]:
    if _is_single(tasks):
        return next(iter(found.values())).to_json()
    return {"tasks": {n: _with_runs(found[n], task) for n, task in tasks.items()}}


def _with_runs(comparison: Comparison, task: Task) -> dict[str, Any]:
    return {
        **comparison.to_json(),
        "notes": dict(task.notes),
        "trainings": [training._asdict() for training in task.trainings],
    }


def _joined(tasks: Mapping[str, Task]) -> dict[str, str]:
    """Gather the notes of all tasks; where they say different things, all are said."""
    found: dict[str, list[str]] = {}
    for task in tasks.values():
        for arm, note in task.notes.items():
            if note not in found.setdefault(arm, []):
                found[arm].append(note)
    return {arm: " ".join(notes) for arm, notes in found.items()}
