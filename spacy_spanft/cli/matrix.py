"""`python -m spacy spanft matrix` and `spanft experiment`."""

import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Context, Option
from wasabi.tables import table

from ..errors import Errors, SpanftError
from ..util.extras import require
from ..util.files import check_folder
from ..util.processes import begin_server
from .util import (
    Address,
    Engine,
    EngineName,
    read_overrides,
    short_errors,
    with_parameters,
)

if TYPE_CHECKING:
    from ..experiments.matrix import ArmConfig, Failure, Run

# fmt: off
Arms = Annotated[Path, Argument(help="The arms: what each changes in a config (YAML)", show_default=False)]  # noqa: E501
Data = Annotated[list[Path], Option("--data", "-d", help="A task: a folder with train.spacy and dev.spacy, or tables (.tsv, .csv, .jsonl); may be repeated", show_default=False)]  # noqa: E501
Output = Annotated[Path, Option("--output", "-o", help="The folder of the runs, each in TASK/ARM/SEED", show_default=False)]  # noqa: E501
Pipeline = Annotated[str | None, Option("--pipeline", "-p", help="What is trained, as `spanft init` calls it; else a task.json beside the data says so ({\"pipeline\": \"textcat\"}), or it is detected from the data", show_default=False)]  # noqa: E501
Configs = Annotated[str | None, Option("--configs", "-c", help="Configs of your own: configs/textcat for configs/textcat_baseline.cfg and configs/textcat_spanft.cfg; or their folder, if task.json has a \"config\"", show_default=False)]  # noqa: E501
Transformer = Annotated[str | None, Option("--transformer", "-t", help="The encoder, by name or folder", show_default=False)]  # noqa: E501
DictionaryFile = Annotated[str | None, Option("--dictionary", help="The n-grams; default: the built-in English dictionary", show_default=False)]  # noqa: E501
NltkData = Annotated[Path | None, Option("--nltk-data", help="Data for NLTK, if it has none of its own", show_default=False)]  # noqa: E501
Only = Annotated[list[str] | None, Option("--arm", help="Only this arm; may be repeated", show_default=False)]  # noqa: E501
Seeds = Annotated[int, Option("--seeds", help="How many seeds")]
Seed = Annotated[int, Option("--seed", help="The first seed")]
Epochs = Annotated[int | None, Option("--epochs", "-e", help="Number of epochs; default: 3, and more for few texts, as `spanft init` has it", show_default=False)]  # noqa: E501
Jobs = Annotated[int, Option("--jobs", "-j", help="How many trainings at the same time")]  # noqa: E501
GpuId = Annotated[str, Option("--gpu-id", "-g", help="The GPU; several for --jobs: 0,1, or 0,0 to share one; -1 for the CPU")]  # noqa: E501
DryRun = Annotated[bool, Option("--dry-run", help="Only list the runs")]
Metrics = Annotated[Path, Option("--metrics", "-m", help="The folder of the report", show_default=False)]  # noqa: E501
# fmt: on


def matrix_cli(
    ctx: Context,
    arms: Arms,
    data: Data,
    output: Output,
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
    """Train every arm with every seed on every task, and resume after an interruption.

    Settings for all configs are given as to `spacy train`: --training.max_steps 10.
    """
    with short_errors():
        runs, gpus = _plan(ctx)
        if dry_run:
            print(list_runs(runs))
            return
        from ..experiments import run_matrix

        failures = run_matrix(
            runs, gpu_id=gpus, n_jobs=jobs, engine=engine.value, address=address
        )
        tell_failures(failures)
        check_failures(failures, len(runs))
        print(f"✔ {len(runs)} runs are in {output}", file=sys.stderr)


def experiment_cli(
    ctx: Context, data: Data, output: Output, metrics: Metrics, **options: Any
) -> None:
    """Train as `matrix` does, compare on the test data, and write the report.

    The folder of each task must also contain test data: test.spacy or test.csv.
    """
    with short_errors():
        # Before hours of training.
        require("An experiment", "scipy", "matplotlib")
        check_folder(metrics)
        runs, gpus = _plan(ctx)
        from ..experiments.experiment import checked_data, run_experiment

        if options["dry_run"]:
            checked_data(data, runs)
            print(list_runs(runs))
            return
        failures, tables = run_experiment(
            runs,
            data,
            output,
            metrics,
            gpu_ids=gpus,
            n_jobs=options["jobs"],
            engine=options["engine"].value,
            address=options["address"],
        )
        tell_failures(failures)
        print(tables)
        check_failures(failures, len(runs))
        print(f"The report: {metrics / 'comparison.html'}")


with_parameters(experiment_cli, inspect.signature(matrix_cli).parameters.values())


def _plan(ctx: Context) -> "tuple[list[Run], list[int]]":
    """Plan the runs that the options of a command name, and find their GPUs."""
    given: dict[str, Any] = ctx.params
    if not given["dry_run"]:
        begin_server()
    from ..experiments.matrix import check_jobs, plan_runs, read_arms, read_gpus

    overrides = read_overrides(ctx.args)
    for name in ("transformer", "dictionary"):
        if given[name]:
            overrides[f"paths.{name}"] = given[name]
    check_folder(Path(given["output"]))
    check_seeds(given["seeds"])
    check_jobs(given["jobs"])
    gpus = read_gpus(given["gpu_id"])
    if given["engine"] is EngineName.local:
        check_gpus(gpus, given["jobs"])
    runs = plan_runs(
        choose_arms(read_arms(given["arms"]), given["arm"]),
        given["data"],
        given["output"],
        pipeline=given["pipeline"],
        configs=given["configs"],
        nltk_data=Path(given["nltk_data"]) if given["nltk_data"] else None,
        seeds=range(given["seed"], given["seed"] + given["seeds"]),
        epochs=given["epochs"],
        overrides=overrides,
    )
    return runs, gpus


def choose_arms(arms: "list[ArmConfig]", names: list[str] | None) -> "list[ArmConfig]":
    """Keep the arms that were asked for.

    names (Optional[list[str]]): The names of some; None keeps all.
    RETURNS (list[ArmConfig]): Those, in their old order.
    """
    known = [arm.name for arm in arms]
    for name in names or ():
        if name not in known:
            there = ", ".join(known)
            raise SpanftError(Errors.UNKNOWN_ARM.format(name=name, known=there))
    return [arm for arm in arms if not names or arm.name in names]


def check_seeds(n_seeds: int) -> None:
    """Raise for a number of seeds that cannot be.

    n_seeds (int): How many.
    """
    if n_seeds < 1:
        raise SpanftError(Errors.BAD_OPTION.format(option="--seeds", value=n_seeds))


def tell_failures(failures: "list[Failure]") -> None:
    """Say which runs failed, and why: what all of them have in common, once.

    failures (list[Failure]): The runs that failed.
    """
    alike: dict[str, list[Failure]] = {}
    for failure in failures:
        alike.setdefault(failure.reason, []).append(failure)
    for first, *rest in alike.values():
        others = f" and {len(rest):,} more" if rest else ""
        print(f"✘ {first.run.folder}{others}: {first}", file=sys.stderr)


def check_failures(failures: "list[Failure]", n_runs: int) -> None:
    """Raise if any run failed.

    failures (list[Failure]): The runs that failed.
    n_runs (int): How many there were.
    """
    if failures:
        message = Errors.FAILED if len(failures) < n_runs else Errors.ALL_FAILED
        raise SpanftError(message.format(failed=len(failures), all=n_runs))


def list_runs(runs: "list[Run]") -> str:
    """Show which runs there are, and which of them are done.

    RETURNS (str): A table.
    """
    steps = (run.config["training"]["max_steps"] for run in runs)
    rows = [
        (run.task, run.arm, run.seed, n, run.state)
        for run, n in zip(runs, steps, strict=True)
    ]
    header = ("Task", "Arm", "Seed", "Steps", "State")
    return table(rows, header=header, divider=True)


def check_gpus(gpu_ids: list[int], n_jobs: int) -> None:
    """Raise now, and not in each of the runs, if there are no such GPUs, or too few.

    gpu_ids (list[int]): The GPUs; -1 for the CPU.
    n_jobs (int): How many runs are done at the same time.
    """
    from ..experiments.matrix import places_of
    from ..util.gpu import select_gpu

    places_of(gpu_ids, n_jobs)
    for gpu_id in sorted(set(gpu_ids), reverse=True):
        select_gpu(gpu_id)
