"""Arrays in the files of a folder, each of them written whole or not at all."""

import errno
import json
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile, is_zipfile

import numpy as np
from numpy.lib.format import write_array
from numpy.typing import NDArray
from typing_extensions import Self

from ...errors import DictionaryError, Errors

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SUFFIX = ".npz"
_UNFINISHED = ".part"


class Arrays:
    """The arrays of a file, each read when it is asked for. Nothing is executed."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        path (Path): The file, as numpy.savez writes it.
        """
        self._path = path
        try:
            self._file = open(path, "rb")  # noqa: SIM115
        except OSError as error:
            raise self.error(error.strerror or str(error)) from error
        try:
            if not is_zipfile(self._file):  # NumPy would talk of pickles
                raise BadZipFile("it is no .npz archive")
            self._file.seek(0)
            self._arrays: Any = np.load(self._file, allow_pickle=False)
        except Exception as error:  # zipfile and numpy say many things of damage
            self._file.close()
            raise self.error(str(error)) from error

    def __contains__(self, name: str) -> bool:
        """Say whether there is an array of a name."""
        return name in self.names()

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Read an array, which has its checksum beside it."""
        try:
            return self._arrays[name]
        except KeyError as error:
            raise self.error(f"it has no {name!r}") from error
        except Exception as error:
            raise self.error(str(error)) from error

    def names(self) -> list[str]:
        """Give the names of the arrays.

        RETURNS (list[str]): Their names.
        """
        return list(self._arrays.files)

    def text(self, name: str) -> bytes:
        """Read an array of bytes."""
        return self[name].astype(np.uint8, copy=False).tobytes()

    def error(self, reason: str) -> DictionaryError:
        """Make an error that names the file.

        reason (str): What is wrong with it.
        RETURNS (DictionaryError): The error.
        """
        text = {"path": str(self._path), "reason": reason.rstrip(".")}
        return DictionaryError(Errors.NOT_A_SHARD.format(**text))

    def __enter__(self) -> Self:
        """Begin to read."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self._arrays.close()
        self._file.close()


class Store:
    """A folder of such files."""

    def __init__(self, folder: Path) -> None:
        """Take a folder.

        folder (Path): The folder, which must be there.
        """
        self.folder = folder

    def has(self, name: str) -> bool:
        """Say whether a file was written.

        name (str): What it is called.
        RETURNS (bool): Whether it is there, and whole.
        """
        return self._path(name).exists()

    def names(self) -> Iterator[str]:
        """Give the names of all files.

        YIELDS (str): A name.
        """
        for path in sorted(self.folder.glob(f"*{_SUFFIX}")):
            yield path.name.removesuffix(_SUFFIX)

    def write(self, name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write a file.

        name (str): What it is called.
        arrays (Mapping[str, NDArray]): What is in it.
        """
        path = self._path(name)
        # A task that is done twice at a time must not write to the same file.
        part = path.with_name(f"{path.name}.{uuid.uuid4().hex}{_UNFINISHED}")
        try:
            with open(part, "xb") as file:
                save_arrays(file, arrays.items())
            os.replace(part, path)
        except BaseException as error:
            part.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise self._explained(error) from error
            raise

    def read(self, name: str) -> Arrays:
        """Open a file, to be used in a `with` block.

        name (str): What it is called.
        RETURNS (Arrays): What is in it.
        """
        if not self.folder.is_dir():
            raise DictionaryError(Errors.WORK_NOT_SEEN.format(path=str(self.folder)))
        return Arrays(self._path(name))

    def write_facts(self, name: str, facts: Any, **arrays: NDArray[Any]) -> None:
        """Write a file that says something.

        name (str): What it is called.
        facts (Any): What JSON can say.
        **arrays (NDArray): What else is in it.
        """
        self.write(name, {"facts": array_of(facts), **arrays})

    def read_facts(self, name: str) -> Any:
        """Read what `write_facts` wrote.

        name (str): What it is called.
        RETURNS (Any): What was written.
        """
        with self.read(name) as arrays:
            return facts_in(arrays, "facts")

    def remove(self, start: str = "") -> None:
        """Remove files.

        start (str): What their names begin with.
        """
        for path in self.folder.glob(f"{start}*"):
            if path.name.endswith((_SUFFIX, _UNFINISHED)):
                path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{_SUFFIX}"

    def _explained(self, error: OSError) -> Exception:
        """Say what a user can do about a file that could not be written."""
        text = {"path": str(self.folder), "reason": error.strerror or str(error)}
        if error.errno in _FULL:
            return DictionaryError(Errors.DISK_FULL.format(**text))
        if not self.folder.is_dir():
            return DictionaryError(Errors.WORK_NOT_SEEN.format(**text))
        return OSError(error.errno, text["reason"], text["path"])


def array_of(facts: Any) -> NDArray[np.uint8]:
    """Write what JSON can say as an array.

    facts (Any): What to write.
    RETURNS (NDArray[np.uint8]): The bytes.
    """
    return np.frombuffer(json.dumps(facts).encode(), np.uint8)


def facts_in(arrays: Arrays, name: str) -> Any:
    """Read JSON that stands in an array.

    arrays (Arrays): Where it is.
    name (str): What it is called.
    RETURNS (Any): What it says.
    """
    try:
        return json.loads(arrays.text(name))
    except (ValueError, RecursionError) as error:
        raise arrays.error(f"its {name!r} is not JSON") from error


def save_arrays(file: IO[bytes], arrays: Iterable[tuple[str, NDArray[Any]]]) -> None:
    """Write arrays to a file one after the other, as numpy.savez does.

    file (IO[bytes]): The file.
    arrays (Iterable[tuple[str, NDArray]]): Their names, and what to write.
    """
    with ZipFile(file, "w", ZIP_STORED) as archive:
        for name, array in arrays:
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                write_array(member, np.ascontiguousarray(array), allow_pickle=False)
