"""Several items at a time: in threads, in processes that end with this, or on Ray."""

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import parent_process
from threading import Thread
from typing import Any, TypeVar

from ..errors import SpanftError, reported
from . import require

T = TypeVar("T")
U = TypeVar("U")


def n_cores() -> int:
    """Return the number of threads to use, which OMP_NUM_THREADS limits."""
    import pyarrow as pa

    return int(pa.cpu_count())


def results_in_order(
    submit: Callable[[T], "Future[U]"], items: Iterable[T], n_ahead: int
) -> Iterator[U]:
    """Yield the results of items, of which n_ahead are submitted before they are."""
    ahead: deque[Future[U]] = deque()
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
            "with fewer processes."
        ) from error


def map_threaded(
    function: Callable[[T], U], items: Iterable[T], n_threads: int
) -> Iterator[U]:
    """Yield a function's results in order; items are read in this thread.

    NumPy and Arrow let threads run at once. One thread is this one.
    """
    if n_threads == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            yield from results_in_order(
                lambda item: pool.submit(function, item), items, n_threads
            )
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


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
