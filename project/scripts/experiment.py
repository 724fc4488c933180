"""Train arms on tasks over seeds, compare them, and write a report.

    python scripts/experiment.py arms/segmenters.yml --data corpus/cola \
        --output training/cola --metrics metrics/cola

What is done already is not done again. Settings for all configs are given as to `spacy
train`: --training.optimizer.learn_rate.initial_rate 3e-5.
"""

import sys
from pathlib import Path
from typing import Annotated, Any

import srsly
import typer
from fit import fit_arms
from spacy.cli._util import parse_config_overrides

from spacy_spanft.cli.matrix import check_gpu, choose_arms
from spacy_spanft.cli.util import short_errors
from spacy_spanft.comparison import Comparison, compare
from spacy_spanft.comparison.output import write_comparison
from spacy_spanft.comparison.training import arms_of
from spacy_spanft.errors import Errors, MatrixError
from spacy_spanft.matrix import plan_runs, read_arms, run_matrix

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
    gpu_id: int = -1,
    dry_run: bool = False,
) -> None:
    """Do the whole of it."""
    overrides = parse_config_overrides(ctx.args)
    if transformer:
        overrides["paths.transformer"] = transformer
    if dictionary:
        overrides["paths.dictionary"] = dictionary
    with short_errors():
        check_gpu(gpu_id)
        chosen = choose_arms(read_arms(arms), arm)
        runs = []
        for folder in data:
            own = Path(dictionary) if dictionary else None
            fitted = fit_arms(chosen, folder, own, Path(nltk_data) if nltk_data else None)
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
            from spacy_spanft.cli.matrix import list_runs

            print(list_runs(runs))
            return
        failures = run_matrix(runs, fitted, gpu_id=gpu_id, n_jobs=jobs)
        for run, reason in failures:
            print(f"✘ {run.folder}: {reason}", file=sys.stderr)
        report(data, output, metrics, gpu_id)
        if failures:
            message = Errors.FAILED.format(failed=len(failures), all=len(runs))
            raise MatrixError(message)
