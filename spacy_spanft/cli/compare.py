"""`python -m spacy spanft compare`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..errors import ComparisonError
from ..util.files import check_folder, is_there
from .util import short_errors

if TYPE_CHECKING:
    from ..experiments.experiment import Task

# fmt: off
Arms = Annotated[list[str] | None, Argument(help="Trained pipelines or files of predictions (.jsonl), each as PATH or ARM=PATH. The first arm is the baseline; repeat an arm to add runs with other seeds", show_default=False)]  # noqa: E501
Data = Annotated[list[str], Option("--data", "-d", help="The test data: .spacy, or whatever the pipelines' dev corpus reads; once for each --runs, in the same order", show_default=False)]  # noqa: E501
Runs = Annotated[list[Path] | None, Option("--runs", "-r", help="A task's folder of training runs, instead of pipelines; repeat it for several tasks", show_default=False)]  # noqa: E501
MetricName = Annotated[str | None, Option("--metric", "-m", help="The metric, such as cats_matthews; by default the one with the highest score weight in the first pipeline", show_default=False)]  # noqa: E501
PositiveLabel = Annotated[str | None, Option("--positive-label", "-p", help="The positive label, for cats_f1", show_default=False)]  # noqa: E501
GpuId = Annotated[int, Option("--gpu-id", "-g", help="The GPU; -1 for the CPU")]
Resamples = Annotated[int, Option("--n-resamples", min=1, help="The number of bootstrap samples")]  # noqa: E501
Ensemble = Annotated[bool, Option("--ensemble", help="Also measure the runs of each arm as one pipeline: scores averaged, spans by majority")]  # noqa: E501
AllowMissing = Annotated[bool, Option("--allow-missing", help="Compare the finished runs even if others failed or are missing")]  # noqa: E501
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
        from ..experiments.experiment import compare_tasks

        if output is not None:
            check_folder(output)
        tasks = {
            name: task._replace(metric=metric, positive_label=positive_label)
            for name, task in _tasks(
                arms or [], runs or [], data, allow_missing
            ).items()
        }
        tables = compare_tasks(
            tasks, output, gpu_id=gpu_id, n_resamples=n_resamples, ensemble=ensemble
        )
        print(tables)


def _tasks(
    arms: list[str], runs: list[Path], data: list[str], allow_missing: bool
) -> "dict[str, Task]":
    """Return the named tasks that the arguments describe."""
    from ..experiments.experiment import Task, task_of_runs
    from ..experiments.task_data import check_data

    if arms and runs:
        raise ComparisonError(
            f"Name pipelines, or folders by --runs, not both: {', '.join(arms)} would "
            f"be left out."
        )
    if allow_missing and not runs:
        raise ComparisonError("--allow-missing applies to --runs only.")
    n_tasks = len(runs) or 1
    if len(data) != n_tasks:
        raise ComparisonError(
            f"Name the test data of each task: {n_tasks} by --data, not {len(data)}."
        )
    if not runs:
        return {Path(data[0]).stem: Task(data[0], group(arms))}
    tasks: dict[str, Task] = {}
    for folder, path in zip(runs, data, strict=True):
        name = folder.resolve().name
        if name in tasks:
            raise ComparisonError(f"Two folders of --runs are named {name!r}.")
        tasks[name] = task_of_runs(folder, path, allow_missing=allow_missing)
    for path in data:  # before the first task is measured
        check_data(path)
    return tasks


def group(arms: list[str]) -> dict[str, list[str]]:
    """Return the paths of each arm, from arguments such as PATH or ARM=PATH."""
    paths: dict[str, list[str]] = {}
    for arm in arms:
        name, equals, path = arm.partition("=")
        if not equals or is_there(arm):
            name, path = arm, arm
        if not name.strip() or not path.strip():
            raise ComparisonError(f"{arm!r} names no pipeline. Write ARM=PATH.")
        paths.setdefault(name, []).append(path)
    return paths
