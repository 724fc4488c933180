"""Which text is counted: files that are cut into units, or blocks as they come."""

import os
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from ...errors import DictionaryError, Errors
from ..text.blocks import ErrorHandling, is_packed
from ..text.units import Unit, blocks_of, kind_of, units_of

# How many times as large text is when it is decompressed, about.
_RATIO = 4
# Of a part of a text: about how many units it has, and how large these are.
_UNITS_PER_PART = 8
_SMALLEST, _LARGEST = 1 << 16, 1 << 25


class Part(NamedTuple):
    """One part of a text that is counted apart.

    number (int): Which one it is, from 1.
    n_parts (int): How many there are.
    """

    number: int
    n_parts: int


class Text(NamedTuple):
    """Text to be counted in shards.

    names (Sequence[str]): What the provenance calls it.
    paths (Sequence[str]): The files, which can be read anywhere, and in pieces.
    how (Mapping[str, Any]): How these are read.
    part (Optional[Part]): Which part of them is read; None for all.
    blocks (Optional[Iterable[bytes]]): In the place of files: text that can be read
        once, and here alone.
    identity (Any): What JSON can say about which text it is.
    n_bytes (int): About how many there are.
    """

    names: Sequence[str]
    paths: Sequence[str] = ()
    how: Mapping[str, Any] = MappingProxyType({})
    part: Part | None = None
    blocks: Iterable[bytes] | None = None
    identity: Any = None
    n_bytes: int = 0

    def units(self, size: int) -> list[Unit]:
        """Cut the files into units.

        size (int): How many bytes a unit should have; not for parts, which have to be
            the same wherever they are cut.
        RETURNS (list[Unit]): The units.
        """
        if self.part is None:
            return units_of(self.paths, size=size, **self.how)
        return _units_of_part(self.paths, self.how, self.part)


def text_of_files(
    paths: Sequence[str],
    *,
    column: str = "text",
    errors: ErrorHandling = "strict",
    part: Part | None = None,
    is_kept: bool = False,
) -> Text:
    """Describe the text of files.

    paths (Sequence[str]): The files; "-" is the standard input.
    column (str): The column or key that holds the text, where there are such.
    errors (str): What to do about what is not text: "strict" or "replace".
    part (Optional[Part]): Which part of the text is counted; None for all.
    is_kept (bool): Whether a build that is cut short is gone on with.
    RETURNS (Text): The text.
    """
    how: dict[str, Any] = {"column": column, "errors": errors}
    units_of(paths, **how)  # raises for files that cannot be read
    if not all(map(os.path.isfile, paths)):  # a pipe can be read once
        if is_kept or part is not None:
            raise DictionaryError(Errors.NO_STDIN_AGAIN)
        return Text(paths, blocks=blocks_of(paths, **how))
    files = [os.stat(path) for path in paths]
    facts = [
        [os.path.abspath(path), file.st_size, file.st_mtime_ns]
        for path, file in zip(paths, files, strict=True)
    ]
    n_bytes = sum(
        file.st_size * (_RATIO if _is_small(path) else 1)
        for path, file in zip(paths, files, strict=True)
    )
    identity = [facts, column, errors]
    n_here = n_bytes // (part.n_parts if part else 1)
    return Text(paths, paths, how, part, None, identity, n_here)


def _is_small(path: str) -> bool:
    return is_packed(path) or kind_of(path) == "parquet"


def _units_of_part(
    paths: Sequence[str], how: Mapping[str, Any], part: Part
) -> list[Unit]:
    """Give the units that begin in one of equal parts of the bytes of all files."""
    sizes = [os.path.getsize(path) for path in paths]
    total = max(1, sum(sizes))
    size = total // (part.n_parts * _UNITS_PER_PART)
    size = max(_SMALLEST, min(_LARGEST, size))
    found, before = [], 0
    for path, n_bytes in zip(paths, sizes, strict=True):
        units = units_of([path], size=size, **how)
        for i, unit in enumerate(units):
            # Units of one file are of about one size, row groups as well.
            begin = before + n_bytes * i // len(units)
            if begin * part.n_parts // total == part.number - 1:
                found.append(unit)
        before += n_bytes
    return found
