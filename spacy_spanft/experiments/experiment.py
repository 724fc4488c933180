"""A whole experiment: check the data, train, compare, report."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from spacy.pipeline import TextCategorizer
from spacy.util import load_model_from_config
from srsly import read_json

from ..configs.templates import interpolated
from ..errors import SpanftError, visible
from ..util.gpu import CPU
from .comparison import Comparison, compare
from .metrics import metric_of
from .plan import MODEL, RESULT, Run
from .report import report
from .running import Failure, run_matrix
from .task_data import Data, find_data, read_examples


def run_experiment(
    runs: Sequence[Run],
    data: Sequence[Path],
    metrics: Path,
    *,
    gpu_ids: Sequence[int] = (CPU,),
    n_jobs: int = 1,
    engine: Literal["local", "ray"] = "local",
    address: str | None = None,
) -> tuple[list[Failure], str]:
    """Train the missing runs, compare the arms, and write the reports.

    data (Sequence[Path]): The folders of the tasks, with test data in each.
    metrics (Path): The folder of the reports.
    RETURNS (tuple[list[Failure], str]): The runs that failed, and the comparison in
        Markdown, "" if there is none.
    """
    tasks = checked_data(data, runs)  # before hours of training
    failures = run_matrix(
        runs, gpu_ids=gpu_ids, n_jobs=n_jobs, engine=engine, address=address
    )
    comparisons: dict[str, Comparison] = {}
    for task in tasks:
        of_task = [run for run in runs if run.task == task.name]
        if not any(run.is_done for run in of_task if run.arm == of_task[0].arm):
            continue  # without the baseline
        for path in task.tests:
            rest = path.stem.removeprefix("test").strip("_")
            name = f"{task.name} ({rest})" if rest else task.name
            # A failed run does not keep the others from being compared.
            comparisons[name] = _compare(of_task, failures, task, path, gpu_ids[0])
    return failures, report(comparisons, metrics) if comparisons else ""


def _compare(
    runs: Sequence[Run],
    failures: Sequence[Failure],
    task: Data,
    path: Path,
    gpu_id: int,
) -> Comparison:
    """Compare the finished runs of a task on a test set."""
    arms: dict[str, list[Path]] = {run.arm: [] for run in runs}
    seconds: dict[str, list[float]] = {run.arm: [] for run in runs}
    for run in filter(lambda run: run.is_done, runs):
        arms[run.arm].append(run.folder / MODEL)
        seconds[run.arm].append(read_json(run.folder / RESULT)["seconds"])
    comparison = compare(
        {name: paths for name, paths in arms.items() if paths},
        path,
        metric=task.metric,
        positive_label=task.positive_label,
        gpu_id=gpu_id,
    )
    notes = dict(comparison.notes)
    for arm, note in {run.arm: run.note for run in runs if run.note}.items():
        notes[arm] = "; ".join(filter(None, (note, notes.get(arm))))
    missing = {
        f"{run.arm}/{run.seed}": f"failed: {reason}"
        for run, reason, _ in failures
        if run.task == task.name
    }
    return comparison._replace(notes=notes, seconds=seconds, missing=missing)


def checked_data(folders: Sequence[Path], runs: Sequence[Run]) -> list[Data]:
    """Return the data of tasks that can be measured; warn of training texts."""
    tasks = list(map(find_data, folders))
    for task in tasks:
        if not task.tests:
            raise SpanftError(
                f"There is no test data in {str(task.folder)!r}, such as test.csv."
            )
        config = interpolated(next(run.config for run in runs if run.task == task.name))
        nlp = load_model_from_config(config, auto_fill=True)
        train = list(read_examples(nlp, str(task.files["train"]), config, "train"))
        labels = sorted({label for each in train for label in each.reference.cats})
        for _, component in nlp.pipeline:
            if isinstance(component, TextCategorizer):
                component.cfg["labels"] = labels  # as training will find them
        metric_of(nlp, task.metric, task.positive_label, str(task.folder))
        texts = {each.reference.text for each in train}
        for path in task.tests:
            examples = read_examples(nlp, str(path), config)
            if n_shared := sum(each.reference.text in texts for each in examples):
                message = f"{n_shared:,} texts of {path} are also in the training data"
                print(visible(f"⚠ {message}."), file=sys.stderr)
    return tasks
