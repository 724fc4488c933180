"""A whole experiment: train, compare, report."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..errors import ComparisonError
from ..util.engines import EngineName
from .data_check import check_test_data
from .matrix import Failure, Run, run_matrix
from .matrix.data import Data, find_data
from .report.tasks import Task, compare_tasks, table_of, task_of_runs, write_reports


def run_experiment(
    runs: Sequence[Run],
    data: Sequence[Path],
    output: Path,
    metrics: Path,
    *,
    gpu_ids: Sequence[int] = (-1,),
    n_jobs: int = 1,
    engine: EngineName = "local",
    address: str | None = None,
) -> tuple[list[Failure], str]:
    """Train the missing runs, compare the arms, and write the reports.

    runs (Sequence[Run]): The runs, as `plan_runs` plans them.
    data (Sequence[Path]): The folders of the tasks, with test data in each.
    output (Path): Where the runs are.
    metrics (Path): Where the reports go.
    gpu_ids (Sequence[int]): The GPUs; -1 for the CPU.
    n_jobs (int): The number of trainings at the same time.
    engine (str): Where they run: "local" or "ray".
    address (Optional[str]): The address of the Ray cluster (HOST:PORT).
    RETURNS (tuple[list[Failure], str]): The runs that failed, and the tables of the
        comparison in Markdown, "" if nothing can be compared.
    """
    tasks_data = checked_data(data, runs)  # before hours of training
    failures = run_matrix(
        runs, gpu_id=gpu_ids, n_jobs=n_jobs, engine=engine, address=address
    )
    try:
        tasks = dict(pair for each in tasks_data for pair in tasks_of(each, output))
        compared = compare_tasks(tasks, gpu_id=gpu_ids[0])
    except ComparisonError:
        if not failures:  # else that is why there is nothing to compare
            raise
        return failures, ""
    write_reports(metrics, tasks, compared)
    return failures, table_of(tasks, compared)


def checked_data(data: Sequence[Path], runs: Sequence[Run]) -> list[Data]:
    """Return the data of tasks; raise if nothing could be compared on them."""
    tasks_data = list(map(find_data, data))
    for task_data in tasks_data:
        check_test_data(task_data, runs)
    return tasks_data


def tasks_of(data: Data, output: Path) -> Iterator[tuple[str, Task]]:
    """Yield a named task for each test set.

    output (Path): The folder of the runs: OUTPUT/FOLDER/ARM/SEED.
    """
    name = data.folder.resolve().name
    metric = (data.metric, data.positive_label)
    for path in data.tests:
        rest = path.stem.removeprefix("test").strip("_")
        # A failed run does not keep the others from being compared.
        task = task_of_runs(output / name, path, *metric, allow_missing=True)
        yield f"{name} ({rest})" if rest else name, task
