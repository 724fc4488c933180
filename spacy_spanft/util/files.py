"""Files that are written whole or not at all, and paths that cannot be meant."""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from operator import methodcaller
from pathlib import Path
from typing import IO, TypeAlias
from uuid import uuid4

from filelock import FileLock, Timeout

from ..errors import SpanftError, shown

Write: TypeAlias = Callable[[IO[bytes]], object]


def write_whole(path: str | Path, data: bytes | Write) -> None:
    """Write a file under a temporary name beside the target, then rename it.

    path (Union[str, Path]): The target; a link is followed. It keeps its content until
        the very end, and its mode. A device, such as /dev/stdout, is written directly.
    """
    target = Path(os.path.realpath(path))  # of a pipe, there is none
    write = data if callable(data) else methodcaller("write", data)
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as file:
                write(file)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".spanft-{uuid4().hex}.tmp")
        try:
            with temporary.open("xb") as file:
                if target.exists():
                    shutil.copymode(target, temporary)
                write(file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        # The user knows the target, not the temporary name.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


@contextmanager
def locked(folder: Path, message: str) -> Iterator[None]:
    """Make and lock a folder, or raise; the system unlocks it if this process dies."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / ".lock", timeout=0):
            yield
    except Timeout as error:
        raise SpanftError(message) from error


def check_target(
    path: str | Path, sources: Iterable[str | Path | None] = (), *, force: bool = True
) -> None:
    """Raise early for a target that cannot be written, or is one of the files read."""
    name, is_file = shown(str(path)), os.path.isfile(path)
    if os.path.isdir(path):
        raise SpanftError(f"The output {name} is a folder. Name a file in it.")
    read = [x for x in sources if x is not None and os.path.exists(x)]
    if is_file and any(os.path.samefile(source, path) for source in read):
        raise SpanftError(f"{name} is both read and written. Name another output.")
    if is_file and not force:
        raise SpanftError(f"{name} already exists. To overwrite it, add --force (-F).")
    if is_file or not os.path.exists(path):  # no device such as /dev/null
        _check_writable(path, Path(os.path.realpath(path)).parent)


def check_folder(path: str | Path) -> None:
    """Raise early for a folder that cannot be made, or not be written to."""
    if os.path.exists(path) and not os.path.isdir(path):
        raise SpanftError(f"The output {shown(str(path))} is a file. Name a folder.")
    _check_writable(path, Path(os.path.realpath(path)))


def _check_writable(path: str | Path, folder: Path) -> None:
    """Raise if nothing can be written to a folder, which need not exist yet."""
    # Not Path.exists, which may raise for what is in a folder that nobody may enter.
    above = next(f for f in (folder, *folder.parents) if os.path.exists(f))
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise SpanftError(
            f"{shown(str(path))} cannot be written: {shown(str(above))} is no folder "
            "that you may write to. Name another output."
        )


def check_exists(path: str | Path) -> None:
    """Raise for a path that is missing, or a folder."""
    name = shown(str(path))
    if os.path.isdir(path):
        raise SpanftError(f"{name} is a folder, not a file.")
    if not os.path.exists(path):
        raise SpanftError(f"There is no file {name}. You are in {shown(os.getcwd())}.")


def check_source(path: str | Path) -> None:
    """Raise for a path that is not a file, which can be read several times."""
    check_exists(path)
    if not os.path.isfile(path):
        raise SpanftError(f"{shown(str(path))} is a pipe or a device, not a file.")


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, or of all files in a folder.

    It reads them whole: sizes and time stamps can be the same after a change.
    """
    digest = hashlib.sha256()
    files = [path]
    if path.is_dir():  # rglob would leave out folders that are links
        walked = os.walk(path, followlinks=True)
        files = [Path(folder, name) for folder, _, names in walked for name in names]
    for file in sorted(files):
        if file.is_file():
            fact = f"{file.relative_to(path)} {file.stat().st_size}\n"
            digest.update(os.fsencode(fact))
            with open(file, "rb") as stream:
                while block := stream.read(1 << 20):
                    digest.update(block)
    return digest.hexdigest()
