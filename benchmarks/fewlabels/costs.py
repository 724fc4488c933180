"""What an arm costs: weights, time and memory, each run in a process of its own."""

import resource
import time
from collections.abc import Iterator, Sequence
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

from .arms import BASELINE, core_arms, main_regime
from .choices import (
    TUNING_SIZE,
    Run,
    Setting,
    held_out_run,
    key_of,
    tuned_as,
)
from .names import NAMES
from .tasks import TASKS
from .training import fit, prepared

COST_TASKS = ("SST-2", "MRPC", "WikiGold", "STS-B")
N_TURNS = 3


def cost_runs(chosen: dict[str, Setting]) -> Iterator[Run]:
    """Name the runs, in turns: one epoch of each arm that the main size has."""
    for turn, name in product(range(N_TURNS), COST_TASKS):
        regime = main_regime(TASKS[name])
        for arm in core_arms(name, TUNING_SIZE):
            setting = chosen[key_of(tuned_as(arm), regime, TASKS[name])]
            yield {**held_out_run(name, arm, "everything", setting, turn), "epochs": 1}


def cost(run: Run, data: Path, encoder: Path) -> dict[str, Any]:
    """Measure a run in a new process.

    run (dict[str, Any]): What to train on what.
    data (Path): Where the data of all tasks is.
    encoder (Path): The folder of the encoder.
    RETURNS (dict[str, Any]): The weights in millions, the milliseconds of a core that
        training and prediction take for a text, and the largest memory in MB.
    """
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_cost, (run, data, encoder))


def _cost(run: Run, data: Path, encoder: Path) -> dict[str, Any]:
    import torch

    torch.set_num_threads(1)
    nlp, train, dev = prepared(run, data, encoder)
    begin = time.process_time()
    fit(nlp, train, run["epochs"], run["seed"])
    trained = time.process_time()
    for _ in nlp.pipe([example.reference.text for example in dev]):
        pass
    done = time.process_time()
    pipes: list[Any] = [pipe for _, pipe in nlp.pipeline if hasattr(pipe, "model")]
    nodes = {id(node): node for pipe in pipes for node in pipe.model.walk()}.values()
    own = sum(node.get_param(n).size for node in nodes for n in node.param_names)
    shims = [shim for node in nodes for shim in node.shims]
    of_encoder = sum(
        one.numel() for s in shims for one in s.encoder.module.parameters()
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return {
        "weights": round((own + of_encoder) / 1e6, 3),
        "train_ms": round(1000 * (trained - begin) / (run["epochs"] * len(train)), 2),
        "predict_ms": round(1000 * (done - trained) / len(dev), 2),
        "peak_mb": round(peak),
    }


def rows_of(done: Sequence[Run]) -> Iterator[Sequence[str]]:
    """Write what each arm costs: medians, and how many times the encoder alone it is.

    done (Sequence[Run]): What was measured.
    YIELDS (Sequence[str]): The header, then a row for each task and arm.
    """
    yield (
        *("task", "head", "million weights", "training, CPU ms per text"),
        *("prediction, CPU ms per text", "largest memory, MB"),
    )
    for task, arm in dict.fromkeys((run["task"], run["arm"]) for run in done):
        middle, base = (
            {
                key: median(run[key] for run in done if _is_of(run, task, name))
                for key in ("weights", "train_ms", "predict_ms", "peak_mb")
            }
            for name in (arm, BASELINE)
        )
        cells = [f"{middle['weights']:.2f}"]
        for key in ("train_ms", "predict_ms", "peak_mb"):
            cell = f"{middle[key]:,.0f}" if key == "peak_mb" else f"{middle[key]:.1f}"
            times = f" ({middle[key] / base[key]:.2f})" if arm != BASELINE else ""
            cells.append(cell + times)
        yield task, NAMES.get(arm, "encoder alone"), *cells


def _is_of(run: Run, task: str, arm: str) -> bool:
    return (run["task"], run["arm"]) == (task, arm)
