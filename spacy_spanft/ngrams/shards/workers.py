"""Where the work on shards runs, threads or a Ray cluster, and the folder it shares."""

import errno
import os
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir
from typing import Any, Protocol, TypeVar
from uuid import uuid4

from filelock import FileLock, Timeout

from ...errors import SpanftError
from ...util.extras import require
from ...util.threads import map_threaded

T = TypeVar("T")

_START = "spanft-build-"
_LOCK = ".lock"
_FULL = (errno.ENOSPC, errno.EDQUOT)


class Run(Protocol):
    """Where functions run."""

    def __call__(
        self, function: Callable[..., T], tasks: Iterable[tuple[Any, ...]], n: int
    ) -> Iterator[T]:
        """Call a function for each task.

        function (Callable): A function of a module.
        tasks (Iterable[tuple]): The arguments of each call.
        n (int): The number of calls at a time.
        YIELDS (Any): The results, in the order of the tasks.
        """


def run_in_threads(
    function: Callable[..., T], tasks: Iterable[tuple[Any, ...]], n: int
) -> Iterator[T]:
    """Run a function in threads: NumPy and Arrow release the interpreter's lock."""
    return map_threaded(lambda task: function(*task), tasks, n)


def run_on_ray(
    function: Callable[..., T], tasks: Iterable[tuple[Any, ...]], n: int
) -> Iterator[T]:
    """Run a function on Ray, which repeats the tasks of a lost worker."""
    import ray

    remote = ray.remote(function)
    running: deque[Any] = deque()
    try:
        for task in tasks:
            running.append(remote.remote(*task))
            if len(running) > n:
                yield ray.get(running.popleft())
        while running:
            yield ray.get(running.popleft())
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None


@contextmanager
def connect_ray(address: str | None, n_workers: int) -> Iterator[Run]:
    """Connect to a Ray cluster, or start one on this machine until the block ends.

    address (Optional[str]): The cluster (HOST:PORT); None for the one this process is
        connected to, that in $RAY_ADDRESS, or a new one.
    n_workers (int): The number of CPUs of a new one.
    YIELDS (Run): What runs tasks there.
    """
    require("Counting on a cluster", "ray")
    import ray

    if ray.is_initialized():
        yield run_on_ray
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    address = address or os.environ.get("RAY_ADDRESS")
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address is None:
        settings.update(num_cpus=n_workers, include_dashboard=False)
    try:
        ray.init(address or "local", **settings)
    except (OSError, RuntimeError, ValueError) as error:
        raise SpanftError(
            f"No connection to the Ray cluster {address or 'on this machine'}: {error}"
        ) from error
    try:
        yield run_on_ray
    finally:
        ray.shutdown()


@contextmanager
def shard_folder(above: str | Path | None) -> Iterator[Path]:
    """Make a temporary folder, and remove those of builds that were killed.

    above (Optional[Union[str, Path]]): The folder to make it in; None for the system's.
    YIELDS (Path): The folder.
    """
    above = Path(above or gettempdir()).absolute()
    above.mkdir(parents=True, exist_ok=True)
    for old in above.glob(f"{_START}*{_LOCK}"):
        # Those in use are locked, and those of other users cannot be.
        with suppress(Timeout, OSError), FileLock(old, timeout=0):
            _remove(old)
    lock = above / f"{_START}{uuid4().hex}{_LOCK}"
    with FileLock(lock):
        try:
            folder = lock.with_suffix("")
            folder.mkdir(mode=0o700)
            yield folder
        except OSError as error:
            if error.errno not in _FULL:
                raise
            raise SpanftError(
                f"No space left in {str(above)!r}: counting needs about three times "
                "the size of the text there. Free some, or name a folder on a larger "
                "disk with work=... (--work) or the environment variable TMPDIR."
            ) from error
        finally:
            _remove(lock)


def _remove(lock: Path) -> None:
    """Remove a temporary folder, and at last its lock."""
    shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
    with suppress(OSError):  # Windows removes it when it is released
        lock.unlink()
