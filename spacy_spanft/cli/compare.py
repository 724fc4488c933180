"""`python -m spacy spanft compare`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..errors import ComparisonError, Errors
from ..util.files import check_folder
from ..util.processes import begin_server
from .util import short_errors

if TYPE_CHECKING:
    from ..experiments.report.tasks import Task

# fmt: off
Arms = Annotated[list[str] | None, Argument(help="Trained pipelines or files of predictions (.jsonl), each as PATH or ARM=PATH; the first arm is what the others are compared with, and an arm named again has several runs (seeds)", show_default=False)]  # noqa: E501
Data = Annotated[list[str], Option("--data", "-d", help="The test data: .spacy, or what the pipelines' own dev corpus reads; with several --runs once for each, in the same order", show_default=False)]  # noqa: E501
Runs = Annotated[list[Path] | None, Option("--runs", "-r", help="A folder of training runs, in the place of pipelines; several are several tasks, each named as its folder", show_default=False)]  # noqa: E501
MetricName = Annotated[str | None, Option("--metric", "-m", help="The metric, such as cats_matthews; else what counts most in the pipeline's own score weights", show_default=False)]  # noqa: E501
PositiveLabel = Annotated[str | None, Option("--positive-label", "-p", help="The positive label, for cats_f1", show_default=False)]  # noqa: E501
GpuId = Annotated[int, Option("--gpu-id", "-g", help="The GPU; -1 for the CPU")]
Resamples = Annotated[int, Option("--n-resamples", help="How often the bootstrap draws")]  # noqa: E501
Ensemble = Annotated[bool, Option("--ensemble", help="Measure the runs of each arm as one pipeline, too: scores averaged, spans by majority")]  # noqa: E501
AllowMissing = Annotated[bool, Option("--allow-missing", help="Compare the runs that are there, though some of the matrix failed or are missing")]  # noqa: E501
Output = Annotated[Path | None, Option("--output", "-o", help="A folder for comparison.json, comparison.md and comparison.html", show_default=False)]  # noqa: E501
# fmt: on


def compare_cli(
    data: Data,
    arms: Arms = None,
    runs: Runs = None,
    metric: MetricName = None,
    positive_label: PositiveLabel = None,
    gpu_id: GpuId = -1,
    n_resamples: Resamples = 1000,
    ensemble: Ensemble = False,
    allow_missing: AllowMissing = False,
    output: Output = None,
) -> None:
    """Compare trained pipelines on the same data: score, p, size, speed and memory."""
    with short_errors():
        begin_server()
        from ..experiments.report.tasks import compare_tasks, table_of, write_reports

        if output is not None:
            check_folder(output)
        if n_resamples < 1:
            message = Errors.BAD_OPTION.format(
                option="--n-resamples", value=n_resamples
            )
            raise ComparisonError(message)
        tasks = {
            name: task._replace(metric=metric, positive_label=positive_label)
            for name, task in _tasks(
                arms or [], runs or [], data, allow_missing
            ).items()
        }
        found = compare_tasks(
            tasks, gpu_id=gpu_id, n_resamples=n_resamples, ensemble=ensemble
        )
        print(table_of(tasks, found))
        if output is not None:
            write_reports(output, tasks, found)


def _tasks(
    arms: list[str], runs: list[Path], data: list[str], allow_missing: bool
) -> "dict[str, Task]":
    """Find out what is compared, and with which data."""
    from ..experiments.comparison.predicting import check_place
    from ..experiments.report.tasks import Task, task_of_runs

    if arms and runs:
        raise ComparisonError(Errors.ARMS_AND_RUNS.format(arms=", ".join(arms)))
    if allow_missing and not runs:
        raise ComparisonError(Errors.MISSING_OF_WHAT)
    n_tasks = len(runs) or 1
    if len(data) != n_tasks:
        message = Errors.DATA_FOR_EACH.format(n_tasks=n_tasks, n_data=len(data))
        raise ComparisonError(message)
    if not runs:
        return {Path(data[0]).stem: Task(data[0], group(arms))}
    tasks: dict[str, Task] = {}
    for folder, path in zip(runs, data, strict=True):
        name = folder.resolve().name
        if name in tasks:
            raise ComparisonError(Errors.SAME_TASK.format(name=name))
        tasks[name] = task_of_runs(folder, path, allow_missing=allow_missing)
    for path in data:  # before the first task is measured
        check_place(path)
    return tasks


def group(arms: list[str]) -> dict[str, list[str]]:
    """Read which pipelines are runs of the same arm.

    arms (list[str]): Paths, or names and paths with = between them.
    RETURNS (dict[str, list[str]]): The paths of each arm.
    """
    from ..util.files import is_there

    found: dict[str, list[str]] = {}
    for arm in arms:
        name, is_named, path = arm.partition("=")
        if not is_named or is_there(arm):
            name, path = arm, arm
        if not name.strip() or not path.strip():
            raise ComparisonError(Errors.BAD_ARM.format(arm=arm))
        found.setdefault(name, []).append(path)
    return found
