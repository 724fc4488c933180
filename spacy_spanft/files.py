"""Writing files so that nobody ever finds half of one."""

import os
import tempfile
from pathlib import Path

from .errors import Errors, SpanftError


def write_whole(path: str | Path, data: bytes) -> None:
    """Write a file under a temporary name beside the target, then rename it.

    path (Union[str, Path]): The target. What it held stays until the very end, also
        when the disk is full or the program is interrupted.
    data (bytes): What to write.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _default_mode())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_whole(path: str | Path) -> bytes:
    """Read a file.

    path (Union[str, Path]): The file.
    RETURNS (bytes): What is in it.
    """
    if not Path(path).exists():
        raise SpanftError(Errors.NOT_FOUND.format(path=str(path), cwd=os.getcwd()))
    if Path(path).is_dir():
        raise SpanftError(Errors.IS_FOLDER.format(path=str(path)))
    return Path(path).read_bytes()


def _default_mode() -> int:
    # mkstemp makes files that only their owner can read. What the user wants can
    # only be asked for by setting it.
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
