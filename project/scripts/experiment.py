"""Train arms on tasks over seeds, compare them, and write a report.

    python scripts/experiment.py arms/segmenters.yml --data corpus/cola \
        --output training/cola --metrics metrics/cola

What is done already is not done again. Settings for all configs are given as to `spacy
train`: --training.optimizer.learn_rate.initial_rate 3e-5.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from fit import fit_arms

from spacy_spanft.cli.matrix import (
    check_failures,
    check_gpus,
    choose_arms,
    list_runs,
    read_overrides,
    tell_failures,
)
from spacy_spanft.cli.util import short_errors
from spacy_spanft.errors import ComparisonError
from spacy_spanft.experiments.matrix import (
    Run,
    check_data,
    plan_runs,
    read_arms,
    read_gpus,
    run_matrix,
)
from spacy_spanft.experiments.report.tasks import (
    Task,
    compare_tasks,
    table_of,
    task_of_runs,
    write_reports,
)
from spacy_spanft.util.processes import begin_server

# fmt: off
Arms = Annotated[Path, typer.Argument(help="The arms (YAML)")]
Data = Annotated[list[Path], typer.Option(help="The folder of a task; may be repeated")]
Output = Annotated[Path, typer.Option(help="Where the runs go")]
Metrics = Annotated[Path, typer.Option(help="Where the report goes")]
Configs = Annotated[str, typer.Option(help="The folder of the configs, or the beginning of their names")]  # noqa: E501
Transformer = Annotated[str, typer.Option(help="The encoder, by name or path")]
Dictionary = Annotated[str, typer.Option(help="The dictionary; '' is the default one")]
NltkData = Annotated[str, typer.Option(help="Data for NLTK, if it has none of its own")]
Only = Annotated[list[str] | None, typer.Option("--arm", help="Only this arm")]
# fmt: on

app = typer.Typer(pretty_exceptions_enable=False)
EXTRA = {"allow_extra_args": True, "ignore_unknown_options": True}


@app.command(context_settings=EXTRA)
def main(
    ctx: typer.Context,
    arms: Arms,
    data: Data,
    output: Output,
    metrics: Metrics,
    configs: Configs = "configs",
    transformer: Transformer = "",
    dictionary: Dictionary = "",
    nltk_data: NltkData = "",
    arm: Only = None,
    seeds: int = 3,
    seed: int = 0,
    epochs: int = 3,
    jobs: int = 1,
    gpu_id: str = "-1",
    dry_run: bool = False,
) -> None:
    """Do the whole of it."""
    with short_errors():
        if not dry_run:
            begin_server()
        overrides = read_overrides(ctx.args)
        if transformer:
            overrides["paths.transformer"] = transformer
        if dictionary:
            overrides["paths.dictionary"] = dictionary
        gpus = read_gpus(gpu_id)
        check_gpus(gpus, jobs)
        chosen = choose_arms(read_arms(arms), arm)
        own = Path(dictionary) if dictionary else None
        spare = Path(nltk_data) if nltk_data else None
        runs: list[Run] = []
        for folder in data:
            check_data(folder)
            fitted = fit_arms(chosen, folder, own, spare)
            runs += plan_runs(
                fitted,
                configs,
                [folder],
                output,
                seeds=range(seed, seed + seeds),
                epochs=epochs,
                overrides=overrides,
            )
        if dry_run:
            print(list_runs(runs))
            return
        failures = run_matrix(runs, fitted, gpu_id=gpus, n_jobs=jobs)
        tell_failures(failures)
        try:
            report(data, output, metrics, gpus[0])
        except ComparisonError:
            if not failures:  # else that is why there is nothing to compare
                raise
        check_failures(failures, len(runs))


def report(data: list[Path], output: Path, metrics: Path, gpu_id: int) -> None:
    """Compare the arms on the test data, and write the reports."""
    tasks = {name: task for folder in data for name, task in tasks_of(folder, output)}
    found = compare_tasks(tasks, gpu_id=gpu_id)
    print(table_of(tasks, found))
    write_reports(metrics, tasks, found)
    print(f"The report: {metrics / 'comparison.html'}")


def tasks_of(folder: Path, output: Path) -> Iterator[tuple[str, Task]]:
    """Make a task of each test set in a folder: test.spacy, test_mismatched.spacy."""
    file = folder / "task.json"
    about = json.loads(file.read_text("utf8")) if file.exists() else {}
    how = (about.get("metric"), about.get("positive_label"))
    for path in sorted(folder.glob("test*.spacy")):
        rest = path.stem.removeprefix("test").strip("_")
        name = f"{folder.name} ({rest})" if rest else folder.name
        # A run that failed is no reason to keep quiet about the others.
        runs = output / folder.name
        yield name, task_of_runs(runs, path, *how, allow_missing=True)


if __name__ == "__main__":
    app()
