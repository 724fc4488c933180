"""Where the shards of a count are kept, and what works on several of them at a time."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from errno import EDQUOT, ENOSPC
from pathlib import Path
from tempfile import gettempdir
from typing import Any, TypeAlias
from uuid import uuid4

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray
from pyarrow import cpu_count

from ...errors import SpanftError
from ...util.text_files import BLOCK_SIZE
from ...util.threads import connect_ray, map_ahead, results_in_order
from ..provenance import Settings

# Calls a function with each task's arguments, several at a time; results in order.
Run: TypeAlias = Callable[
    [Callable[..., Any], Iterable[tuple[Any, ...]]], Iterator[Any]
]

# The memory of this process with spaCy and PyTorch, and that of work on a shard.
_BASE, _PER_SHARD = 700 << 20, 20 * BLOCK_SIZE
_START, _LOCK = "spanft-build-", ".lock"


class Arrays:
    """Arrays by their names: in memory, or files in a folder that all workers see.

    A name ends in the number of words of the n-grams that the array belongs to.
    """

    def __init__(self, folder: Path | None) -> None:
        """Keep arrays in a folder; None keeps them in memory."""
        self._folder = folder
        self._held: dict[str, NDArray[Any]] = {}

    def __setitem__(self, name: str, array: NDArray[Any]) -> None:
        if self._folder is None:
            self._held[name] = array
            return
        # Under another name first: Ray may run a task twice.
        part = self._folder / f"{name}.{uuid4().hex}"
        with part.open("wb") as file:
            np.save(file, array)
        part.replace(self._folder / name)

    def __getitem__(self, name: str) -> NDArray[Any]:
        if self._folder is None:
            return self._held[name]
        return np.asarray(np.load(self._folder / name, mmap_mode="r"))

    def drop(self, n: int) -> None:
        """Remove the arrays of n-grams of n words."""
        if self._folder is None:
            for name in [name for name in self._held if name.endswith(f"-{n}")]:
                del self._held[name]
        else:
            for path in self._folder.glob(f"*-{n}"):
                path.unlink()


@contextmanager
def workers(settings: Settings) -> Iterator[Run]:
    """Run functions in threads, or on Ray, which repeats the tasks of a lost worker."""
    # Of cores, OMP_NUM_THREADS limits those that Arrow counts.
    n = settings.n_process if settings.is_bounded else cpu_count()
    if settings.memory is not None:
        n = max(1, min(n, (settings.memory - _BASE) // _PER_SHARD))
    if settings.engine == "local":
        # NumPy and Arrow release the interpreter's lock.
        yield lambda function, tasks: map_ahead(lambda x: function(*x), tasks, n)
        return
    with connect_ray(settings.address, settings.n_process) as ray:

        def run(
            function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]
        ) -> Iterator[Any]:
            remote = ray.remote(function)
            return results_in_order(lambda x: remote.remote(*x).future(), tasks, n)

        yield run


@contextmanager
def shard_arrays(settings: Settings) -> Iterator[Arrays]:
    """Keep arrays in memory, or in a temporary folder, which ends with the block."""
    if not settings.is_bounded:
        yield Arrays(None)
        return
    above = Path(settings.work or gettempdir()).absolute()
    above.mkdir(parents=True, exist_ok=True)
    for old in above.glob(f"{_START}*{_LOCK}"):
        # Of killed builds. Those in use are locked, and those of other users cannot be.
        with suppress(Timeout, OSError), FileLock(old, timeout=0):
            _remove(old)
    lock = above / f"{_START}{uuid4().hex}{_LOCK}"
    with FileLock(lock):
        try:
            folder = lock.with_suffix("")
            folder.mkdir(mode=0o700)
            yield Arrays(folder)
        except OSError as error:
            if error.errno not in (ENOSPC, EDQUOT):
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
