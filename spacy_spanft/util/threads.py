"""Array operations on several blocks at a time: NumPy and Arrow leave Python free."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def n_cores() -> int:
    """Return the number of threads to use, which OMP_NUM_THREADS limits."""
    import pyarrow as pa

    return int(pa.cpu_count())


def map_threaded(
    function: Callable[[T], U], items: Iterable[T], n_threads: int
) -> Iterator[U]:
    """Call a function in threads, a few items ahead of what is asked for.

    function (Callable): What is called.
    items (Iterable): What it is called with; read in this thread.
    n_threads (int): How many threads; 1 stays in this one.
    YIELDS (Any): The results, in order.
    """
    if n_threads == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        ahead: deque[Future[U]] = deque()
        try:
            for item in items:
                ahead.append(pool.submit(function, item))
                if len(ahead) > n_threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
