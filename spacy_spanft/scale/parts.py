"""The finished parts of a run, in a folder beside its output until all are there."""

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from ..errors import SpanftError
from ..util.files import write_whole


class Parts:
    """The predictions for each part of the input, as compressed lists of JSON.

    A part gets its name when it is whole, and gzip's checksum detects later damage.
    """

    def __init__(self, target: Path) -> None:
        """Name the folder of an output, without making it."""
        self.folder = target.with_name(f"{target.name}.parts")
        self._facts, self._lock = self.folder / "begun.json", self.folder / ".lock"

    @property
    def is_begun(self) -> bool:
        """Whether there is a run to resume."""
        return any(self.folder.glob("*.json.gz"))

    @contextmanager
    def opened(self, facts: Mapping[str, Any], force: bool) -> Iterator[None]:
        """Lock the folder, and in the end remove it unless there is a run to resume.

        facts (Mapping[str, Any]): What the predictions depend on.
        force (bool): Whether to start over if a run with other facts was begun.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self._lock)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            message = f"{self.folder} is in use by another process. Wait for its end."
            raise SpanftError(message) from None
        try:
            self._begin(dict(facts), force)
            yield
        finally:
            if not self.is_begun:
                self._facts.unlink(missing_ok=True)
                self._lock.unlink(missing_ok=True)
                with suppress(OSError):  # it holds files of somebody else
                    self.folder.rmdir()
            lock.release()

    def _begin(self, facts: dict[str, Any], force: bool) -> None:
        try:
            before = json.loads(self._facts.read_bytes())
        except (OSError, ValueError, RecursionError):
            before = None
        if before == facts:
            return
        if self.is_begun and not force:
            change = f"{self._facts.name} is damaged"
            if isinstance(before, dict) and before.keys() == facts.keys():
                changed = [name for name in facts if facts[name] != before[name]]
                change = f"{' and '.join(changed)} changed since it began"
            raise SpanftError(
                f"The run in {self.folder} cannot be resumed: {change}. Start over "
                f"with --force."
            )
        self.remove()
        write_whole(self._facts, json.dumps(facts, indent=1).encode())

    def read(self, number: int, n_rows: int) -> list[Any] | None:
        """Return a part, or None if it is missing or damaged."""
        try:
            data = gzip.decompress(self._path(number).read_bytes())
            saved_number, part = json.loads(data)
        except (OSError, EOFError, zlib.error, ValueError, TypeError, RecursionError):
            return None
        is_whole = (
            saved_number == number
            and isinstance(part, list)
            and len(part) == n_rows
            and all(isinstance(result, dict | str) for result in part)
        )
        return part if is_whole else None

    def write(self, number: int, part: list[Any]) -> None:
        """Write a part, all of it or nothing."""
        data = json.dumps([number, part]).encode()
        write_whole(self._path(number), gzip.compress(data, 1))

    def remove(self) -> None:
        """Remove all parts."""
        for path in self.folder.glob("*.json.gz"):
            path.unlink()

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:08d}.json.gz"


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, or of all files in a folder.

    It reads them whole: sizes and time stamps can be the same after a change.
    """
    digest = hashlib.sha256()
    files = [path]
    if path.is_dir():
        walked = os.walk(path, followlinks=True)
        files = [Path(folder, name) for folder, _, names in walked for name in names]
    for file in sorted(files):
        if file.is_file():
            name = file.relative_to(path).as_posix()
            digest.update(f"{name} {file.stat().st_size}\n".encode())
            with open(file, "rb") as stream:
                while block := stream.read(1 << 20):
                    digest.update(block)
    return digest.hexdigest()
