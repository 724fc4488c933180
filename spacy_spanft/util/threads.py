"""Several items at a time: ahead in threads, or in processes that end with this one."""

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing import parent_process
from threading import Thread
from typing import TypeVar

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
    for item in items:
        ahead.append(submit(item))
        if len(ahead) > n_ahead:
            yield ahead.popleft().result()
    while ahead:
        yield ahead.popleft().result()


def map_threaded(
    function: Callable[[T], U], items: Iterable[T], n_threads: int
) -> Iterator[U]:
    """Yield a function's results in order; NumPy and Arrow let threads run at once.

    items (Iterable): What it is called with; read in this thread.
    n_threads (int): How many threads; 1 stays in this one.
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
    Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
