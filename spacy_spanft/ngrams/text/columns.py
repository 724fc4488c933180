"""Text of files: lines of text, or a column of JSONL and Parquet, as blocks."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...errors import CorpusError, listed, shown
from .blocks import (
    ErrorHandling,
    blocks_from_files,
    blocks_from_texts,
    check_path,
    is_packed,
    lines_of_file,
)

_ROWS_AT_ONCE = 1 << 13


def blocks_of(
    paths: Iterable[str | Path],
    *,
    column: str = "text",
    errors: ErrorHandling = "strict",
) -> Iterator[bytes]:
    """Read files one after the other: text, JSONL and Parquet, by their endings.

    paths (Iterable[Union[str, Path]]): The files; "-" is the standard input. Text and
        JSONL may be compressed.
    column (str): The column or key that holds the text.
    errors (str): "strict" raises for invalid UTF-8 and null, "replace" continues.
    YIELDS (bytes): Whole lines.
    """
    files = [str(path) for path in paths]
    for path in files:  # before the first byte is read, not after an hour
        check_path(path)
    for path in files:
        rows: Iterator[tuple[str, Any]]
        suffix = Path(Path(path).stem if is_packed(path) else path).suffix
        if suffix in (".jsonl", ".ndjson"):
            rows = _jsonl_rows(path, column, errors)
        elif suffix == ".parquet":
            rows = _parquet_rows(path, column)
        else:
            yield from blocks_from_files([path], errors=errors)
            continue
        yield from blocks_from_texts(_texts(rows, path, column, errors))


def _texts(
    rows: Iterable[tuple[str, Any]], path: str, column: str, errors: ErrorHandling
) -> Iterator[str]:
    for where, value in rows:
        if isinstance(value, str):
            yield value
        elif value is not None or errors == "strict":
            raise CorpusError(
                f"{where} of {path!r} has {shown(value)} in column {column!r}, which "
                "is not a text. Name another column with column=... (--column); "
                "errors='replace' (--errors replace) skips null."
            )


def _jsonl_rows(
    path: str, column: str, errors: ErrorHandling
) -> Iterator[tuple[str, Any]]:
    number = 0
    for block in lines_of_file(path, block_size=1 << 20):
        for line in block.split(b"\n")[:-1]:
            number += 1
            where = f"Line {number:,}"
            if not line.strip():
                continue
            try:
                row = json.loads(line.decode("utf-8-sig", errors))
            except (ValueError, RecursionError) as error:
                raise CorpusError(
                    f"{where} of {path!r} is not a JSON object: {error}."
                ) from error
            if not isinstance(row, dict) or column not in row:
                raise _no_column(where, path, column, row)
            yield where, row[column]


def _parquet_rows(path: str, column: str) -> Iterator[tuple[str, Any]]:
    with open_parquet(path) as file:
        names = file.schema_arrow.names
        if column not in names:
            raise _no_column("The schema", path, column, names)
        number = 0
        for batch in file.iter_batches(_ROWS_AT_ONCE, columns=[column]):
            for value in batch.column(0).to_pylist():
                number += 1
                yield f"Row {number:,}", value


def _no_column(where: str, path: str, column: str, row: Any) -> CorpusError:
    columns = listed(row) if isinstance(row, dict | list) else shown(row)
    return CorpusError(
        f"{where} of {path!r} has no column {column!r}, but: {columns}. Name one with "
        "column=... (--column)."
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
