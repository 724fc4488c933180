"""The folder of a build: one that is removed at its end, or one to go on from."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from filelock import FileLock, Timeout

from ...errors import DictionaryError, Errors, shown
from .store import Store

PLAN = "plan"
_LOCK = ".lock"
_START = "spanft-build-"
_OF_THE_BEGUN = ("size", "n_parts", "n_readers")


@contextmanager
def open_work(work: str | Path | None) -> Iterator[Store]:
    """Have a folder for oneself, until a build is done or the process ends.

    work (Optional[Union[str, Path]]): A folder that stays when the build is cut short,
        so that another goes on from there; None for a temporary one.
    YIELDS (Store): The folder.
    """
    if work is None:
        with _temporary() as folder, _locked(folder):
            yield Store(folder)
        return
    folder = Path(work).absolute()
    if folder.exists() and not folder.is_dir():
        raise DictionaryError(Errors.OUTPUT_IS_FILE.format(path=str(work)))
    if folder.exists():
        _check_ours(Store(folder))
    folder.mkdir(parents=True, exist_ok=True)
    is_ours = False
    try:
        with _locked(folder):
            is_ours = True
            store = Store(folder)
            _remove_unfinished(store)
            yield store
            store.remove()
    finally:
        # What was stopped before anything was done is nothing to go on from.
        if is_ours and set(store.names()) <= {PLAN}:
            store.remove()
            (folder / _LOCK).unlink(missing_ok=True)
            with suppress(OSError):  # somebody else has put something there
                folder.rmdir()


def check_plan(store: Store, plan: dict[str, Any]) -> dict[str, Any]:
    """Write what is to be done, or read what was begun.

    store (Store): The folder.
    plan (dict[str, Any]): What is to be done; what changes no result stays as in the
        build that was begun.
    RETURNS (dict[str, Any]): What holds; raises if another build was begun there.
    """
    if not store.has(PLAN):
        store.write_facts(PLAN, plan)
        return plan
    found: Any = store.read_facts(PLAN)
    for name, value in plan.items():
        old = found.get(name) if isinstance(found, dict) else None
        if old != value and name not in _OF_THE_BEGUN:
            text = {"path": str(store.folder), "name": name}
            text["change"] = f": it was {shown(old)}, and is {shown(value)}"
            if name == "text":  # of which there is much to say
                text["change"] = ": the files, how they are read, or what is in them"
            raise DictionaryError(Errors.OTHER_WORK.format(**text))
    return {**plan, **found}


def _check_ours(store: Store) -> None:
    others = [path for path in store.folder.iterdir() if path.name != _LOCK]
    if others and not store.has(PLAN):
        text = {"path": str(store.folder), "file": others[0].name}
        raise DictionaryError(Errors.NOT_OUR_WORK.format(**text))


def _remove_unfinished(store: Store) -> None:
    for path in store.folder.glob("*.part"):  # of tasks that were cut short
        path.unlink(missing_ok=True)


@contextmanager
def _temporary() -> Iterator[Path]:
    above = Path(tempfile.gettempdir())
    _remove_litter(above)
    folder = above / f"{_START}{uuid4().hex}"
    try:
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_litter(above: Path) -> None:
    """Remove what builds that were killed have left."""
    for folder in above.glob(f"{_START}*"):
        # Those of others cannot be locked, and those at work are. One without a lock
        # has just been made.
        with suppress(Timeout, OSError):
            if (folder / _LOCK).exists():
                with FileLock(folder / _LOCK, timeout=0):
                    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    try:
        # The system gives it free when the process ends, however it ends.
        lock = FileLock(folder / _LOCK, timeout=0)
        lock.acquire()
    except Timeout as error:
        text = {"path": str(folder)}
        raise DictionaryError(Errors.WORK_TAKEN.format(**text)) from error
    try:
        yield
    finally:
        lock.release()
