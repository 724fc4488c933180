"""Keeps a folder to one process."""

import json
import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

from ..errors import Errors, SpanftError
from .files import write_whole

# No arm of a matrix has such a name.
LOCK, OWNER = ".lock", ".owner.json"


@contextmanager
def own_folders(folders: Iterable[Path]) -> Iterator[None]:
    """Keep folders to this process, until it is done or dies.

    folders (Iterable[Path]): The folders. Raises if another process has one of them.
    """
    now = datetime.now().astimezone().isoformat(" ", "seconds")
    facts = {"pid": os.getpid(), "host": socket.gethostname(), "since": now}
    with ExitStack() as stack:
        for folder in sorted(set(folders)):
            folder.mkdir(parents=True, exist_ok=True)
            try:
                # The system gives it free when the process ends, however it ends.
                stack.enter_context(FileLock(folder / LOCK, timeout=0))
            except Timeout as error:
                raise SpanftError(_taken(folder)) from error
            # Not in the file of the lock, which nobody else can read on Windows.
            write_whole(folder / OWNER, json.dumps(facts).encode())
            stack.callback((folder / OWNER).unlink, missing_ok=True)
        yield


def _taken(folder: Path) -> str:
    try:
        found = json.loads((folder / OWNER).read_text("utf8"))
        who = "process {pid} on {host}, since {since}".format(**found)
    except (OSError, ValueError, TypeError, KeyError):
        who = "its process did not say which one it is"
    return Errors.TAKEN.format(folder=folder, who=who)
