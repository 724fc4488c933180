"""Does the runs of a matrix that are missing, a few at a time."""

import json
import os
import shutil
from collections.abc import Iterable, Sequence
from multiprocessing.connection import wait
from typing import Any, NamedTuple

from ..errors import Errors, MatrixError
from ..files import write_whole
from ..processes import fresh_context
from .arms import ArmConfig
from .plan import Run
from .work import LOG, work


class Failure(NamedTuple):
    """A run that failed.

    run (Run): The run.
    reason (str): The last line of its log.
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
                        failures.append(Failure(run, _reason(run, process.exitcode)))
                    bar.update()
        finally:
            _stop(process for process, _ in going.values())
    return failures


def _write_arms(runs: Sequence[Run], arms: Sequence[ArmConfig]) -> None:
    """Write down the order of the arms, and what must be said of them."""
    names = [arm.name for arm in arms]
    notes = {arm.name: arm.note for arm in arms if arm.note}
    text = json.dumps({"arms": names, "notes": notes}, indent=2) + "\n"
    for folder in {run.folder.parent.parent for run in runs}:
        write_whole(folder / "arms.json", text.encode())


def _start(run: Run, gpu_id: int, n_threads: int) -> Any:
    """Start a run in an empty folder."""
    shutil.rmtree(run.folder, ignore_errors=True)
    run.folder.mkdir(parents=True)
    run.config.to_disk(run.folder / "config.cfg", interpolate=False)
    facts = {"task": run.task, "arm": run.arm, "seed": run.seed}
    facts["fingerprint"] = run.fingerprint
    args = (run.folder, facts, run.n_words, gpu_id, n_threads, dict(os.environ))
    context: Any = fresh_context()
    process = context.Process(target=work, args=args, daemon=True)
    process.start()
    return process


def _reason(run: Run, code: int) -> str:
    if code < 0:
        return f"it was killed by signal {-code}, perhaps because memory ran out"
    try:
        lines = (run.folder / LOG).read_text("utf8").splitlines()
    except OSError:
        lines = []
    said = [line.strip() for line in lines if line.strip()]
    return said[-1] if said else f"it ended with code {code}"


def _stop(processes: Iterable[Any]) -> None:
    found = list(processes)
    for process in found:
        process.terminate()
    for process in found:
        process.join()
