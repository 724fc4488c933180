"""An experiment from its arms to its report: trained, compared, written."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..errors import ComparisonError, Errors
from .matrix import Failure, Run, run_matrix
from .matrix.data import ENDINGS, TASK
from .report.tasks import Task, compare_tasks, table_of, task_of_runs, write_reports


def run_experiment(
    runs: Sequence[Run],
    data: Sequence[Path],
    output: Path,
    metrics: Path,
    *,
    gpu_ids: Sequence[int] = (-1,),
    n_jobs: int = 1,
) -> tuple[list[Failure], str]:
    """Do the runs that are missing, compare their arms, and write the reports.

    runs (Sequence[Run]): The runs, as `plan_runs` plans them.
    data (Sequence[Path]): The folders of the tasks, with test data in each.
    output (Path): Where the runs are.
    metrics (Path): Where the reports go.
    gpu_ids (Sequence[int]): The GPUs; -1 for the CPU.
    n_jobs (int): How many trainings at the same time.
    RETURNS (tuple[list[Failure], str]): The runs that failed, and the tables of the
        comparison in Markdown; they are "" if there is nothing to compare.
    """
    for folder in data:
        check_test_data(folder)  # before hours of training
    failures = run_matrix(runs, gpu_id=gpu_ids, n_jobs=n_jobs)
    tasks = {name: task for folder in data for name, task in tasks_of(folder, output)}
    try:
        found = compare_tasks(tasks, gpu_id=gpu_ids[0])
    except ComparisonError:
        if not failures:  # else that is why there is nothing to compare
            raise
        return failures, ""
    write_reports(metrics, tasks, found)
    return failures, table_of(tasks, found)


def check_test_data(folder: Path) -> None:
    """Raise if a folder has no test data.

    folder (Path): The folder of a task.
    """
    if not _test_files(folder):
        raise ComparisonError(Errors.NO_TEST_DATA.format(folder=folder))


def _test_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("test*.*") if path.suffix in ENDINGS)


def tasks_of(folder: Path, output: Path) -> Iterator[tuple[str, Task]]:
    """Make a task of each test set in a folder: test.csv, or test_mismatched.spacy.

    folder (Path): The folder of the data. Its task.json may say the "metric", and the
        "positive_label" that F1 is about.
    output (Path): Where the runs are: OUTPUT/FOLDER/ARM/SEED.
    YIELDS (tuple[str, Task]): The name of a task, and the task.
    """
    file = folder / TASK
    about = json.loads(file.read_text("utf8")) if file.exists() else {}
    how = (about.get("metric"), about.get("positive_label"))
    name = folder.resolve().name
    for path in _test_files(folder):
        rest = path.stem.removeprefix("test").strip("_")
        # A run that failed is no reason to keep quiet about the others.
        task = task_of_runs(output / name, path, *how, allow_missing=True)
        yield f"{name} ({rest})" if rest else name, task
