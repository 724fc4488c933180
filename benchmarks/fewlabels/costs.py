"""What an arm costs: weights and memory, each run in a process of its own."""

import resource
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

from .arms import core_arms, main_regime
from .choices import (
    TUNING_SIZE,
    Run,
    Setting,
    held_out_run,
    key_of,
    tuned_as,
)
from .tasks import TASKS
from .training import trained

COST_TASKS = ("SST-2", "WikiGold")


def cost_runs(chosen: dict[str, Setting]) -> Iterator[Run]:
    """Name the runs: one epoch of each arm that all sizes have."""
    for name in COST_TASKS:
        regime = main_regime(TASKS[name])
        for arm in core_arms(name, TUNING_SIZE):
            setting = chosen[key_of(tuned_as(arm), regime, TASKS[name])]
            yield {**held_out_run(name, arm, regime, setting), "epochs": 1}


def cost(run: Run, data: Path, encoder: Path) -> dict[str, Any]:
    """Measure a run in a new process.

    run (dict[str, Any]): What to train on what.
    data (Path): Where the data of all tasks is.
    encoder (Path): The folder of the encoder.
    RETURNS (dict[str, Any]): The weights in millions, and the largest memory in MB.
    """
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_cost, (run, data, encoder))


def _cost(run: Run, data: Path, encoder: Path) -> dict[str, Any]:
    import torch

    torch.set_num_threads(1)
    nlp, _ = trained(run, data, encoder)
    pipes: list[Any] = [pipe for _, pipe in nlp.pipeline if hasattr(pipe, "model")]
    nodes = {id(node): node for pipe in pipes for node in pipe.model.walk()}.values()
    own = sum(node.get_param(n).size for node in nodes for n in node.param_names)
    shims = [shim for node in nodes for shim in node.shims]
    of_encoder = sum(
        one.numel() for s in shims for one in s.encoder.module.parameters()
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return {"weights": round((own + of_encoder) / 1e6, 3), "peak_mb": round(peak)}


def rows_of(costs: Sequence[Run], done: Sequence[Run]) -> Iterator[Sequence[str]]:
    """Write what each arm costs.

    costs (Sequence[Run]): What was measured here.
    done (Sequence[Run]): The runs that were scored, whose time is known.
    YIELDS (Sequence[str]): The header, then a row for each task and arm.
    """
    yield "task", "head", "million weights", "largest memory", "median time of a run"
    for run in costs:
        task, arm = run["task"], run["arm"]
        wanted = {"task": task, "arm": arm, "size": TUNING_SIZE}
        own = [one["cpu_seconds"] for one in done if wanted.items() <= one.items()]
        time = f"{median(own):.0f} s, n = {len(own)}" if own else "-"
        yield task, arm, f"{run['weights']:.2f}", f"{run['peak_mb']} MB", time
