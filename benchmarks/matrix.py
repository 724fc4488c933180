"""Runs of several arms over tasks and seeds: each is kept when done, and done once."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from wasabi.tables import table

Run = dict[str, Any]
# What tells runs apart that are averaged over their seeds.
_GROUP = ("task", "arm", "rate", "epochs")


def run_missing(
    results: Path, runs: Sequence[Run], do: Callable[[Run], dict[str, float]]
) -> None:
    """Do the runs that the results do not have yet, and print a table of all.

    results (Path): JSON lines, one for each run.
    runs (Sequence[Run]): Task, arm, rate and seed of each.
    do (Callable[[Run], dict[str, float]]): Gives a run's scores.
    """
    lines = results.read_text("utf8").splitlines() if results.exists() else []
    done = [json.loads(line) for line in lines]
    for run in runs:
        if any(run.items() <= one.items() for one in done):
            continue
        print(run, flush=True)
        begin = time.perf_counter()
        scores = do(run)
        done.append({**run, **scores, "seconds": time.perf_counter() - begin})
        with open(results, "a", encoding="utf8") as file:
            file.write(json.dumps(done[-1]) + "\n")
    summarise(done)


def plan(
    tasks: Sequence[str], arms: Sequence[str], seeds: int, **settings: Any
) -> Iterator[Run]:
    """Name all runs, an arm after the other."""
    for arm in arms:
        for seed in range(seeds):
            for task in tasks:
                yield {"task": task, "arm": arm, "seed": seed, **settings}


def summarise(done: list[Run]) -> None:
    """Print mean and standard deviation over the seeds."""
    metrics = list(dict.fromkeys(name for one in done for name in one))
    metrics = [name for name in metrics if name not in (*_GROUP, "seed")]
    rows = []
    for key in dict.fromkeys(map(_group_of, done)):
        mine = [one for one in done if key == _group_of(one)]
        cells = [_cell([one[name] for one in mine if name in one]) for name in metrics]
        rows.append((*key, len(mine), *cells))
    print(table(rows, header=(*_GROUP, "seeds", *metrics), divider=True))


def _group_of(run: Run) -> tuple[Any, ...]:
    return tuple(run.get(name, "") for name in _GROUP)


def _cell(values: list[float]) -> str:
    # Scores are shares, shown in percent; seconds are not.
    scale = 100 if all(abs(value) <= 1 for value in values) else 1
    spread = f" ± {scale * stdev(values):.1f}" if len(values) > 1 else ""
    return f"{scale * mean(values):.1f}{spread}" if values else "-"
