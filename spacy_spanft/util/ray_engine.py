"""Tasks that run on a Ray cluster: one that is there, or one of our own."""

import os
import signal
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from ..errors import Errors, SpanftError
from .engines import MOST_TIMES, Arguments, Engine, ResultT
from .extras import require

_SECONDS_TO_ANSWER = 5.0


class RayEngine(Engine):
    """Runs tasks on Ray, which begins those of a lost worker again.

    A cluster that this process is connected to already is used as it is. One that was
    started here ends with this process, however that ends.
    """

    def __init__(
        self,
        n_workers: int | None = None,
        address: str | None = None,
        n_gpus: int = 0,
    ) -> None:
        """Connect to a cluster, or start one on this machine.

        n_workers (Optional[int]): How many tasks run at the same time; None for as
            many as there are CPUs. On a cluster with room for more, those that wait
            for a worker run as well.
        address (Optional[str]): Where the cluster is (HOST:PORT); None for that in
            $RAY_ADDRESS, or one on this machine.
        n_gpus (int): How many GPUs each task gets, and sees no other.
        """
        require("The engine 'ray'", "ray")
        self._going: set[Any] = set()
        self._n_gpus = n_gpus
        self._is_ours = _connect(n_workers, address or os.environ.get("RAY_ADDRESS"))
        self.n_workers = n_workers or _n_cpus()

    def run(
        self, function: Callable[..., ResultT], tasks: Iterable[Arguments]
    ) -> Iterator[ResultT]:
        """Run tasks; see `Engine.run`."""
        source = iter(tasks)
        jobs: deque[Any] = deque()
        while True:
            for arguments in islice(source, self.n_in_flight - len(jobs)):
                jobs.append(self.begin(function, arguments))
            if not jobs:
                return
            result = _result(jobs[0])
            self._going.remove(jobs.popleft())
            yield result

    def begin(self, function: Callable[..., Any], arguments: Arguments) -> Any:
        """Begin one task.

        function (Callable): A function of a module.
        arguments (tuple): Its arguments.
        RETURNS (ObjectRef): What Ray knows it by.
        """
        import ray

        remote = ray.remote(_call).options(
            max_retries=MOST_TIMES - 1, num_gpus=self._n_gpus
        )
        self._going.add(reference := remote.remote(function, arguments))
        return reference

    def cancel(self, reference: Any) -> None:
        """End a task, whatever it is at.

        reference (ObjectRef): What `begin` gave.
        """
        import ray

        self._going.discard(reference)
        ray.cancel(reference, force=True)

    def close(self) -> None:
        """End what is going on, and the cluster if it was started here."""
        import ray

        while self._going:
            ray.cancel(self._going.pop(), force=True)
        if self._is_ours:
            ray.shutdown()
        self._is_ours = False


def _n_cpus() -> int:
    import ray

    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _connect(n_workers: int | None, address: str | None) -> bool:
    """Connect to Ray.

    RETURNS (bool): Whether the connection is ours to end.
    """
    import ray

    if ray.is_initialized():
        return False
    # What is started here for an hour has nothing to report to anybody.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    # A cluster that is there has the workers that it has.
    own: dict[str, Any] = {"num_cpus": n_workers, "include_dashboard": False}
    try:
        _knock(address)
        with _same_signals():
            ray.init(address or "local", **quiet, **({} if address else own))
    except Exception as error:  # OSError, ValueError, RuntimeError: it says what
        text = {"address": address, "reason": str(error).rstrip(". \n")}
        message = Errors.NO_CLUSTER if address else Errors.RAY_NOT_STARTED
        raise SpanftError(message.format(**text)) from error
    return True


def _knock(address: str | None) -> None:
    """Raise at once for an address where nobody answers: Ray tries for minutes."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), _SECONDS_TO_ANSWER).close()


@contextmanager
def _same_signals() -> Iterator[None]:
    """Keep what SIGTERM does to this process: Ray makes it exit."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGTERM) is not before:
            signal.signal(signal.SIGTERM, before)


def _call(function: Callable[..., ResultT], arguments: Arguments) -> ResultT:
    return function(*arguments)


def _result(reference: Any) -> Any:
    import ray

    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, BaseException):
            raise error.cause from None
        raise
    except ray.exceptions.RayError as error:
        text = {"n_times": MOST_TIMES, "reason": f": {error}".rstrip(". \n")}
        raise SpanftError(Errors.WORKER_LOST.format(**text)) from error
