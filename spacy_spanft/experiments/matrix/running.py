"""Does the runs of a matrix that are missing, a few at a time."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import wait
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple
from uuid import uuid4

from ...errors import Errors, SpanftError
from ...util.engines import EngineName, open_engine
from ...util.files import write_whole
from ...util.gpu import CPU
from ...util.lock import own_folders
from ...util.processes import fresh_context
from .gpus import places_of
from .plan import Run
from .progress import Progress
from .result import RESULT, best_score
from .train_run import LOG, train_run

# The line on which Python, or spaCy, says what was wrong.
_ERROR = re.compile(r"(✘ |[\w.]*(Error|Exception)\b)")
_COLOR = re.compile(r"\x1b\[[\d;]*m")
# A whole block of the config, which spaCy prints below what is wrong with it.
_DUMP = re.compile(r"\{['\"]")
_LONGEST = 400


# Makes a process of the arguments of train_run, but for the environment.
MakeProcess = Callable[[tuple[Any, ...]], Any]


class Failure(NamedTuple):
    """A run that failed.

    run (Run): The run.
    reason (str): What its log says.
    log (Path): The log.
    """

    run: Run
    reason: str
    log: Path

    def __str__(self) -> str:
        return f"{self.reason} ({self.log})"


class Job(NamedTuple):
    """A run that is at work.

    folder (Path): Where it writes to.
    gpu_id (int): The GPU that it has; -1 for the CPU.
    """

    run: Run
    folder: Path
    process: Any
    gpu_id: int


def run_matrix(
    runs: Sequence[Run],
    *,
    gpu_id: int | Sequence[int] = -1,
    n_jobs: int = 1,
    n_threads: int | None = None,
    engine: EngineName = "local",
    address: str | None = None,
) -> list[Failure]:
    """Do the runs that were not done yet; a run that fails does not stop the others.

    The folders of the tasks are this process's alone until it is done. How far it is
    goes to the standard error.

    runs (Sequence[Run]): The runs.
    gpu_id (Union[int, Sequence[int]]): The GPU, or all that there are, each as often as
        it may be used at a time; -1 for the CPU.
    n_jobs (int): How many run at the same time.
    n_threads (Optional[int]): How many threads each has; None shares out the cores.
    engine (str): "local", or "ray" for a cluster whose machines have the same files.
    address (Optional[str]): Where the Ray cluster is (HOST:PORT).
    RETURNS (list[Failure]): The runs that failed.
    """
    check_jobs(n_jobs)
    n_cores = 1 if address else (os.cpu_count() or 1) // n_jobs
    threads = n_threads or max(1, n_cores)
    folders = {run.folder.parent.parent for run in runs}
    with own_folders(folders):
        _remove_halves(folders)
        left = [run for run in runs if run.state != "done"]
        try:
            with (
                _places(engine, address, gpu_id, n_jobs) as (places, make),
                Progress(runs, left, n_jobs) as progress,
            ):
                _write_arms(runs)
                return _run_all(left, progress, places, n_jobs, threads, make)
        finally:
            _remove_halves(folders)


@contextmanager
def _places(
    engine: EngineName, address: str | None, gpu_id: int | Sequence[int], n_jobs: int
) -> Iterator[tuple[list[int], MakeProcess]]:
    """Find where runs can be done at a time, and what makes a process there."""
    if engine != "ray":
        with open_engine(engine, address=address):  # which nobody needs, but checks it
            yield places_of(gpu_id, n_jobs), _make_process
        return
    from ...util.ray_engine import RayEngine
    from .on_ray import RemoteProcess

    has_gpus = CPU not in ([gpu_id] if isinstance(gpu_id, int) else gpu_id)
    with RayEngine(n_jobs, address, int(has_gpus)) as ray:
        # Of those that its machine has, each sees the one that it is given.
        yield [0 if has_gpus else CPU] * n_jobs, partial(RemoteProcess, ray)


def _make_process(arguments: tuple[Any, ...]) -> Any:
    context: Any = fresh_context()
    args = (*arguments, dict(os.environ))
    return context.Process(target=train_run, args=args, daemon=True)


def check_jobs(n_jobs: int) -> None:
    """Raise for a number of runs that cannot be done at the same time.

    n_jobs (int): How many.
    """
    if n_jobs < 1:
        raise SpanftError(Errors.BAD_OPTION.format(option="--jobs", value=n_jobs))


def _run_all(
    left: list[Run],
    progress: Progress,
    places: list[int],
    n_jobs: int,
    n_threads: int,
    make: MakeProcess,
) -> list[Failure]:
    waiting, free = list(left), list(places)
    failures: list[Failure] = []
    going: list[Job] = []
    try:
        while waiting or going:
            while waiting and len(going) < n_jobs:
                # In the list before it is started, for whoever interrupts that.
                going.append(_prepare(waiting.pop(0), free.pop(0), n_threads, make))
                progress.begin(going[-1].run)
                going[-1].process.start()
            wait([job.process.sentinel for job in going])
            for job in [job for job in going if not job.process.is_alive()]:
                going.remove(job)
                free.append(job.gpu_id)
                if job.process.exitcode:
                    failures.append(_fail(job))
                    progress.fail(job.run, str(failures[-1]))
                else:
                    _finish(job)
                    progress.finish(job.run, *_found(job.run.folder))
    finally:
        _stop(job.process for job in going if job.process.pid is not None)
    return failures


def _write_arms(runs: Sequence[Run]) -> None:
    """Write down the order of the arms, and what must be said of them."""
    for folder in {run.folder.parent.parent for run in runs}:
        # Whatever else is there, runs of an earlier matrix, is not compared.
        here = [run for run in runs if run.folder.parent.parent == folder]
        own = {f"{run.arm}/{run.seed}": run.fingerprint for run in here}
        notes = {run.arm: run.note for run in here if run.note}
        names = list(dict.fromkeys(run.arm for run in here))
        facts = {"arms": names, "notes": notes, "runs": own}
        text = json.dumps(facts, indent=2) + "\n"
        write_whole(folder / "arms.json", text.encode())


def _prepare(run: Run, gpu_id: int, n_threads: int, make: MakeProcess) -> Job:
    """Make the process of a run, and the folder that is its own."""
    shutil.rmtree(_failed(run), ignore_errors=True)
    folder = _half(run)
    folder.mkdir(parents=True)
    run.config.to_disk(folder / "config.cfg", interpolate=False)
    facts = {"task": run.task, "arm": run.arm, "seed": run.seed}
    facts["fingerprint"] = run.fingerprint
    process = make((folder.absolute(), facts, run.n_words, gpu_id, n_threads))
    return Job(run, folder, process, gpu_id)


def _half(run: Run) -> Path:
    """Name a folder for half a run: what was there stays until it is done.

    Nobody ever had the name. A process that outlives the one that started it, were it
    for a moment, writes to a folder that no other process writes to.
    """
    return run.folder.with_name(f"{run.folder.name}.going-{uuid4().hex[:12]}")


def _failed(run: Run) -> Path:
    return run.folder.with_name(f"{run.folder.name}.failed")


def _remove_halves(folders: Iterable[Path]) -> None:
    """Remove what runs left in the folders of tasks that were interrupted or killed."""
    for folder in folders:
        for half in folder.glob("*/*.going*"):
            shutil.rmtree(half, ignore_errors=True)


def _finish(job: Job) -> None:
    before = _half(job.run)
    if job.run.folder.exists():
        os.replace(job.run.folder, before)
    os.replace(job.folder, job.run.folder)
    shutil.rmtree(before, ignore_errors=True)


def _found(folder: Path) -> tuple[float, float | None]:
    """Read how long a run took, and how well it did."""
    facts = json.loads((folder / RESULT).read_text("utf8"))
    return facts["seconds"], best_score(folder)


def _fail(job: Job) -> Failure:
    folder = _failed(job.run)
    os.replace(job.folder, folder)
    reason = _reason(folder / LOG, job.process.exitcode)
    return Failure(job.run, reason, folder / LOG)


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
        lines = _COLOR.sub("", log.read_text("utf8")).splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    said = [line.strip() for line in lines if line.strip()]
    errors = [i for i, line in enumerate(said) if _ERROR.match(line)]
    if errors:
        said = [line for line in said[errors[-1] :] if not _DUMP.match(line)]
    text = " ".join(said if errors else said[-1:])
    return shorten(text.removeprefix("✘ "), _LONGEST)


def _stop(processes: Iterable[Any]) -> None:
    found = list(processes)
    for process in found:
        process.terminate()
    for process in found:
        process.join()
