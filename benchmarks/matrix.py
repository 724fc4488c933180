"""Runs of several arms over tasks and seeds: each is recorded, and done once."""

import hashlib
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

Run = dict[str, Any]


def run_missing(
    results: Path, runs: Sequence[Run], do: Callable[[Run], dict[str, Any]]
) -> list[Run]:
    """Do the runs that the results lack.

    Several processes may work on the same runs: each run is done by one of them.

    results (Path): JSON lines, one for each run. A line is appended when its run is
        done, so that stopping the process costs only the run that it was doing.
    RETURNS (list[Run]): All runs in the results.
    """
    results.parent.mkdir(parents=True, exist_ok=True)
    for run in runs:
        with _claim(results, run) as is_mine:
            if not is_mine or is_done(run, read_done(results)):
                continue
            print(run, flush=True)
            begin, cpu = time.perf_counter(), time.process_time()
            scores = do(run)
            # Only the first of them depends on the other work of the machine.
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
    """Return the runs that are recorded so far."""
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
    """Return the recorded runs; raise if there are none, lest a table is emptied."""
    if runs := read_done(results):
        return runs
    raise SystemExit(f"{results} has no runs.")


def is_done(run: Run, done: Sequence[Run]) -> bool:
    """Whether a run is among those that were done."""
    return any(run.items() <= other.items() for other in done)


@contextmanager
def _claim(results: Path, run: Run) -> Iterator[bool]:
    """Lock a run, unless another process has it; a killed process frees its lock."""
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
