"""The finished parts of a run, in a folder beside its output until all are there."""

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..util.files import locked, write_whole


class Parts:
    """The predictions for each part of the input, as compressed lists of JSON.

    A part gets its name when it is whole. The name has the key of the run, so that one
    with another input begins anew.
    """

    def __init__(self, target: Path, key: str = "") -> None:
        """Name the folder of an output; key is a digest of all that it depends on."""
        self.folder = target.with_name(f"{target.name}.parts")
        self._key = key

    @property
    def is_begun(self) -> bool:
        """Whether there is a run to resume; without a key, any run."""
        return any(self.folder.glob(f"{self._key[:16]}*.json.gz"))

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Lock the folder, and in the end remove it unless there is a run to resume."""
        message = f"{self.folder} is in use by another process. Wait for its end."
        with locked(self.folder, message):
            try:
                yield
            finally:
                if not self.is_begun:
                    # Windows removes the lock when it is released; and the folder may
                    # hold files of somebody else.
                    with suppress(OSError):
                        (self.folder / ".lock").unlink()
                        self.folder.rmdir()

    def read(self, number: int) -> list[Any] | None:
        """Return a part, or None if it is missing."""
        path = self._path(number)
        part: list[Any] | None = None
        if path.exists():
            part = json.loads(gzip.decompress(path.read_bytes()))
        return part

    def write(self, number: int, part: list[Any]) -> None:
        """Write a part, all of it or nothing."""
        write_whole(self._path(number), gzip.compress(json.dumps(part).encode(), 1))

    def remove(self) -> None:
        """Remove all parts."""
        for path in self.folder.glob("*.json.gz"):
            path.unlink()

    def _path(self, number: int) -> Path:
        return self.folder / f"{self._key[:16]}-{number:08d}.json.gz"
