"""Runs of several arms over tasks and seeds: each is kept when done, and done once."""

import hashlib
import json
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from filelock import FileLock, Timeout
from wasabi.tables import table

Run = dict[str, Any]
# What tells runs apart that are averaged over their seeds.
_GROUP = ("task", "arm", "rate", "epochs")


def run_missing(
    results: Path, runs: Sequence[Run], do: Callable[[Run], dict[str, Any]]
) -> list[Run]:
    """Do the runs that the results do not have yet.

    Several processes may do the same runs at a time: each run is done by one of them.

    results (Path): JSON lines, one for each run. A line is appended when its run is
        done, so that whatever stops the process costs the run that it was doing alone.
    runs (Sequence[Run]): Task, arm, rate and seed of each.
    do (Callable[[Run], dict[str, Any]]): Gives a run's scores.
    RETURNS (list[Run]): All that is in the results.
    """
    results.parent.mkdir(parents=True, exist_ok=True)
    for run in runs:
        with _claim(results, run) as is_mine:
            if not is_mine or is_done(run, read_done(results)):
                continue
            print(run, flush=True)
            begin, cpu = time.perf_counter(), time.process_time()
            scores = do(run)
            # What else the machine does is in the first of them alone.
            times = {
                "seconds": round(time.perf_counter() - begin, 1),
                "cpu_seconds": round(time.process_time() - cpu, 1),
            }
            line = {**run, **scores, **times}
            with open(results, "a", encoding="utf8") as file:
                # One write: the lines of two processes never mix.
                file.write(json.dumps(line) + "\n")
    return read_done(results)


def read_done(results: Path) -> list[Run]:
    """Read what was done so far."""
    lines = results.read_bytes().splitlines() if results.exists() else []
    done = []
    for number, line in enumerate(lines, 1):
        try:
            run = json.loads(line)
            if not isinstance(run, dict):
                raise ValueError("it is not a JSON object")
        except ValueError as error:
            where = f"Line {number} of {results} is not a run"
            raise SystemExit(f"{where}: {error}. Remove it.") from None
        done.append(run)
    return done


def read_recorded(results: Path) -> list[Run]:
    """Read what was done, and stop where that is nothing: no table is to be emptied."""
    if runs := read_done(results):
        return runs
    raise SystemExit(f"{results} has no runs.")


def is_done(run: Run, done: Sequence[Run]) -> bool:
    """Say whether a run is among those that were done."""
    return any(run.items() <= one.items() for one in done)


@contextmanager
def _claim(results: Path, run: Run) -> Iterator[bool]:
    """Keep a run to this process, if no other one does it; a killed one keeps none."""
    what = json.dumps([str(results.resolve()), run], sort_keys=True)
    name = hashlib.sha256(what.encode()).hexdigest()[:32]
    folder = Path(tempfile.gettempdir()) / "spanft-runs"
    folder.mkdir(exist_ok=True)
    lock = FileLock(folder / f"{name}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


def plan(
    tasks: Sequence[str], arms: Sequence[str], seeds: int, **settings: Any
) -> Iterator[Run]:
    """Name all runs, an arm after the other."""
    for arm in arms:
        for seed in range(seeds):
            for task in tasks:
                yield {"task": task, "arm": arm, "seed": seed, **settings}


def summarize(done: list[Run]) -> None:
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


def only_those(
    wanted: Iterable[Run], only: list[str], known: Iterable[Run] | None = None
) -> list[Run]:
    """Keep the runs whose settings are among those that were asked for.

    Stops at a setting, or a value of it, that none of the known runs has, and where no
    run has all of them.

    wanted (Iterable[Run]): The runs.
    only (list[str]): Settings, such as "size=300,1000".
    known (Optional[Iterable[Run]]): All that could be asked for; None for those wanted.
    RETURNS (list[Run]): Those that are kept.
    """
    wanted = list(wanted)
    known = wanted if known is None else list(known)
    kept: dict[str, list[str]] = {}
    for condition in only:
        key, equals, values = condition.partition("=")
        if not equals:
            raise SystemExit(f"--only {condition}: write {condition}=VALUE,VALUE.")
        kept[key] = values.split(",")
        there = {str(one[key]) for one in known if key in one}
        if not there:
            keys = ", ".join(known[0]) if known else "nothing"
            raise SystemExit(f"--only {condition}: {key!r} is none of {keys}.")
        for value in kept[key]:
            if value not in there:
                choice = ", ".join(sorted(there))
                raise SystemExit(f"--only {condition}: {value!r} is none of {choice}.")
    chosen = [one for one in wanted if all(str(one[k]) in v for k, v in kept.items())]
    if wanted and not chosen:
        raise SystemExit(f"No run has all of {', '.join(only)}.")
    return chosen
