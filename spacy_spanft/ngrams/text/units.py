"""Files in pieces that can be read anywhere, each by itself: units.

A text or JSONL file is cut between lines, a Parquet file between row groups. A
compressed file is one unit, as it can be read from its beginning alone.
"""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ...errors import CorpusError, listed, shown
from .blocks import (
    PACKED,
    STDIN,
    ErrorHandling,
    blocks_from_range,
    blocks_from_texts,
    check_path,
    is_packed,
    lines_of_file,
)

Kind: TypeAlias = Literal["text", "jsonl", "parquet"]

_KINDS: dict[str, Kind] = {
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_ROWS_AT_ONCE = 1 << 13


@dataclass(frozen=True)
class Unit:
    """A piece of a file.

    path (str): The file; "-" is the standard input.
    kind (str): "text", "jsonl" or "parquet".
    start (int): The byte at which it begins; for Parquet, the row group.
    end (Optional[int]): Where it ends, exclusive; None for the end of the file.
    column (str): The column or key that holds the text.
    errors (str): What to do about invalid text: "strict" or "replace".
    """

    path: str
    kind: Kind
    start: int = 0
    end: int | None = None
    column: str = "text"
    errors: ErrorHandling = "strict"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, as JSON can hold them."""
        return asdict(self)


def kind_of(path: str) -> Kind:
    """Return how a file is read, by its name: as "text", "jsonl" or "parquet"."""
    name = Path(path)
    suffix = Path(name.stem).suffix if name.suffix in PACKED else name.suffix
    return _KINDS.get(suffix, "text")


def blocks_of(
    paths: Iterable[str | Path],
    *,
    column: str = "text",
    errors: ErrorHandling = "strict",
) -> Iterator[bytes]:
    """Read files one after the other: text, JSONL and Parquet, compressed or not.

    paths (Iterable[Union[str, Path]]): The files; "-" is the standard input.
    column (str): The column or key that holds the text.
    errors (str): "strict" raises for invalid UTF-8 and null, "replace" continues.
    YIELDS (bytes): Whole lines.
    """
    for unit in units_of(paths, column=column, errors=errors):
        yield from read_unit(unit)


def units_of(
    paths: Iterable[str | Path],
    *,
    size: int | None = None,
    column: str = "text",
    errors: ErrorHandling = "strict",
) -> list[Unit]:
    """Cut files into units, in the order of the text; see `blocks_of`.

    size (Optional[int]): How many bytes a unit should have; None for whole files.
    RETURNS (list[Unit]): The units.
    """
    names = [str(path) for path in paths]
    for name in names:  # before the first byte is read, not after an hour
        check_path(name)
    return [
        Unit(name, kind_of(name), start, end, column, errors)
        for name in names
        for start, end in _bounds(name, size)
    ]


def _bounds(path: str, size: int | None) -> Iterator[tuple[int, int | None]]:
    is_pipe = path == STDIN or not os.path.isfile(path)
    if size is None or is_pipe or is_packed(path):
        yield 0, None
    elif kind_of(path) == "parquet":
        with open_parquet(path) as file:
            first, n_bytes = 0, 0
            for index in range(file.num_row_groups):
                n_bytes += file.metadata.row_group(index).total_byte_size
                if n_bytes >= size or index + 1 == file.num_row_groups:
                    yield first, index + 1
                    first, n_bytes = index + 1, 0
    else:
        start, end = 0, os.path.getsize(path)
        with open(path, "rb") as lines:
            while start < end:
                lines.seek(min(end, start + size) - 1)
                lines.readline()
                yield start, lines.tell()
                start = lines.tell()


def read_unit(unit: Unit) -> Iterator[bytes]:
    """Read the lines of a unit, in blocks."""
    if unit.kind == "text":
        return blocks_from_range(unit.path, unit.start, unit.end, errors=unit.errors)
    rows = _jsonl_rows(unit) if unit.kind == "jsonl" else _parquet_rows(unit)
    return blocks_from_texts(_texts(rows, unit))


def _texts(rows: Iterable[tuple[str, Any]], unit: Unit) -> Iterator[str]:
    """Check the cells of a column; null is skipped if errors are to be replaced."""
    for where, value in rows:
        if isinstance(value, str):
            yield value
        elif value is not None or unit.errors == "strict":
            raise CorpusError(
                f"{where} of {unit.path!r} has {shown(value)} in column "
                f"{unit.column!r}, which is not a text. Name another column with "
                "column=... (--column); errors='replace' (--errors replace) skips null."
            )


def _jsonl_rows(unit: Unit) -> Iterator[tuple[str, Any]]:
    number = 0
    base = f" after byte {unit.start}" if unit.start else ""
    for block in lines_of_file(unit.path, unit.start, unit.end, block_size=1 << 20):
        for line in block.split(b"\n")[:-1]:
            number += 1
            where = f"Line {number:,}{base}"
            if not line.strip():
                continue
            try:
                row = json.loads(line.decode("utf-8-sig", unit.errors))
            except (ValueError, RecursionError) as error:
                raise CorpusError(
                    f"{where} of {unit.path!r} is not a JSON object: {error}."
                ) from error
            if not isinstance(row, dict) or unit.column not in row:
                raise _no_column(where, unit, row)
            yield where, row[unit.column]


def _parquet_rows(unit: Unit) -> Iterator[tuple[str, Any]]:
    with open_parquet(unit.path) as file:
        if unit.column not in file.schema_arrow.names:
            raise _no_column("The schema", unit, file.schema_arrow.names)
        groups = range(file.num_row_groups)
        number = sum(file.metadata.row_group(i).num_rows for i in groups[: unit.start])
        batches = file.iter_batches(
            _ROWS_AT_ONCE, list(groups[unit.start : unit.end]), columns=[unit.column]
        )
        for batch in batches:
            for value in batch.column(0).to_pylist():
                number += 1
                yield f"Row {number:,}", value


def _no_column(where: str, unit: Unit, row: Any) -> CorpusError:
    columns = listed(row) if isinstance(row, dict | list) else shown(row)
    return CorpusError(
        f"{where} of {unit.path!r} has no column {unit.column!r}, but: {columns}. Name "
        "one with column=... (--column)."
    )


@contextmanager
def open_parquet(path: str) -> Iterator[Any]:
    """Open a Parquet file as a `pyarrow.parquet.ParquetFile`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        raise CorpusError(
            f"{path!r} cannot be read as a Parquet file ({error}). Is it damaged, or "
            "another kind of file?"
        ) from error
