"""Reading and writing files so that nobody ever finds half of one."""

import os
import uuid
from collections.abc import Iterable
from pathlib import Path

from .errors import Errors, SpanftError


def write_whole(path: str | Path, data: bytes) -> None:
    """Write a file under a temporary name beside the target, then rename it.

    path (Union[str, Path]): The target; a link is followed. What it held stays until
        the very end, also when the disk is full or the program is interrupted. What
        is no file, such as /dev/stdout, is written to as it is.
    data (bytes): What to write.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)  # a device, or a folder: then it says so
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
        try:
            with open(temporary, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        # The user knows the target, not the temporary name.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def check_target(path: str | Path, sources: Iterable[str | Path] = ()) -> None:
    """Raise early for a target that cannot be meant.

    path (Union[str, Path]): What will be written.
    sources (Iterable[Union[str, Path]]): What is read before.
    """
    if Path(path).is_dir():
        raise SpanftError(Errors.TARGET_IS_FOLDER.format(path=str(path)))
    for source in sources:
        both_exist = os.path.exists(source) and os.path.exists(path)
        if both_exist and os.path.samefile(source, path):
            raise SpanftError(Errors.TARGET_IS_SOURCE.format(path=str(path)))


def read_whole(path: str | Path) -> bytes:
    """Read a file.

    path (Union[str, Path]): The file.
    RETURNS (bytes): What is in it.
    """
    if not Path(path).exists():
        raise SpanftError(Errors.NOT_FOUND.format(path=str(path), cwd=os.getcwd()))
    if Path(path).is_dir():
        raise SpanftError(Errors.NOT_A_FILE.format(path=str(path)))
    return Path(path).read_bytes()
