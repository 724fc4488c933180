"""`python -m spacy spanft experiment`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Context, Option
from wasabi.tables import table

from ..errors import SpanftError, listed
from ..util.extras import require
from ..util.files import check_folder
from .util import Address, Engine, EngineName, read_overrides

if TYPE_CHECKING:
    from ..experiments.arms import ArmConfig
    from ..experiments.plan import Run
    from ..experiments.running import Failure

# fmt: off
Arms = Annotated[Path, Argument(help="The arms: the settings that each changes in a config (YAML)", show_default=False)]  # noqa: E501
Data = Annotated[list[Path], Option("--data", "-d", help="A task: a folder with train, dev and test data (.spacy, .tsv, .csv or .jsonl); can be repeated", show_default=False)]  # noqa: E501
Output = Annotated[Path, Option("--output", "-o", help="The folder of the runs, each in TASK/ARM/SEED", show_default=False)]  # noqa: E501
Metrics = Annotated[Path | None, Option("--metrics", "-m", help="The folder of the report", show_default=False)]  # noqa: E501
TrainOnly = Annotated[bool, Option("--train-only", help="Do not compare the runs; test data is not needed")]  # noqa: E501
Pipeline = Annotated[str | None, Option("--pipeline", "-p", help="The pipeline, as for `spanft init`; default: that of task.json beside the data ({\"pipeline\": \"textcat\"}), or detected from the data", show_default=False)]  # noqa: E501
Configs = Annotated[str | None, Option("--configs", "-c", help="Your own configs: configs/textcat for configs/textcat_baseline.cfg and configs/textcat_spanft.cfg; or their folder, if task.json has a \"config\"", show_default=False)]  # noqa: E501
Transformer = Annotated[str | None, Option("--transformer", "-t", help="The encoder, by name or path", show_default=False)]  # noqa: E501
DictionaryFile = Annotated[str | None, Option("--dictionary", help="The n-gram dictionary; default: the built-in English one", show_default=False)]  # noqa: E501
NltkData = Annotated[Path | None, Option("--nltk-data", help="Data for NLTK, if it has none of its own", show_default=False)]  # noqa: E501
Only = Annotated[list[str] | None, Option("--arm", help="Only this arm; can be repeated", show_default=False)]  # noqa: E501
Seeds = Annotated[int, Option("--seeds", min=1, help="Number of seeds")]
Seed = Annotated[int, Option("--seed", min=0, help="The first seed")]
Epochs = Annotated[int | None, Option("--epochs", "-e", min=1, help="Number of epochs; default: 3, and more for few texts", show_default=False)]  # noqa: E501
Jobs = Annotated[int, Option("--jobs", "-j", min=1, help="Number of runs at the same time")]  # noqa: E501
GpuId = Annotated[str, Option("--gpu-id", "-g", help="GPU ID, or several for --jobs: 0,1, or 0,0 to share one; -1 for CPU")]  # noqa: E501
DryRun = Annotated[bool, Option("--dry-run", help="Only list the runs")]
# fmt: on


def experiment_cli(
    ctx: Context,
    arms: Arms,
    data: Data,
    output: Output,
    metrics: Metrics = None,
    train_only: TrainOnly = False,
    pipeline: Pipeline = None,
    configs: Configs = None,
    transformer: Transformer = None,
    dictionary: DictionaryFile = None,
    nltk_data: NltkData = None,
    arm: Only = None,
    seeds: Seeds = 3,
    seed: Seed = 0,
    epochs: Epochs = None,
    jobs: Jobs = 1,
    gpu_id: GpuId = "-1",
    engine: Engine = EngineName.local,
    address: Address = None,
    dry_run: DryRun = False,
) -> None:
    """Train every arm with every seed on every task, and compare them on the test data.

    Rerun it to resume. Settings for all configs are given as to `spacy train`, such
    as --training.max_steps 10.
    """
    if (metrics is None) != train_only:
        raise SpanftError(
            "Name the folder of the report with --metrics, or pass --train-only."
        )
    if metrics is not None:
        require("An experiment", "scipy", "matplotlib")
        check_folder(metrics)
    check_folder(output)
    from ..experiments.arms import read_arms
    from ..experiments.experiment import checked_data, run_experiment
    from ..experiments.plan import plan_runs
    from ..experiments.running import read_gpus, run_matrix
    from ..util.gpu import select_gpu

    overrides = read_overrides(ctx.args)
    paths = {"transformer": transformer, "dictionary": dictionary}
    overrides |= {f"paths.{name}": path for name, path in paths.items() if path}
    gpu_ids = read_gpus(gpu_id)
    if engine is EngineName.local:
        for number in sorted(set(gpu_ids), reverse=True):
            select_gpu(number)
    runs = plan_runs(
        _choose(read_arms(arms), arm),
        data,
        output,
        pipeline=pipeline,
        configs=configs,
        nltk_data=nltk_data,
        seeds=range(seed, seed + seeds),
        epochs=epochs,
        overrides=overrides,
    )
    if dry_run:
        if metrics is not None:
            checked_data(data, runs)
        print(_table(runs))
        return
    how: dict[str, Any] = {"n_jobs": jobs, "engine": engine.value, "address": address}
    if metrics is None:
        failures = run_matrix(runs, gpu_id=gpu_ids, **how)
    else:
        how["gpu_ids"] = gpu_ids
        failures, tables = run_experiment(runs, data, output, metrics, **how)
        print(tables)
    _check(failures, len(runs))
    written = output if metrics is None else metrics / "comparison.html"
    print(f"✔ {len(runs)} runs: {written}", file=sys.stderr)


def _choose(arms: "list[ArmConfig]", names: list[str] | None) -> "list[ArmConfig]":
    known = [arm.name for arm in arms]
    if unknown := [name for name in names or () if name not in known]:
        raise SpanftError(f"There is no arm {unknown[0]!r}. Known: {listed(known)}.")
    return [arm for arm in arms if not names or arm.name in names]


def _table(runs: "list[Run]") -> str:
    steps = [run.config["training"]["max_steps"] for run in runs]
    rows = [
        (r.task, r.arm, r.seed, n, r.state) for r, n in zip(runs, steps, strict=True)
    ]
    header = ("Task", "Arm", "Seed", "Steps", "State")
    return table(rows, header=header, divider=True)


def _check(failures: "list[Failure]", n_runs: int) -> None:
    """Raise if runs failed, with each reason once."""
    reasons = {failure.reason: failure for failure in failures}
    for failure in reasons.values():
        print(f"✘ {failure}", file=sys.stderr)
    if failures:
        raise SpanftError(f"{len(failures)} of {n_runs} runs failed.")
