"""Few labels, on real tasks.

    python -m benchmarks.fewlabels tune DATA ENCODER   # the grid, on train data
    python -m benchmarks.fewlabels choose              # the best of it
    python -m benchmarks.fewlabels variants DATA ENCODER  # other heads, on train data
    python -m benchmarks.fewlabels untrained DATA ENCODER  # what it knows by itself
    python -m benchmarks.fewlabels run DATA ENCODER    # scored on dev data
    python -m benchmarks.fewlabels go DATA ENCODER     # tune, choose and run
    python -m benchmarks.fewlabels table

DATA is a folder with glue/CoLA/train.tsv, ner/wnut17/ and so on, ENCODER one that
transformers reads. `tune`, `run` and `go` go on where they were stopped, and may be
started several times, to use several cores: no run is done twice.
"""

import logging
import time
import warnings
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import typer
from wasabi.tables import table as drawn_table

from ..arguments import Encoder, Folder
from ..matrix import Run, is_done, only_those, read_done, run_missing
from .arms import ARMS, REGIMES
from .choices import (
    Setting,
    key_of,
    read_choices,
    runs,
    tuning_runs,
    variant_runs,
    write_choices,
)
from .choices import choose as choose_from
from .choices import grid as grid_of
from .encoders import check_same
from .summary import over_tasks, plan_table, results_table
from .tasks import TASKS, check_data

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__)

FOLDER = Path(__file__).parents[1] / "results"
Results = Annotated[
    Path, typer.Option(help="the folder of the results", file_okay=False)
]
Seeds = Annotated[int, typer.Option(min=1, help="how many seeds there are")]
Only = Annotated[
    list[str], typer.Option(help="e.g. task=CoLA,SST-2 or size=300 or arm=encoder,cnn")
]
Threads = Annotated[int, typer.Option(min=1, help="how many threads PyTorch has")]
NAME, TUNING, CHOICES = "fewlabels.jsonl", "fewlabels_tuning.jsonl", "fewlabels.json"
VARIANTS, DIAGNOSIS = "fewlabels_variants.jsonl", "fewlabels_diagnosis.jsonl"
COSTS, UNTRAINED = "fewlabels_costs.jsonl", "fewlabels_untrained.jsonl"


@app.command()
def tune(
    data: Folder,
    encoder: Encoder,
    only: Only = [],  # noqa: B006
    results: Results = FOLDER,
    threads: Threads = 1,
) -> None:
    """Do the runs of the grid that are missing."""
    _do(results / TUNING, only_those(tuning_runs(), only), data, encoder, threads)


@app.command()
def choose(results: Results = FOLDER) -> None:
    """Choose from the grid, and write the choices."""
    chosen = choose_from(_done(results / TUNING))
    write_choices(results / CHOICES, chosen)
    for key, setting in chosen.items():
        print(key, setting)


@app.command()
def variants(
    data: Folder,
    encoder: Encoder,
    seeds: Seeds = 3,
    only: Only = [],  # noqa: B006
    results: Results = FOLDER,
    threads: Threads = 1,
) -> None:
    """Try other heads on held-out data, with the settings that were chosen."""
    wanted = only_those(variant_runs(_chosen(results), seeds), only)
    _do(results / VARIANTS, wanted, data, encoder, threads)
    done = read_done(results / VARIANTS)
    print(results_table(done))
    print(over_tasks(done))


@app.command()
def diagnose(
    data: Folder,
    encoder: Encoder,
    seeds: Seeds = 3,
    only: Only = [],  # noqa: B006
    results: Results = FOLDER,
    threads: Threads = 1,
) -> None:
    """Measure who decides and what moves, before training and after it."""
    from . import diagnosis

    chosen = _chosen(results)
    wanted = only_those(diagnosis.diagnosis_runs(chosen, seeds), only)
    _do(results / DIAGNOSIS, wanted, data, encoder, threads, diagnosis.diagnose)
    header, *rows = diagnosis.rows_of(read_done(results / DIAGNOSIS))
    print(drawn_table(rows, header=header, divider=True))


@app.command()
def costs(data: Folder, encoder: Encoder, results: Results = FOLDER) -> None:
    """Measure the time and the memory of each arm, and count its weights."""
    from . import costs as costs_of

    wanted = costs_of.cost_runs(_chosen(results))
    _do(results / COSTS, wanted, data, encoder, 1, costs_of.cost)
    header, *rows = costs_of.rows_of(read_done(results / COSTS))
    print(drawn_table(rows, header=header, divider=True))


@app.command()
def untrained(data: Folder, encoder: Encoder, results: Results = FOLDER) -> None:
    """Measure how well the encoder knows similar texts before any training."""
    from . import untrained as before

    _do(results / UNTRAINED, before.untrained_runs(), data, encoder, 1, before.measure)
    header, *rows = before.rows_of(read_done(results / UNTRAINED))
    print(drawn_table(rows, header=header, divider=True))


@app.command()
def run(
    data: Folder,
    encoder: Encoder,
    seeds: Seeds = 10,
    only: Only = [],  # noqa: B006
    results: Results = FOLDER,
    threads: Threads = 1,
) -> None:
    """Do the runs that are missing, and score them on dev data."""
    chosen = _chosen(results)
    wanted = only_those(runs(chosen, seeds), only)
    _do(results / NAME, wanted, data, encoder, threads)


@app.command()
def go(
    data: Folder,
    encoder: Encoder,
    seeds: Seeds = 10,
    results: Results = FOLDER,
    threads: Threads = 1,
) -> None:
    """Do all that is missing: the grid, the choice, and what is scored."""
    wanted = list(tuning_runs())
    _do(results / TUNING, wanted, data, encoder, threads)
    while not all(is_done(one, read_done(results / TUNING)) for one in wanted):
        time.sleep(10)  # another process does the last ones
    choose(results)
    run(data, encoder, seeds, [], results, threads)


@app.command()
def plan(
    seeds: Seeds = 10,
    only: Only = [],  # noqa: B006
    results: Results = FOLDER,
) -> None:
    """Print how many runs are left, and how long they take."""
    # Until a choice is made, any setting has the number of runs.
    kinds = product(ARMS, REGIMES, TASKS.values())
    some = {key_of(*kind): next(grid_of(*kind[1:])) for kind in kinds}
    chosen = read_choices(results / CHOICES)
    wanted = [*runs({**some, **chosen}, seeds)]
    grid = only_those(tuning_runs(), only, known=[*tuning_runs(), *wanted])
    wanted = only_those(wanted, only)
    tuned = read_done(results / TUNING)
    print("The grid:")
    print(plan_table(grid, tuned))
    print("What is scored:")
    print(plan_table(wanted, [*read_done(results / NAME), *tuned]))


@app.command()
def table(
    only: Only = [],  # noqa: B006
    metrics: Annotated[str, typer.Option(help="main or all")] = "main",
    results: Results = FOLDER,
) -> None:
    """Print mean ± standard deviation over seeds, and differences."""
    if metrics not in ("main", "all"):
        raise SystemExit(f"--metrics is {metrics!r}, but must be 'main' or 'all'.")
    done = only_those(_done(results / NAME), only)
    # What was done with settings that are not the chosen ones any more is left out.
    wanted = list(runs(read_choices(results / CHOICES), 1 + _last_seed(done)))
    done = [one for one in done if any(run.items() <= one.items() for run in wanted)]
    print(results_table(done, metrics))
    print(over_tasks(done))


def _done(results: Path) -> list[Run]:
    """Read runs, or stop if there are none."""
    if done := read_done(results):
        return done
    raise SystemExit(f"There are no runs in {results} yet.")


def _last_seed(done: list[Run]) -> int:
    return max((one["seed"] for one in done), default=-1)


def _chosen(results: Path) -> dict[str, Setting]:
    """Read what was chosen, and stop if nothing was."""
    if not (chosen := read_choices(results / CHOICES)):
        raise SystemExit(
            f"Nothing is chosen yet in {results}: run `tune` and `choose` first."
        )
    return chosen


def _do(
    results: Path,
    wanted: Iterable[Run],
    data: Path,
    encoder: Path,
    threads: int,
    do: Callable[[Run, Path, Path], Any] | None = None,
) -> None:
    """Do the runs that are left: train and score, if nothing else is to be done."""
    wanted = list(wanted)
    check_data(data, dict.fromkeys(one["task"] for one in wanted))
    check_same(results.parent, encoder)
    done = read_done(results)
    left = [one for one in wanted if not is_done(one, done)]
    print(f"{len(left)} of {len(wanted)} runs are left.", flush=True)
    if not left:
        return
    import torch

    from .training import do as train_and_score

    torch.set_num_threads(threads)
    # Of each run the same: that its head is new, that its dev data has few labels.
    warnings.filterwarnings("ignore")
    logging.getLogger("spacy").setLevel(logging.ERROR)
    work = do or train_and_score
    try:
        run_missing(results, left, lambda one: work(one, data, encoder))
    except KeyboardInterrupt:
        raise SystemExit("Stopped. The same command goes on.") from None


if __name__ == "__main__":
    app()
