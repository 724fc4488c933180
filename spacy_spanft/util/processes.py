"""Processes that begin afresh, and quickly where that is safe."""

import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from multiprocessing import parent_process
from multiprocessing.connection import wait
from multiprocessing.context import BaseContext, SpawnContext, SpawnProcess
from typing import Any

if os.name == "posix":
    from multiprocessing import resource_tracker
    from multiprocessing.context import ForkServerContext, ForkServerProcess

# Importing these takes seconds, and starts nothing that a fork would break: no GPU is
# called, and the libraries that have threads then (OpenBLAS, jemalloc) know of forks.
_LIBRARIES = ["torch", "transformers"]
# thinc asks CuPy for the GPUs as soon as it is imported, and no process that is forked
# off after that could use one.
_OURS = ["spacy", "spacy_transformers", "spacy_spanft.experiments.comparison.measure"]


def fresh_pool(n_workers: int = 1) -> ProcessPoolExecutor:
    """Make a pool whose processes have nothing of this one but its environment.

    On Linux they are forked off a server that has imported the libraries and done
    nothing else, which saves the seconds that importing takes; elsewhere each imports
    them again (macOS has libraries that do not survive a fork).

    n_workers (int): How many processes there are. With one, whatever is submitted runs
        in the same process; for a process each, make a pool each.
    """
    return ProcessPoolExecutor(
        n_workers,
        mp_context=fresh_context(),
        initializer=take_over,
        initargs=(dict(os.environ),),
    )


def preloaded() -> list[str]:
    """Give the modules that the server may import.

    RETURNS (list[str]): Their names.
    """
    names = _LIBRARIES if find_spec("cupy") else [*_LIBRARIES, *_OURS]
    return [name for name in names if find_spec(name.partition(".")[0])]


def n_cores() -> int:
    """Say how many cores this process may use: a batch system may give it a few.

    RETURNS (int): Their number.
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def begin_server() -> None:
    """Start the server, for what will need it: it imports while others prepare."""
    context = fresh_context()
    if context.get_start_method() == "forkserver":
        from multiprocessing import forkserver

        forkserver.ensure_running()


def fresh_context() -> BaseContext:
    """Say how a process is started that has nothing of this one.

    RETURNS (BaseContext): Its Process takes over no environment: see `take_over`.
    """
    if not sys.platform.startswith("linux"):
        return _SpawnContext()
    context = _ForkServerContext()
    # Heard by a server that is to begin.
    context.set_forkserver_preload(preloaded())
    return context


def light_context() -> BaseContext:
    """Say how a process is started that imports no more than what it is to do.

    It begins slower than one of `fresh_context`, and takes a tenth of the memory if it
    needs neither spaCy nor PyTorch.

    RETURNS (BaseContext): Its Process takes over the environment.
    """
    return _SpawnContext()


@contextmanager
def _without_main() -> Iterator[None]:
    """Keep a process that is started from running the script of this one again.

    It takes its functions from our modules. The script may be long, and one that has no
    `if __name__ == "__main__":` would start processes again.
    """
    known = vars(sys.modules["__main__"])
    names = ("__spec__", "__file__")
    kept: dict[str, Any] = {name: known[name] for name in names if name in known}
    try:
        known.update(dict.fromkeys(kept))
        yield
    finally:
        known.update(kept)


class _SpawnProcess(SpawnProcess):
    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        with _without_main():
            return SpawnProcess._Popen(process_obj)


class _SpawnContext(SpawnContext):
    Process = _SpawnProcess


@contextmanager
def deaf_to_ctrl_c() -> Iterator[None]:
    """Start processes in peace: what is heard meanwhile is heard a moment later.

    Half started, a process would be known to nobody who could end it. Those that are
    not forked off a server stay deaf: while they import, nothing could catch it.
    """
    if os.name != "posix":
        yield
        return
    # Begun later, it would let the signals in again, or the server not hear any.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


if os.name == "posix":

    class _ForkServerProcess(ForkServerProcess):
        @staticmethod
        def _Popen(process_obj: Any) -> Any:
            with _without_main():
                return ForkServerProcess._Popen(process_obj)

    class _ForkServerContext(ForkServerContext):
        Process = _ForkServerProcess


def take_over(environment: Mapping[str, str]) -> None:
    """Take over an environment: the server has that of when it began.

    The process also ends with the one that starts it; see `end_with_parent`.

    environment (Mapping[str, str]): That of the process which starts this one.
    """
    end_with_parent()
    for name in set(os.environ) - set(environment):
        del os.environ[name]
    os.environ.update(environment)


def end_with_parent() -> None:
    """End this process, a worker, as soon as the one that asked for it is gone.

    A parent that is killed cannot end its workers: they would wait for work for ever.
    What they do to SIGTERM is undone as well: a forked one has its parent's handler.
    """
    parent = parent_process()
    if parent is None:  # not a worker, but called by hand
        return
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # A pipe that only the parent, and siblings forked later, could write to. Once the
    # parent is gone, the youngest sibling sees its end, and then the next one.
    watch = threading.Thread(target=_exit_after, args=(parent.sentinel,), daemon=True)
    watch.start()


def _exit_after(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)  # nobody is left to hear of anything that cleaning up would say
