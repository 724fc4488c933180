"""Train the runs that are missing, several at a time, here or on a Ray cluster.

A run is a function of its folder in a process of its own.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, Literal, NamedTuple, TypeAlias
from uuid import uuid4

from tqdm import tqdm

from ..errors import shown, visible
from ..util.files import locked, write_whole
from ..util.gpu import CPU
from ..util.threads import connect_ray
from .plan import LOG, MODEL, RESULT, Run

# Trains, given arguments of `train_run`; the result is the exit code of the process.
Train: TypeAlias = Callable[[dict[str, Any]], int]

# A process first watches its standard input, which closes when its parent ends, even
# if that is killed; only then it imports libraries, which takes seconds.
_PROGRAM = f"""
import json, os, signal, sys, threading
threading.Thread(target=lambda: os.read(0, 1) or os._exit(1), daemon=True).start()
signal.signal(signal.SIGINT, signal.SIG_IGN)  # of Ctrl-C: the parent ends it
from {__name__} import train_run
train_run(**json.loads(sys.argv[1]))
"""


class Failure(NamedTuple):
    """A run that failed, with its log, whose last line is the reason."""

    run: Run
    reason: str
    log: Path

    def __str__(self) -> str:
        return f"{self.run.folder}: {visible(self.reason)} ({self.log})"


def run_matrix(
    runs: Sequence[Run],
    *,
    gpu_ids: Sequence[int] = (CPU,),
    n_jobs: int = 1,
    engine: Literal["local", "ray"] = "local",
    address: str | None = None,
) -> list[Failure]:
    """Train the runs that are not done; a run that fails does not stop the others.

    Progress goes to the standard error. A second call for the same folder is refused
    while the first one runs.

    gpu_ids (Sequence[int]): The GPU of each run at a time; (-1,) for the CPU.
    engine (str): "local", or "ray" for a cluster whose machines share the files.
    address (Optional[str]): The address of the Ray cluster (HOST:PORT).
    """
    gpu_ids = list(gpu_ids)
    if engine == "local":
        gpu_ids = gpu_ids * n_jobs if gpu_ids == [CPU] else gpu_ids
        n_jobs = min(n_jobs, len(gpu_ids))
    folders = sorted({run.folder.parent.parent for run in runs})
    n_threads = 1 if address else max(1, (os.cpu_count() or 1) // n_jobs)
    stopped = Event()
    with ExitStack() as stack:
        for folder in folders:
            message = f"Another experiment is writing to '{folder}'. Wait until it ends"
            stack.enter_context(locked(folder, f"{message}, or name another --output."))
        _remove_unfinished(folders)
        stack.callback(_remove_unfinished, folders)
        pool = ThreadPoolExecutor(n_jobs)
        stack.callback(pool.shutdown, cancel_futures=True)
        if engine == "ray":
            train = stack.enter_context(_on_ray(gpu_ids, n_jobs, address))
        else:
            train = in_processes(gpu_ids, stopped)
        stack.callback(stopped.set)  # before the pool waits for its threads
        job = partial(_train, train=train, n_threads=n_threads, stopped=stopped)
        return _train_all(runs, pool, job)


def in_processes(gpu_ids: Sequence[int], stopped: Event) -> Train:
    """Train in processes, each of which has a GPU of its own until it ends."""
    free = [*gpu_ids]  # there are no more threads than these

    def train(arguments: dict[str, Any]) -> int:
        gpu_id = free.pop(0)
        try:
            return train_in_process({**arguments, "gpu_id": gpu_id}, stopped)
        finally:
            free.append(gpu_id)

    return train


@contextmanager
def _on_ray(gpu_ids: list[int], n_jobs: int, address: str | None) -> Iterator[Train]:
    """Train in Ray tasks, each with a GPU of its own unless `gpu_ids` is the CPU."""
    has_gpus = CPU not in gpu_ids
    tasks: list[Any] = []
    with connect_ray(address, n_jobs) as ray:
        # Ray shows each task its own GPU only.
        fixed = {"gpu_id": 0 if has_gpus else CPU}
        remote = ray.remote(num_gpus=int(has_gpus))(train_in_process)

        def train(arguments: dict[str, Any]) -> int:
            tasks.append(remote.remote({**arguments, **fixed}))
            return int(ray.get(tasks[-1]))

        try:
            yield train
        finally:
            for task in tasks:
                ray.cancel(task, force=True)


def _train_all(
    runs: Sequence[Run], pool: ThreadPoolExecutor, job: Callable[[Run], Failure | None]
) -> list[Failure]:
    missing = [run for run in runs if not run.is_done]
    n_done = len(runs) - len(missing)
    failures: list[Failure] = []
    _print(f"{len(runs)} runs, of which {n_done} are done")
    futures = {pool.submit(job, run): run for run in missing}
    with tqdm(total=len(runs), initial=n_done, unit=" runs", disable=None) as bar:
        waiting = set(futures)
        while waiting:
            # A signal that comes as the wait begins is handled only when it ends.
            done, waiting = wait(waiting, timeout=1, return_when=FIRST_COMPLETED)
            for future in done:
                if failure := future.result():
                    failures.append(failure)
                _print(f"✘ {failure}" if failure else f"✔ {futures[future].folder}")
                bar.update()
    return failures


def _train(run: Run, train: Train, n_threads: int, stopped: Event) -> Failure | None:
    """Train in a folder of another name, and rename it when the run is done."""
    if stopped.is_set():
        return None
    failed = run.folder.with_name(f"{run.seed}.failed")
    shutil.rmtree(failed, ignore_errors=True)
    folder = _unfinished(run)
    folder.mkdir(parents=True)
    run.config.to_disk(folder / "config.cfg", interpolate=False)
    arguments = {
        "folder": str(folder.absolute()),
        "fingerprint": run.fingerprint,
        "n_threads": n_threads,
        "working_dir": os.getcwd(),
    }
    reason = _failure(train, arguments)
    if stopped.is_set():
        return None
    if reason:
        os.replace(folder, failed)
        return Failure(run, reason, failed / LOG)
    if run.folder.exists():
        os.replace(run.folder, _unfinished(run))  # removed at the end
    os.replace(folder, run.folder)
    return None


def _print(line: str) -> None:
    tqdm.write(line, file=sys.stderr)  # above the bar
    sys.stderr.flush()


def _failure(train: Train, arguments: dict[str, Any]) -> str:
    """Train, and return why that failed; "" if it did not."""
    folder = Path(arguments["folder"])
    try:
        code = train(arguments)
    except Exception as error:  # of Ray, which lost the machine
        return f"its process was lost: {shown(str(error))}"
    if code < 0:
        return f"it was killed by signal {-code}, perhaps because memory ran out"
    if code == 0 and (folder / RESULT).exists():
        return ""
    last = ""
    with suppress(OSError):  # on a machine that sees the folder later
        log = (folder / LOG).read_text("utf8", errors="replace")
        last = log.strip().rpartition("\n")[2].strip()
    return last or f"it ended with code {code}"


def _unfinished(run: Run) -> Path:
    return run.folder.with_name(f"{run.seed}.going-{uuid4().hex[:12]}")


def _remove_unfinished(folders: Sequence[Path]) -> None:
    for folder in folders:
        for path in folder.glob("*/*.going*"):
            shutil.rmtree(path, ignore_errors=True)


def train_in_process(arguments: dict[str, Any], stopped: Event | None = None) -> int:
    """Run `train_run` in a process, until `stopped`; its log is FOLDER/log.txt.

    RETURNS (int): The exit code, negative for a signal.
    """
    command = [sys.executable, "-u", "-X", "utf8", "-c", _PROGRAM]
    with (
        open(Path(arguments["folder"]) / LOG, "ab") as log,
        subprocess.Popen(
            [*command, json.dumps(arguments)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        while stopped is not None and process.poll() is None:
            if stopped.wait(0.1):
                process.kill()
                break
        return process.wait()


def train_run(
    folder: str, fingerprint: str, gpu_id: int, n_threads: int, working_dir: str
) -> None:
    """Train FOLDER/config.cfg to FOLDER/model, then write FOLDER/run.json.

    working_dir (str): Where relative paths in the config begin.
    """
    os.chdir(working_dir)
    import torch
    from spacy.cli.train import train

    torch.set_num_threads(n_threads)
    path, start = Path(folder), time.perf_counter()
    train(path / "config.cfg", path, use_gpu=gpu_id)
    seconds = time.perf_counter() - start
    shutil.rmtree(path / "model-last", ignore_errors=True)
    os.replace(path / "model-best", path / MODEL)
    facts = {"fingerprint": fingerprint, "seconds": seconds}
    write_whole(path / RESULT, json.dumps(facts).encode())
