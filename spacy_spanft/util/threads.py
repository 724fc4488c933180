"""Several items at a time: in threads, in processes that end with this, or on Ray."""

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import parent_process
from threading import Thread
from typing import Any, TypeVar

from ..errors import SpanftError, reported
from . import require

# Processes import the script that starts them.
IN_SCRIPT = 'In a script, call this below `if __name__ == "__main__":`.'
T = TypeVar("T")
U = TypeVar("U")


def results_in_order(
    submit: Callable[[T], "futures.Future[U]"], items: Iterable[T], n_ahead: int
) -> Iterator[U]:
    """Yield the results of items, of which n_ahead are submitted before they are."""
    ahead: deque[futures.Future[U]] = deque()
    try:
        for item in items:
            ahead.append(submit(item))
            if len(ahead) > n_ahead:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    except BrokenProcessPool as error:
        raise SpanftError(
            "A process was killed, perhaps for lack of memory. Run the command again, "
            f"with fewer processes. {IN_SCRIPT}"
        ) from error


def map_ahead(
    function: Callable[[T], U],
    items: Iterable[T],
    n_workers: int,
    *,
    in_processes: bool = False,
) -> Iterator[U]:
    """Yield a function's results in order; items are read in this thread.

    NumPy and Arrow let threads run at once. One worker is this thread.
    """
    if n_workers == 1:
        yield from map(function, items)
        return
    pool: futures.Executor
    if in_processes:
        pool = futures.ProcessPoolExecutor(n_workers, None, _set_work, (function,))
        function = _call_work
    else:
        pool = futures.ThreadPoolExecutor(n_workers)
    try:
        yield from results_in_order(
            lambda item: pool.submit(function, item), items, n_workers
        )
    finally:
        pool.shutdown(cancel_futures=True)


_work: Callable[[Any], Any]


def _set_work(work: Callable[[Any], Any]) -> None:
    """Keep the work in a process, so that it is sent there only once."""
    global _work
    obey_parent()
    _work = work


def _call_work(item: Any) -> Any:
    return _work(item)


def obey_parent() -> None:
    """Leave Ctrl-C to the parent of this process, and end with it, even if killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    exit_with_parent()


def exit_with_parent() -> None:
    """End this process with its parent, even if that is killed."""

    def wait() -> None:
        if parent := parent_process():
            parent.join()
            os._exit(1)

    Thread(target=wait, daemon=True).start()


@contextmanager
def connect_ray(address: str | None, n_cpus: int) -> Iterator[Any]:
    """Yield `ray`, connected to a cluster, or to a new one that ends with the block.

    address (Optional[str]): The cluster (HOST:PORT); None for the one that this process
        is connected to, that in $RAY_ADDRESS, or a new one of n_cpus.
    """
    require("Working on a cluster", "ray")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    address = address or os.environ.get("RAY_ADDRESS")
    is_ours = not ray.is_initialized()
    if is_ours:
        new = {} if address else {"num_cpus": n_cpus, "include_dashboard": False}
        message = f"Ray cannot be reached at {address or 'this machine'}"
        with reported(message, Exception):  # Ray raises various ones
            ray.init(
                address or "local", log_to_driver=False, logging_level="ERROR", **new
            )
    try:
        yield ray
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError as error:
        raise SpanftError(f"Ray lost a task: {error}") from error
    finally:
        if is_ours:
            ray.shutdown()
