"""A whole experiment: check the data, train, compare, report."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from confection import Config

from ..configs import tokenizer_of
from ..configs.templates import interpolated
from ..errors import ComparisonError, listed, visible
from ..training.gold import has_score, labels_in
from .comparison import Comparison, compare
from .plan import Run
from .report import table_of, write_reports
from .run_folder import TaskRuns, read_runs
from .running import Failure, run_matrix
from .task_data import Data, find_data, read_examples


class Task(NamedTuple):
    """The pipelines of each arm, and the test data that they are compared on.

    metric (Optional[str]): The metric; None for the pipelines' own.
    positive_label (Optional[str]): The positive label, for "cats_f1".
    runs (Optional[TaskRuns]): The runs of an experiment, if these are its pipelines.
    """

    data: str
    arms: Mapping[str, list[Any]]
    metric: str | None = None
    positive_label: str | None = None
    runs: TaskRuns | None = None


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
    runs = read_runs(folder)
    if runs.missing and not allow_missing:
        reasons = [f"{run} ({reason})" for run, reason in runs.missing.items()]
        raise ComparisonError(
            f"{len(reasons)} runs of the experiment in '{folder}' are missing: "
            f"{listed(reasons)}. Rerun it to resume, or compare the finished runs "
            f"(--allow-missing). The logs of failed runs are in ARM/SEED.failed."
        )
    return Task(str(data), runs.arms, metric, positive_label, runs)


def compare_tasks(
    tasks: Mapping[str, Task],
    output: Path | None = None,
    *,
    gpu_id: int = -1,
    n_resamples: int = 1000,
    ensemble: bool = False,
) -> str:
    """Compare the arms of each task: see `compare`.

    output (Optional[Path]): The folder of the reports.
    RETURNS (str): The tables in Markdown.
    """
    comparisons: dict[str, Comparison] = {}
    for name, task in tasks.items():
        comparison = compare(
            task.arms,
            task.data,
            metric=task.metric,
            positive_label=task.positive_label,
            gpu_id=gpu_id,
            n_resamples=n_resamples,
            ensemble=ensemble,
        )
        if task.runs:
            _, notes, trainings, missing = task.runs
            comparison = comparison._replace(
                notes=notes, trainings=trainings, missing=missing
            )
        comparisons[name] = comparison
    if output is not None:
        write_reports(output, comparisons)
    return table_of(comparisons)


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
    checked = checked_data(data, runs)  # before hours of training
    failures = run_matrix(
        runs, gpu_id=gpu_ids, n_jobs=n_jobs, engine=engine, address=address
    )
    try:
        tasks = dict(pair for each in checked for pair in tasks_of(each, output))
        return failures, compare_tasks(tasks, metrics, gpu_id=gpu_ids[0])
    except ComparisonError:
        if not failures:  # else that is why there is nothing to compare
            raise
        return failures, ""


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


def checked_data(folders: Sequence[Path], runs: Sequence[Run]) -> list[Data]:
    """Return the data of tasks; raise if the arms could not be compared on them.

    Warns of labels that the training data lacks, and of texts that it has.
    """
    tasks = list(map(find_data, folders))
    for data in tasks:
        if not data.tests:
            raise ComparisonError(
                f"There is no test data in {str(data.folder)!r}. Add test.spacy, or a "
                f"table such as test.csv."
            )
        name = data.folder.resolve().name
        configs = [interpolated(run.config) for run in runs if run.task == name]
        # Most arms read their data alike.
        for config in {repr(c["corpora"]["dev"]): c for c in configs}.values():
            _check_tests(config, data)
    return tasks


def _check_tests(config: Config, data: Data) -> None:
    train_texts, train_labels = _contents(config, data.files["train"], "train")
    for path in data.tests:
        texts, labels = _contents(config, path)
        if labels is not None and train_labels is not None:
            if not labels & train_labels:
                raise ComparisonError(
                    f"'{path}' has the labels {listed(sorted(labels))}, and the "
                    f"training data has none of them: {listed(sorted(train_labels))}."
                )
            if unknown := sorted(labels - train_labels):
                _warn(f"Labels of {path} that are not in the training data", unknown)
        if n_shared := len(texts & train_texts - {""}):
            _warn(f"{n_shared:,} texts of {path} are also in the training data", [])


def _warn(message: str, labels: Sequence[str]) -> None:
    message = f"{message}: {listed(labels)}." if labels else f"{message}."
    print(f"⚠ {visible(message)}", file=sys.stderr)


def _contents(
    config: Config, path: Path, split: str = "dev"
) -> tuple[set[str], set[str] | None]:
    """Return the texts of a file, and their labels, or None if these are scores."""
    texts, labels, has_scores = set[str](), set[str](), False
    for example in read_examples(tokenizer_of(config), str(path), config, split):
        texts.add(example.reference.text)
        labels.update(labels_in(example.reference))
        has_scores |= has_score(example.reference)
    return texts, None if has_scores else labels
