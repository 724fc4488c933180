"""`python -m spacy spanft evaluate | compare | experiment`."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Context, Option
from wasabi.tables import table

from ..errors import SpanftError, counted, listed, report
from ..util import require
from ..util.files import check_folder
from . import options as opt
from .util import given, read_overrides, report_guess

if TYPE_CHECKING:
    from ..experiments.plan import Run


def compare_cli(
    arms: Annotated[list[str], Argument(help="Trained pipelines or files of predictions (.spacy), each as PATH or ARM=PATH. The first arm is the baseline; repeat an arm to add runs with other seeds")],  # noqa: E501
    data: Annotated[str, Option("--data", "-d", help="The test data: .spacy, a table, or whatever the pipelines' dev corpus reads")],  # noqa: E501
    text: opt.Text = None,
    text_pair: opt.TextPair = None,
    label: opt.Label = None,
    score: opt.Score = None,
    label_separator: opt.LabelSeparator = None,
    incomplete: opt.Incomplete = None,
    errors: opt.BadBytesOfPipeline = None,
    encoding: opt.EncodingOfPipeline = None,
    metric: Annotated[str | None, Option("--metric", "-m", help="The metric, such as cats_matthews; by default the one with the highest score weight in the first pipeline")] = None,  # noqa: E501
    positive_label: Annotated[str | None, Option("--positive-label", "-p", help="The positive label, for cats_f1")] = None,  # noqa: E501
    gpu_id: opt.GpuId = -1,
    n_resamples: Annotated[int, Option("--n-resamples", min=100, help="The number of bootstrap samples")] = 1000,  # noqa: E501
    ensemble: Annotated[bool, Option("--ensemble", help="Also measure the runs of each arm as one pipeline: scores averaged, spans by majority")] = False,  # noqa: E501
    output: Annotated[Path | None, Option("--output", "-o", help="A folder for comparison.json, comparison.md and comparison.html")] = None,  # noqa: E501
) -> None:  # fmt: skip
    """Compare trained pipelines on test data.

    By score, with p-values and intervals, size, speed and memory.
    """
    report(f"ℹ Comparing {counted(len(arms), 'pipeline')} on {data}")
    from ..experiments.comparison import compare
    from ..experiments.measuring import is_written
    from ..experiments.report import report as write_report

    if output is not None:
        check_folder(output)
    pipelines, typed = group(arms), given(text=text, text_pair=text_pair, label=label)
    typed |= given(score=score, label_separator=label_separator, encoding=encoding)
    typed |= given(incomplete=incomplete, errors=errors)
    paths = [path for paths in pipelines.values() for path in paths]
    report_data([path for path in paths if not is_written(path)], data, typed)
    comparison = compare(
        pipelines,
        data,
        metric=metric,
        positive_label=positive_label,
        gpu_id=gpu_id,
        n_resamples=n_resamples,
        ensemble=ensemble,
        columns=typed,
    )
    print(write_report({Path(data).stem: comparison}, output))
    if output is not None:
        report(f"✔ Wrote {output}")


def evaluate_cli(
    model: opt.Model,
    data: Annotated[str, Argument(help="The test data: a table (CSV, TSV, JSONL or Parquet), CoNLL's columns, JSONL with character offsets, or .spacy")],  # noqa: E501
    text: opt.Text = None,
    text_pair: opt.TextPair = None,
    label: opt.Label = None,
    score: opt.Score = None,
    label_separator: opt.LabelSeparator = None,
    incomplete: opt.Incomplete = None,
    errors: opt.BadBytesOfPipeline = None,
    encoding: opt.EncodingOfPipeline = None,
    gpu_id: opt.GpuId = -1,
    output: Annotated[Path | None, Option("--output", "-o", help="A JSON file for the scores")] = None,  # noqa: E501
) -> None:  # fmt: skip
    """Score a trained pipeline on test data, by label."""
    from ..experiments.evaluating import evaluate, to_text
    from ..util.files import check_target, write_whole
    from ..util.pipelines import load

    if output is not None:
        check_target(output, [data])
    typed = given(text=text, text_pair=text_pair, label=label, score=score)
    typed |= given(label_separator=label_separator, encoding=encoding)
    typed |= given(incomplete=incomplete, errors=errors)
    report_data([model], data, typed)
    evaluation = evaluate(load(model, gpu_id), data, typed)
    print(to_text(evaluation))
    if output is not None:
        facts = {"model": model, "data": data, **evaluation._asdict()}
        write_whole(output, f"{json.dumps(facts, indent=2)}\n".encode())
        report(f"✔ Wrote {output}")


def report_data(models: list[str], data: str, typed: dict[str, str]) -> None:
    """Check test data before pipelines are loaded, and print guessed columns."""
    from ..experiments.task_data import check_data, corpus_of
    from ..scale import read_saved

    check_data(data)
    for model in models:
        config = read_saved(model).config
        if model == models[0]:
            block = corpus_of(config, data, columns=typed) or {}
            report_guess({name: x for name, x in block.items() if x}, typed)
        train = config.get("paths", {}).get("train")
        if train and os.path.exists(train) and os.path.samefile(train, data):
            report(f"⚠ {model} was trained on {data}: its scores there are inflated.")


def group(arms: list[str]) -> dict[str, list[str]]:
    """Return the paths of each arm, from arguments such as PATH or ARM=PATH."""
    paths: dict[str, list[str]] = {}
    for arm in arms:
        name, equals, path = arm.partition("=")
        if not equals or os.path.exists(arm):
            name, path = arm, arm
        paths.setdefault(name, []).append(path)
    return paths


def experiment_cli(
    ctx: Context,
    arms: Annotated[Path, Argument(help="The arms: the settings that each changes in a config (YAML)")],  # noqa: E501
    data: Annotated[list[Path], Option("--data", "-d", help="A task: a folder with train, dev and test data (.spacy, .csv, .tsv, .jsonl or .parquet); can be repeated")],  # noqa: E501
    output: Annotated[Path, Option("--output", "-o", help="The folder of the runs, each in TASK/ARM/SEED")],  # noqa: E501
    metrics: Annotated[Path | None, Option("--metrics", "-m", help="The folder of the report")] = None,  # noqa: E501
    train_only: Annotated[bool, Option("--train-only", help="Do not compare the runs; test data is not needed")] = False,  # noqa: E501
    pipeline: Annotated[str | None, Option("--pipeline", "-p", help='The pipeline, as for `spanft init`; default: that of task.json beside the data ({"pipeline": "textcat"}), or detected from the data')] = None,  # noqa: E501
    transformer: Annotated[str | None, Option("--transformer", "-t", help="The encoder, by name or path")] = None,  # noqa: E501
    dictionary: Annotated[str | None, Option(help="The n-gram dictionary; default: the built-in English one")] = None,  # noqa: E501
    arm: Annotated[list[str] | None, Option("--arm", help="Only this arm; can be repeated")] = None,  # noqa: E501
    seeds: Annotated[int, Option("--seeds", min=1, help="Number of seeds")] = 3,
    seed: Annotated[int, Option("--seed", min=0, help="The first seed")] = 0,
    epochs: Annotated[int | None, Option("--epochs", "-e", min=1, help="Number of epochs; default: the steps that init writes for such data")] = None,  # noqa: E501
    jobs: Annotated[int, Option("--jobs", "-j", min=1, help="Number of runs at the same time")] = 1,  # noqa: E501
    gpu_id: opt.GpuIds = "-1",
    engine: opt.Engine = "local",
    address: opt.Address = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Only list the runs")] = False,
) -> None:  # fmt: skip
    """Train and compare pipelines, with several seeds.

    Every arm is trained with every seed on every task, and tested.

    Rerun it to resume. Settings for all configs are given as to `spacy train`, such
    as --training.max_steps 10.
    """
    if (metrics is None) != train_only and not (dry_run and metrics is None):
        raise SpanftError("Name the report's folder (--metrics), or pass --train-only.")
    if metrics is not None:
        require("An experiment", "scipy")
        check_folder(metrics)
    check_folder(output)
    report(f"ℹ Planning the runs of {arms}")
    from ..experiments.arms import read_arms
    from ..experiments.experiment import checked_data, run_experiment
    from ..experiments.plan import plan_runs
    from ..experiments.running import run_matrix
    from ..util.gpu import read_gpus, select_gpu

    overrides = read_overrides(ctx.args)
    paths = {"transformer": transformer, "dictionary": dictionary}
    overrides |= {f"paths.{name}": path for name, path in paths.items() if path}
    gpu_ids = read_gpus(gpu_id)
    if engine == "local" or metrics is not None:  # arms are compared here
        for number in sorted(set(gpu_ids), reverse=True):
            select_gpu(number)
    known = read_arms(arms)
    for name in arm or ():
        if name not in (names := [x.name for x in known]):
            raise SpanftError(f"There is no arm {name!r}. Known: {listed(names)}.")
    runs = plan_runs(
        [x for x in known if not arm or x.name in arm],
        data,
        output,
        pipeline=pipeline,
        seeds=range(seed, seed + seeds),
        epochs=epochs,
        overrides=overrides,
    )
    if dry_run:
        if metrics is not None:
            checked_data(data, runs)
        print(_table(runs))
        return
    how: dict[str, Any] = {"n_jobs": jobs, "engine": engine, "address": address}
    how["gpu_ids"] = gpu_ids
    if metrics is None:
        failures = run_matrix(runs, **how)
    else:
        failures, tables = run_experiment(runs, data, metrics, **how)
        print(tables)
    for failure in {failure.reason: failure for failure in failures}.values():
        report(f"✘ {failure}")
    if failures:
        raise SpanftError(f"{len(failures)} of {len(runs)} runs failed.")
    written = output if metrics is None else metrics / "comparison.html"
    report(f"✔ {len(runs)} runs: {written}")


def _table(runs: "list[Run]") -> str:
    rows = [
        (
            *(run.task, run.arm, run.seed, run.config["training"]["max_steps"]),
            "done" if run.is_done else "new",
        )
        for run in runs
    ]
    header = ("Task", "Arm", "Seed", "Steps", "State")
    return table(rows, header=header, divider=True)
