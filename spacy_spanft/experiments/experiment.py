"""An experiment from its arms to its report: trained, compared, written."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from ..errors import ComparisonError
from .data_check import check_test_data
from .matrix import Failure, Run, run_matrix
from .matrix.task_data import Data, find_data
from .report.tasks import Task, compare_tasks, table_of, task_of_runs, write_reports


def run_experiment(
    runs: Sequence[Run],
    data: Sequence[Path],
    output: Path,
    metrics: Path,
    *,
    gpu_ids: Sequence[int] = (-1,),
    n_jobs: int = 1,
    engine: Literal["local", "ray"] = "local",
    address: str | None = None,
) -> tuple[list[Failure], str]:
    """Do the runs that are missing, compare their arms, and write the reports.

    runs (Sequence[Run]): The runs, as `plan_runs` plans them.
    data (Sequence[Path]): The folders of the tasks, with test data in each.
    output (Path): Where the runs are.
    metrics (Path): Where the reports go.
    gpu_ids (Sequence[int]): The GPUs; -1 for the CPU.
    n_jobs (int): How many trainings at the same time.
    engine (str): Where they run: "local" or "ray".
    address (Optional[str]): Where the Ray cluster is (HOST:PORT).
    RETURNS (tuple[list[Failure], str]): The runs that failed, and the tables of the
        comparison in Markdown; they are "" if there is nothing to compare.
    """
    found = checked_data(data, runs)  # before hours of training
    failures = run_matrix(
        runs, gpu_id=gpu_ids, n_jobs=n_jobs, engine=engine, address=address
    )
    try:
        tasks = {name: task for one in found for name, task in tasks_of(one, output)}
        compared = compare_tasks(tasks, gpu_id=gpu_ids[0])
    except ComparisonError:
        if not failures:  # else that is why there is nothing to compare
            raise
        return failures, ""
    write_reports(metrics, tasks, compared)
    return failures, table_of(tasks, compared)


def checked_data(data: Sequence[Path], runs: Sequence[Run]) -> list[Data]:
    """Find the data of tasks, and raise if nothing could be compared on them.

    runs (Sequence[Run]): The runs, as `plan_runs` plans them.
    RETURNS (list[Data]): The data.
    """
    found = list(map(find_data, data))
    for one in found:
        check_test_data(one, runs)
    return found


def tasks_of(data: Data, output: Path) -> Iterator[tuple[str, Task]]:
    """Make a task of each test set that some data have.

    output (Path): Where the runs are: OUTPUT/FOLDER/ARM/SEED.
    YIELDS (tuple[str, Task]): The name of a task, and the task.
    """
    name = data.folder.resolve().name
    how = (data.metric, data.positive_label)
    for path in data.tests:
        rest = path.stem.removeprefix("test").strip("_")
        # A run that failed is no reason to keep quiet about the others.
        task = task_of_runs(output / name, path, *how, allow_missing=True)
        yield f"{name} ({rest})" if rest else name, task
