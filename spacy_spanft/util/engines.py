"""Tasks that run somewhere: in this process, in others on this machine, or on Ray.

A task is a function of a module and its arguments, all of which can be pickled. A task
whose worker is lost is run again, so it must not matter if it has begun before.
"""

import os
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import active_children
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from typing_extensions import Self

from ..errors import Errors, SpanftError, check_number, check_setting
from .processes import (
    begin_server,
    deaf_to_ctrl_c,
    fresh_context,
    light_context,
    n_cores,
    take_over,
)

EngineName: TypeAlias = Literal["local", "ray"]
Arguments: TypeAlias = tuple[Any, ...]
ResultT = TypeVar("ResultT")

# How often a task is begun before it is given up: it may be the one that takes all the
# memory, and then it would be so for ever.
MOST_TIMES = 10
_SECONDS_TO_END = 5.0
# For each worker one that it does, and one that waits for it.
_TASKS_PER_WORKER = 2


class Engine(ABC):
    """Where tasks run. Used in a `with` block, at whose end all that it began ends.

    n_workers (int): How many tasks run at the same time.
    """

    n_workers: int

    @abstractmethod
    def run(
        self, function: Callable[..., ResultT], tasks: Iterable[Arguments]
    ) -> Iterator[ResultT]:
        """Run tasks, a bounded number at a time, and give what they return in order.

        Whatever a task raises is raised here. Big arrays that it returns may be
        read-only.

        function (Callable): A function of a module.
        tasks (Iterable[tuple]): The arguments of each task, read as they are needed.
        YIELDS (Any): What the function returns, in the order of the tasks.
        """

    @property
    def n_in_flight(self) -> int:
        """How many tasks are taken at a time, those that wait for a worker included."""
        return _TASKS_PER_WORKER * self.n_workers

    def close(self) -> None:  # noqa: B027 (in this process nothing was begun)
        """End whatever was begun."""

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End."""
        self.close()


def open_engine(
    name: EngineName = "local",
    n_workers: int | None = 1,
    *,
    address: str | None = None,
    is_light: bool = False,
    n_gpus: int = 0,
) -> Engine:
    """Choose where tasks run.

    name (str): "local" for this process, or others on this machine if there is more
        than one worker; "ray" for Ray, which is an extra of this package.
    n_workers (Optional[int]): How many tasks run at the same time; None for as many as
        there are CPUs.
    address (Optional[str]): Where the Ray cluster is (HOST:PORT); None for that in
        $RAY_ADDRESS, or a cluster of its own on this machine.
    is_light (bool): Whether local workers import only what the tasks need, instead of
        being forked off a server that has PyTorch and spaCy. They have no PyTorch.
    n_gpus (int): How many GPUs Ray gives each task.
    RETURNS (Engine): The engine, to be used in a `with` block.
    """
    check_setting("engine", name, name in get_args(EngineName), "'local' or 'ray'")
    if n_workers is not None:
        check_number(
            "n_workers", n_workers, lambda n: n in range(1, 2**20), "1 or more"
        )
    if name == "ray":
        from .ray_engine import RayEngine

        return RayEngine(n_workers, address, n_gpus)
    if address is not None:
        text = {"address": address, "engine": name}
        raise SpanftError(Errors.ADDRESS_WITHOUT_RAY.format(**text))
    n_local = n_workers or n_cores()
    return LocalProcesses(n_local, is_light) if n_local > 1 else InProcess()


class InProcess(Engine):
    """Runs each task when its result is asked for, here."""

    n_workers = 1

    def run(
        self, function: Callable[..., ResultT], tasks: Iterable[Arguments]
    ) -> Iterator[ResultT]:
        """Run tasks; see `Engine.run`."""
        for arguments in tasks:
            yield function(*arguments)


@dataclass(eq=False)
class _Job:
    """A task that was begun.

    n_times (int): How often it was begun.
    """

    arguments: Arguments
    future: Future[Any] = field(default_factory=Future)
    n_times: int = 0

    def is_lost(self) -> bool:
        if not self.future.done() or self.future.cancelled():
            return True
        return isinstance(self.future.exception(), BrokenProcessPool)


class LocalProcesses(Engine):
    """Runs tasks in processes of this machine, which end with this one.

    They are started when the first task is there. Where one is killed, all are started
    again, and what they were at is begun again.
    """

    def __init__(self, n_workers: int, is_light: bool = False) -> None:
        """Prepare.

        n_workers (int): How many processes there are.
        is_light (bool): Whether they import only what the tasks need, and never
            PyTorch.
        """
        self.n_workers = n_workers
        self._is_light = is_light
        self._pool: ProcessPoolExecutor | None = None
        self._not_ours: set[BaseProcess] = set()
        self._going: set[_Job] = set()

    def run(
        self, function: Callable[..., ResultT], tasks: Iterable[Arguments]
    ) -> Iterator[ResultT]:
        """Run tasks; see `Engine.run`."""
        source = iter(tasks)
        jobs: deque[_Job] = deque()
        while True:
            for arguments in islice(source, self.n_in_flight - len(jobs)):
                jobs.append(_Job(arguments))
                self._begin(function, jobs[-1])
            if not jobs:
                return
            try:
                result = jobs[0].future.result()
            except BrokenProcessPool:
                self._begin_again(function, jobs)
                continue
            self._going.remove(jobs.popleft())
            yield result

    def _begin(self, function: Callable[..., Any], job: _Job) -> None:
        job.n_times += 1
        self._going.add(job)
        if self._pool is None:
            self._pool = self._make_pool()
        try:
            with deaf_to_ctrl_c():
                job.future = self._pool.submit(function, *job.arguments)
        except BrokenProcessPool as error:  # found out when its result is asked for
            job.future = Future()
            job.future.set_exception(error)

    def _begin_again(self, function: Callable[..., Any], jobs: Iterable[_Job]) -> None:
        """Begin all jobs again that were lost with the pool."""
        # A worker that was started while the pool broke would be waited for, for ever:
        # Python 3.11 ends only those that it knew of by then.
        self._end_workers()
        self._end_pool()
        for job in filter(_Job.is_lost, jobs):
            if job.n_times == MOST_TIMES:
                text = {"n_times": job.n_times, "reason": ""}
                raise SpanftError(Errors.WORKER_LOST.format(**text))
            self._begin(function, job)

    def _make_pool(self) -> ProcessPoolExecutor:
        self._not_ours = set(active_children())
        if not self._is_light:
            begin_server()
        return ProcessPoolExecutor(
            self.n_workers,
            mp_context=light_context() if self._is_light else fresh_context(),
            initializer=_begin_worker,
            initargs=(dict(os.environ), self._is_light),
        )

    def _end_workers(self) -> None:
        _end(set(active_children()) - self._not_ours)

    def _end_pool(self) -> None:
        if self._pool is not None:
            # Until all that it knows of is lost or done.
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def close(self) -> None:
        """End the processes, whatever they are at: nobody waits for it any more."""
        if self._going:
            self._end_workers()
        self._end_pool()
        self._going.clear()


def _end(processes: Iterable[BaseProcess]) -> None:
    """End processes, in peace if they do it soon."""
    processes = list(processes)
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + _SECONDS_TO_END
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
        if process.is_alive():
            process.kill()


def _begin_worker(environment: dict[str, str], is_light: bool) -> None:
    # Ctrl-C is heard by all processes of a terminal; the first one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    take_over(environment)
    if is_light:
        # spaCy and thinc do without it, and import it if they can: 140 MB a worker.
        sys.modules["torch"] = None  # type: ignore[assignment]
