"""Train arms on a few hundred labels of real tasks, and score them on dev data.

    python -m benchmarks.fewlabels DATA ENCODER --task CoLA --arm encoder --arm ngrams
    python -m benchmarks.fewlabels DATA ENCODER --size 300 --seeds 3

DATA is a folder with glue/CoLA/train.tsv, ner/wnut17/ and so on, ENCODER a folder that
transformers reads. Each run is appended to the results when it is done. Rerun the
command to resume; start it several times to use several cores.
"""

import logging
import warnings
from pathlib import Path
from typing import Annotated

import torch
import typer

from ..arguments import Encoder, Folder
from ..matrix import run_missing
from .arms import ARMS, SIZES, Regime, runs
from .encoders import check_same
from .tables import SCORED
from .tasks import TASKS, check_data
from .training import train_and_score


def _known(names: list[str], known: dict[str, object]) -> list[str]:
    if missing := [name for name in names if name not in known]:
        raise typer.BadParameter(f"{missing[0]!r} is none of {', '.join(known)}.")
    return names


Tasks = Annotated[
    list[str], typer.Option("--task", callback=lambda x: _known(x, TASKS))
]
Arms = Annotated[list[str], typer.Option("--arm", callback=lambda x: _known(x, ARMS))]


def main(
    data: Folder,
    encoder: Encoder,
    tasks: Tasks = list(TASKS),  # noqa: B006
    arms: Arms = [],  # noqa: B006
    sizes: Annotated[list[int], typer.Option("--size")] = list(SIZES),  # noqa: B006
    seeds: Annotated[int, typer.Option(min=1)] = 10,
    regime: Annotated[str, typer.Option(help="by default that of the task")] = "",
    results: Annotated[Path, typer.Option(dir_okay=False)] = SCORED,
    threads: Annotated[int, typer.Option(min=1)] = 1,
) -> None:
    """Do the runs that are missing."""
    check_data(data, tasks)
    check_same(results.parent, encoder)
    torch.set_num_threads(threads)
    # The same for each run: its head is new, its dev data have few labels.
    warnings.filterwarnings("ignore")
    logging.getLogger("spacy").setLevel(logging.ERROR)
    how: Regime | None = regime or None  # type: ignore[assignment]
    wanted = list(runs(tasks, arms, sizes, seeds, how))
    run_missing(results, wanted, lambda run: train_and_score(run, data, encoder))


if __name__ == "__main__":
    typer.run(main)
