"""A function called in this process, in others of this machine, or on a Ray cluster."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import active_children, get_context, parent_process
from typing import Any, TypeAlias

from ..errors import SpanftError
from ..util.extras import require

# Start a call; the function that it returns waits for the result.
Submit: TypeAlias = Callable[..., Callable[[], Any]]
# In a process that was started here: a queue with the GPU of each of them.
_gpu_queue: Any = None


@contextmanager
def processes(function: Callable[..., Any], gpu_ids: Sequence[int]) -> Iterator[Submit]:
    """Start a process for each GPU (-1 for the CPU), none of which survives this one.

    With a single GPU, the function is called here.
    """
    if len(gpu_ids) == 1:
        yield partial(partial, function)
        return
    context = get_context("spawn")
    queue = context.SimpleQueue()
    for gpu_id in gpu_ids:
        queue.put(gpu_id)
    others = set(active_children())
    pool = ProcessPoolExecutor(len(gpu_ids), context, _start_process, (queue,))
    try:
        yield lambda *args: pool.submit(function, *args).result
    except BaseException as error:
        for process in set(active_children()) - others:
            process.terminate()
        if isinstance(error, BrokenProcessPool):
            raise SpanftError(
                "A process was killed, perhaps for lack of memory. Run the command "
                "again to resume, with fewer processes."
            ) from error
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _start_process(queue: Any) -> None:
    global _gpu_queue
    _gpu_queue = queue
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)


def gpu_of_process(gpu_id: int) -> int:
    """Return the GPU of a process that was started here; of any other, `gpu_id`."""
    return gpu_id if _gpu_queue is None else int(_gpu_queue.get())


@contextmanager
def ray_tasks(
    function: Callable[..., Any], n_tasks: int, address: str | None, has_gpus: bool
) -> Iterator[Submit]:
    """Connect to a Ray cluster, or start one on this machine if no address is known.

    has_gpus (bool): Whether each call gets a GPU, and sees no other.
    """
    require("The engine 'ray'", "ray")
    import ray

    address = address or os.environ.get("RAY_ADDRESS")
    is_ours = not ray.is_initialized()
    if is_ours:
        new = {} if address else {"num_cpus": n_tasks, "include_dashboard": False}
        try:
            ray.init(address or "local", log_to_driver=False, **new)
        except Exception as error:
            message = f"Ray cannot be reached at {address or 'this machine'}: {error}"
            raise SpanftError(message) from error
    # With max_calls=0, a worker keeps its GPU and the pipeline on it.
    task = ray.remote(num_gpus=int(has_gpus), max_calls=0)(function)
    try:
        yield lambda *args: partial(ray.get, task.remote(*args))
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError as error:
        raise SpanftError(f"Ray lost a task: {error}") from error
    finally:
        if is_ours:
            ray.shutdown()
