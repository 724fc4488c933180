"""Files in pieces that can be read anywhere, each by itself: units.

A text or JSONL file is cut at line bounds, a Parquet file between row groups. What is
compressed is one unit, as it can be read from its beginning alone.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ...errors import CorpusError, Errors, shown
from .blocks import (
    PACKED,
    STDIN,
    ErrorHandling,
    blocks_from_files,
    blocks_from_range,
    check_errors,
    check_path,
)

Kind: TypeAlias = Literal["text", "jsonl", "parquet"]

_KINDS: dict[str, Kind] = {
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_WINDOW = 1 << 16


@dataclass(frozen=True)
class Unit:
    """A piece of a file.

    path (str): The file; "-" is the standard input.
    kind (str): "text", "jsonl" or "parquet".
    start (int): The byte at which it begins; for Parquet, the row group.
    end (Optional[int]): Where it ends, exclusive; None for the end of the file.
    column (str): The column or key that holds the text.
    errors (str): What to do about what is not text: "strict" or "replace".
    """

    path: str
    kind: Kind
    start: int = 0
    end: int | None = None
    column: str = "text"
    errors: ErrorHandling = "strict"

    def to_dict(self) -> dict[str, Any]:
        """Turn it into what JSON can say.

        RETURNS (dict[str, Any]): The fields.
        """
        return asdict(self)


def kind_of(path: str) -> Kind:
    """Say how a file is read, by its name.

    path (str): The file.
    RETURNS (str): "parquet", "jsonl", also if compressed, or "text".
    """
    name = Path(path)
    suffix = Path(name.stem).suffix if name.suffix in PACKED else name.suffix
    return _KINDS.get(suffix, "text")


def units_of(
    paths: Iterable[str | Path],
    *,
    size: int | None = None,
    column: str = "text",
    errors: ErrorHandling = "strict",
) -> list[Unit]:
    """Cut files into units.

    paths (Iterable[Union[str, Path]]): The files; "-" is the standard input.
    size (Optional[int]): How many bytes a unit should have; None for whole files.
    column (str): The column of Parquet files, and the key in JSONL files, that holds
        the text.
    errors (str): What to do about bytes that are not text, and cells without any:
        "strict" or "replace".
    RETURNS (list[Unit]): The units, in the order of the text.
    """
    check_errors(errors)
    names = [str(path) for path in paths]
    for name in names:  # before the first byte is read, not after an hour
        check_path(name)
    return [
        Unit(name, kind_of(name), start, end, column, errors)
        for name in names
        for start, end in _bounds(name, size)
    ]


def _bounds(path: str, size: int | None) -> Iterator[tuple[int, int | None]]:
    if size is None or path == STDIN or Path(path).suffix in PACKED:
        yield 0, None
    elif kind_of(path) == "parquet":
        from .tables import row_groups

        yield from row_groups(path, size)
    elif not os.path.isfile(path):  # a pipe has no size
        yield 0, None
    else:
        yield from _line_bounds(path, size)


def _line_bounds(path: str, size: int) -> Iterator[tuple[int, int]]:
    start, end = 0, os.path.getsize(path)
    with open(path, "rb") as file:
        while start < end:
            after = min(end, start + size)
            if after < end:
                after = min(end, _next_line(file, after))
            yield start, after
            start = after


def _next_line(file: Any, offset: int) -> int:
    """Find where the first line begins at an offset or after it."""
    file.seek(offset - 1)
    while window := file.read(_WINDOW):
        found = window.find(b"\n")
        if found >= 0:
            return int(file.tell() - len(window) + found + 1)
    return int(file.tell())


def read_unit(unit: Unit) -> Iterator[bytes]:
    """Read a unit.

    unit (Unit): The unit.
    YIELDS (bytes): Whole lines.
    """
    if unit.kind == "text":
        if unit.start == 0 and unit.end is None:
            return blocks_from_files([unit.path], errors=unit.errors)
        end = os.path.getsize(unit.path) if unit.end is None else unit.end
        return blocks_from_range(unit.path, unit.start, end, errors=unit.errors)
    from .tables import blocks_from_jsonl, blocks_from_parquet

    reader = blocks_from_jsonl if unit.kind == "jsonl" else blocks_from_parquet
    return reader(
        unit.path, unit.start, unit.end, column=unit.column, errors=unit.errors
    )


def blocks_of(
    paths: Iterable[str | Path],
    *,
    column: str = "text",
    errors: ErrorHandling = "strict",
) -> Iterator[bytes]:
    """Read files one after the other: text, JSONL and Parquet, compressed or not.

    paths (Iterable[Union[str, Path]]): The files; "-" is the standard input.
    column (str): The column or key that holds the text.
    errors (str): "strict" or "replace".
    YIELDS (bytes): Whole lines.
    """
    for unit in units_of(paths, column=column, errors=errors):
        yield from read_unit(unit)


def check_paths(paths: object) -> list[str]:
    """Make a list of what names one file or several.

    paths (object): A path, or several.
    RETURNS (list[str]): The paths; raises if there are none.
    """
    if not isinstance(paths, Iterable | Path):
        raise CorpusError(Errors.NOT_PATHS.format(value=shown(paths)))
    names = [paths] if isinstance(paths, str | Path) else list(paths)
    if not names:
        raise CorpusError(Errors.NO_PATHS)
    return [str(name) for name in names]
