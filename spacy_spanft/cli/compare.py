"""`python -m spacy spanft compare`."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from typer import Argument, Option

from ..errors import ComparisonError, Errors
from .util import short_errors

if TYPE_CHECKING:
    from ..comparison import Comparison
    from ..comparison.training import Training

# fmt: off
Arms = Annotated[list[str] | None, Argument(help="Trained pipelines, each as PATH or ARM=PATH; the first arm is what the others are compared with, and an arm named again has several runs (seeds)", show_default=False)]  # noqa: E501
Data = Annotated[list[str], Option("--data", "-d", help="The test data: .spacy, or what the pipelines' own dev corpus reads; with several --runs once for each, in the same order", show_default=False)]  # noqa: E501
Runs = Annotated[list[Path] | None, Option("--runs", "-r", help="A folder of training runs, in the place of pipelines; several are several tasks, each named as its folder", show_default=False)]  # noqa: E501
MetricName = Annotated[str | None, Option("--metric", "-m", help="The metric, such as cats_matthews; else what counts most in the pipeline's own score weights", show_default=False)]  # noqa: E501
PositiveLabel = Annotated[str | None, Option("--positive-label", "-p", help="The positive label, for cats_f1", show_default=False)]  # noqa: E501
GpuId = Annotated[int, Option("--gpu-id", "-g", help="The GPU; -1 for the CPU")]
Resamples = Annotated[int, Option("--n-resamples", help="How often the bootstrap draws")]  # noqa: E501
Output = Annotated[Path | None, Option("--output", "-o", help="A folder for comparison.json, comparison.md and comparison.html", show_default=False)]  # noqa: E501
# fmt: on


class Task(NamedTuple):
    """What is compared.

    data (str): The test data.
    arms (Mapping[str, list]): The pipelines of each arm.
    notes (Mapping[str, str]): What must be said of arms.
    trainings (list[Training]): How they were trained, if that is known.
    """

    data: str
    arms: Mapping[str, list[Any]]
    notes: Mapping[str, str]
    trainings: "list[Training]"


def compare_cli(
    data: Data,
    arms: Arms = None,
    runs: Runs = None,
    metric: MetricName = None,
    positive_label: PositiveLabel = None,
    gpu_id: GpuId = -1,
    n_resamples: Resamples = 1000,
    output: Output = None,
) -> None:
    """Compare trained pipelines on the same data: score, p, size, speed and memory."""
    with short_errors():
        from ..comparison import compare
        from ..comparison.markdown import to_markdown, to_markdown_of_tasks

        if n_resamples < 1:
            message = Errors.BAD_OPTION.format(
                option="--n-resamples", value=n_resamples
            )
            raise ComparisonError(message)
        tasks = _tasks(arms or [], runs or [], data)
        found = {
            name: compare(
                task.arms,
                task.data,
                metric=metric,
                positive_label=positive_label,
                gpu_id=gpu_id,
                n_resamples=n_resamples,
            )
            for name, task in tasks.items()
        }
        if runs:
            notes = {name: task.notes for name, task in tasks.items()}
            table = to_markdown_of_tasks(found, notes)
            json = {"tasks": {n: _with_runs(found[n], t) for n, t in tasks.items()}}
        else:
            one = next(iter(found.values()))
            table, json = to_markdown(one), one.to_json()
        print(table)
        if output is not None:
            _write(output, found, tasks, table, json)


def _tasks(arms: list[str], runs: list[Path], data: list[str]) -> dict[str, Task]:
    """Find out what is compared, and with which data."""
    if arms and runs:
        raise ComparisonError(Errors.ARMS_AND_RUNS.format(arms=", ".join(arms)))
    n_tasks = len(runs) or 1
    if len(data) != n_tasks:
        message = Errors.DATA_FOR_EACH.format(n_tasks=n_tasks, n_data=len(data))
        raise ComparisonError(message)
    if not runs:
        return {Path(data[0]).stem: Task(data[0], group(arms), {}, [])}
    from ..comparison.training import arms_of, notes_of, read_trainings

    tasks: dict[str, Task] = {}
    for folder, path in zip(runs, data, strict=True):
        name = folder.resolve().name
        if name in tasks:
            raise ComparisonError(Errors.SAME_TASK.format(name=name))
        trainings = read_trainings(folder)
        tasks[name] = Task(path, arms_of(folder), notes_of(folder), trainings)
    return tasks


def _with_runs(comparison: "Comparison", task: Task) -> dict[str, Any]:
    return {
        **comparison.to_json(),
        "notes": dict(task.notes),
        "trainings": [training._asdict() for training in task.trainings],
    }


def _write(
    output: Path,
    found: Mapping[str, "Comparison"],
    tasks: Mapping[str, Task],
    table: str,
    values: dict[str, Any],
) -> None:
    """Write all reports; that for people last, as it needs a library more."""
    import json

    from ..comparison.report import to_html
    from ..files import write_whole

    text = json.dumps(values, indent=2) + "\n"
    write_whole(output / "comparison.json", text.encode())
    write_whole(output / "comparison.md", table.encode())
    try:
        page = to_html(
            found,
            {name: task.trainings for name, task in tasks.items()},
            notes=_joined(tasks),
        )
    except ComparisonError as error:  # no matplotlib
        print(f"⚠ {error}", file=sys.stderr)
    else:
        write_whole(output / "comparison.html", page.encode())
    print(f"✔ Written to {output}", file=sys.stderr)


def _joined(tasks: Mapping[str, Task]) -> dict[str, str]:
    """Gather the notes of all tasks; where they say different things, all are said."""
    found: dict[str, list[str]] = {}
    for task in tasks.values():
        for arm, note in task.notes.items():
            if note not in found.setdefault(arm, []):
                found[arm].append(note)
    return {arm: " ".join(notes) for arm, notes in found.items()}


def group(arms: list[str]) -> dict[str, list[str]]:
    """Read which pipelines are runs of the same arm.

    arms (list[str]): Paths, or names and paths with = between them.
    RETURNS (dict[str, list[str]]): The paths of each arm.
    """
    found: dict[str, list[str]] = {}
    for arm in arms:
        name, is_named, path = arm.partition("=")
        if not is_named or Path(arm).exists():
            name, path = arm, arm
        if not name or not path:
            raise ComparisonError(Errors.BAD_ARM.format(arm=arm))
        found.setdefault(name, []).append(path)
    return found
