"""Reading and writing files so that nobody ever finds half of one."""

import errno
import os
import re
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, TypeAlias

from ..errors import Errors, SpanftError

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

Write: TypeAlias = Callable[[BinaryIO], object]

_LONGEST_START = 200  # bytes: a name may have 255, and the rest of it has 34


def write_whole(path: str | Path, data: bytes | Write) -> None:
    """Write a file under a temporary name beside the target, then rename it.

    What earlier programs that were killed have left there of this file is removed.

    path (Union[str, Path]): The target; a link is followed. What it held stays until
        the very end, also when the disk is full or the program is interrupted, and so
        does who may read it. What is not a file, such as /dev/stdout, is written
        to as it is.
    data (Union[bytes, Callable]): What to write, or what writes it to a file.
    """
    write = _writing(data) if isinstance(data, bytes) else data
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            with open(target, "wb") as file:  # a device, or a folder: then it says so
                write(file)
            return
        _make_folder(target.parent)
        _remove_litter(target)
        while not _write_beside(target, write):
            pass
    except OSError as error:
        # The user knows the target, not the temporary name.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _writing(data: bytes) -> Write:
    def write(file: BinaryIO) -> None:
        file.write(data)

    return write


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:  # it does not say that this is the trouble
        raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from error


def _write_beside(target: Path, write: Write) -> bool:
    """Write a file, and say whether it could be: another writer may have removed it."""
    mode = target.stat().st_mode & 0o7777 if target.exists() else None
    # Nobody else may read it before it has the mode of what it replaces.
    first_mode = 0o666 if mode is None else 0o600
    temporary = target.with_name(f".{_start_of(target)}.{uuid.uuid4().hex}")
    try:
        with open(
            temporary, "xb", opener=lambda name, how: os.open(name, how, first_mode)
        ) as file:
            _lock(file.fileno(), wait=True)
            if not temporary.exists():  # taken for litter just before it was locked
                return False
            if mode is not None:
                os.chmod(temporary, mode)
            write(file)
            file.flush()
            os.fsync(file.fileno())
            if fcntl is not None:  # before the lock ends
                os.replace(temporary, target)
        if fcntl is None:  # Windows renames no file that is open
            os.replace(temporary, target)
        return True
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _start_of(target: Path) -> str:
    """Cut a name, so that the temporary one made of it is not too long."""
    return os.fsencode(target.name)[:_LONGEST_START].decode("utf8", errors="ignore")


def _remove_litter(target: Path) -> None:
    """Remove what was written for a target by programs that are dead."""
    shape = re.compile(rf"\.{re.escape(_start_of(target))}\.[0-9a-f]{{32}}")
    for name in filter(shape.fullmatch, os.listdir(target.parent)):
        # Whoever writes it has it locked; it may also be done meanwhile.
        with suppress(OSError), open(target.with_name(name), "rb") as file:
            if _lock(file.fileno()):
                os.unlink(file.name)


def _lock(file: int, *, wait: bool = False) -> bool:
    """Lock a file as long as it is open, which ends when the program does.

    wait (bool): Wait for others who have it locked.
    RETURNS (bool): Whether it is locked now: not if another program has locked it, or
        if files cannot be locked there.
    """
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def check_target(
    path: str | Path, sources: Iterable[str | Path | None] = (), *, force: bool = True
) -> None:
    """Raise early for a target that cannot be meant, or not be written.

    path (Union[str, Path]): What will be written.
    sources (Iterable[Optional[Union[str, Path]]]): What is read, if given.
    force (bool): Whether a file that is there may be written over.
    """
    if Path(path).is_dir():
        raise SpanftError(Errors.TARGET_IS_FOLDER.format(path=str(path)))
    for source in (one for one in sources if one is not None):
        both_exist = os.path.exists(source) and os.path.exists(path)
        if both_exist and os.path.samefile(source, path):
            raise SpanftError(Errors.TARGET_IS_SOURCE.format(path=str(path)))
    if os.path.isfile(path) and not force:
        raise SpanftError(Errors.CONFIG_EXISTS.format(path=str(path)))
    if os.path.isfile(path) or not os.path.exists(path):  # no device such as /dev/null
        _check_above(path, Path(os.path.realpath(path)).parent)


def check_page(path: str | Path, sources: Iterable[str | Path] = ()) -> None:
    """Raise early for a page that cannot be written, or would replace another file.

    path (Union[str, Path]): The page, which may replace an earlier one.
    sources (Iterable[Union[str, Path]]): What is read before.
    """
    check_target(path, sources)
    if os.path.isfile(path) and Path(path).suffix.lower() not in (".html", ".htm"):
        raise SpanftError(Errors.NOT_A_PAGE.format(path=str(path)))


def check_folder(path: str | Path) -> None:
    """Raise early for a folder that cannot be made, or not be written to.

    path (Union[str, Path]): The folder.
    """
    if os.path.exists(path) and not os.path.isdir(path):
        raise SpanftError(Errors.OUTPUT_IS_FILE.format(path=str(path)))
    _check_above(path, Path(os.path.realpath(path)))


def _check_above(path: str | Path, folder: Path) -> None:
    """Raise if nothing can be written to a folder, which need not be there yet."""
    # Not Path.exists, which may raise for what is in a folder that nobody may enter.
    above = next(f for f in (folder, *folder.parents) if os.path.exists(f))
    text = {"path": str(path), "above": str(above)}
    if not above.is_dir():
        raise SpanftError(Errors.PARENT_IS_FILE.format(**text))
    if not os.access(above, os.W_OK | os.X_OK):
        raise SpanftError(Errors.NOT_WRITABLE.format(**text))


def check_source(path: str | Path) -> None:
    """Raise for what is not a file.

    path (Union[str, Path]): What will be read, perhaps several times.
    """
    if not Path(path).exists():
        raise SpanftError(Errors.NOT_FOUND.format(path=str(path), cwd=os.getcwd()))
    if not Path(path).is_file():
        kind = "a folder" if Path(path).is_dir() else "a pipe or a device"
        raise SpanftError(Errors.NOT_A_FILE.format(path=str(path), kind=kind))


def read_whole(path: str | Path) -> bytes:
    """Read a file.

    path (Union[str, Path]): The file.
    RETURNS (bytes): What is in it.
    """
    if Path(path).is_dir() or not Path(path).exists():
        check_source(path)
    return Path(path).read_bytes()


def is_there(path: str) -> bool:
    """Say whether a path exists, whatever it looks like.

    RETURNS (bool): Whether it exists; not if it cannot be the name of a file.
    """
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # too long, or with a zero byte
        return False
