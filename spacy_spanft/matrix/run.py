"""Does the runs of a matrix that are missing, a few at a time."""

import json
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from multiprocessing.connection import wait
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

from ..errors import Errors, MatrixError
from ..files import write_whole
from ..processes import fresh_context
from .arms import ArmConfig
from .plan import Run
from .work import LOG, work

# The line on which Python, or spaCy, says what was wrong.
_ERROR = re.compile(r"(✘ |[\w.]*(Error|Exception)\b)")
_LONGEST = 400


class Failure(NamedTuple):
    """A run that failed.

    run (Run): The run.
    reason (str): What its log says.
    """

    run: Run
    reason: str


def run_matrix(
    runs: Sequence[Run],
    arms: Sequence[ArmConfig],
    *,
    gpu_id: int = -1,
    n_jobs: int = 1,
    n_threads: int | None = None,
) -> list[Failure]:
    """Do the runs that were not done yet; a run that fails does not stop the others.

    runs (Sequence[Run]): The runs.
    arms (Sequence[ArmConfig]): The arms, in their order.
    gpu_id (int): The GPU; -1 for the CPU.
    n_jobs (int): How many run at the same time.
    n_threads (Optional[int]): How many threads each has; None shares out the cores.
    RETURNS (list[Failure]): The runs that failed.
    """
    from tqdm import tqdm

    if n_jobs < 1:
        raise MatrixError(Errors.BAD_OPTION.format(option="--jobs", value=n_jobs))
    threads = n_threads or max(1, (os.cpu_count() or 1) // n_jobs)
    _write_arms(runs, arms)
    left = [run for run in runs if run.state != "done"]
    failures: list[Failure] = []
    going: dict[Any, tuple[Any, Run]] = {}
    with tqdm(
        total=len(runs), initial=len(runs) - len(left), unit=" runs", disable=None
    ) as bar:
        try:
            while left or going:
                while left and len(going) < n_jobs:
                    run = left.pop(0)
                    process = _start(run, gpu_id, threads)
                    going[process.sentinel] = (process, run)
                    bar.set_postfix_str(f"{run.task} {run.arm} {run.seed}")
                for sentinel in wait(list(going)):
                    process, run = going.pop(sentinel)
                    process.join()
                    if process.exitcode:
                        failures.append(_fail(run, process.exitcode))
                    else:
                        _finish(run)
                    bar.update()
        finally:
            _stop(process for process, _ in going.values())
            # Of all runs: who is interrupted may just have taken one off the list.
            for run in runs:
                shutil.rmtree(_beside(run, "going"), ignore_errors=True)
    return failures


def _write_arms(runs: Sequence[Run], arms: Sequence[ArmConfig]) -> None:
    """Write down the order of the arms, and what must be said of them."""
    names = [arm.name for arm in arms]
    notes = {arm.name: arm.note for arm in arms if arm.note}
    for folder in {run.folder.parent.parent for run in runs}:
        # Whatever else is there, runs of an earlier matrix, is not compared.
        here = [run for run in runs if run.folder.parent.parent == folder]
        own = {f"{run.arm}/{run.seed}": run.fingerprint for run in here}
        facts = {"arms": names, "notes": notes, "runs": own}
        text = json.dumps(facts, indent=2) + "\n"
        write_whole(folder / "arms.json", text.encode())


def _beside(run: Run, state: str) -> Path:
    """Name the folder of a run that is not done: what was there stays until it is."""
    return run.folder.with_name(f"{run.folder.name}.{state}")


def _start(run: Run, gpu_id: int, n_threads: int) -> Any:
    """Start a run in an empty folder."""
    folder = _beside(run, "going")
    for old in (folder, _beside(run, "failed")):
        shutil.rmtree(old, ignore_errors=True)
    folder.mkdir(parents=True)
    run.config.to_disk(folder / "config.cfg", interpolate=False)
    facts = {"task": run.task, "arm": run.arm, "seed": run.seed}
    facts["fingerprint"] = run.fingerprint
    args = (folder, facts, run.n_words, gpu_id, n_threads, dict(os.environ))
    context: Any = fresh_context()
    process = context.Process(target=work, args=args, daemon=True)
    process.start()
    return process


def _finish(run: Run) -> None:
    shutil.rmtree(run.folder, ignore_errors=True)
    os.replace(_beside(run, "going"), run.folder)


def _fail(run: Run, code: int) -> Failure:
    folder = _beside(run, "failed")
    os.replace(_beside(run, "going"), folder)
    return Failure(run, f"{_reason(folder / LOG, code)} ({folder / LOG})")


def _reason(log: Path, code: int) -> str:
    if code < 0:
        return f"it was killed by signal {-code}, perhaps because memory ran out"
    return last_error(log) or f"it ended with code {code}"


def last_error(log: Path) -> str:
    """Find what was wrong: the last error in a log, however many lines it has.

    log (Path): What a training printed.
    RETURNS (str): The error, or the last line if there is none; "" without any.
    """
    try:
        lines = log.read_text("utf8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    said = [line.strip() for line in lines if line.strip()]
    errors = [i for i, line in enumerate(said) if _ERROR.match(line)]
    return shorten(" ".join(said[errors[-1] if errors else -1 :]), _LONGEST)


def _stop(processes: Iterable[Any]) -> None:
    found = list(processes)
    for process in found:
        process.terminate()
    for process in found:
        process.join()
