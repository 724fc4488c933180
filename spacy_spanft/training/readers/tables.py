"""Tables in files: TSV, CSV and JSONL, which may be compressed. They stream."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from ...errors import SpanftError, counted, listed, shown
from ...ngrams.text import PACKED, ErrorHandling, blocks_from_files
from .rows import Incomplete, Row

OnError: TypeAlias = Callable[[str, SpanftError], None]
Format = Literal["tsv", "csv", "jsonl"]
FORMATS: dict[str, Format] = {
    ".tsv": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
# The csv module refuses cells longer than 131,072 characters unless told otherwise.
_LONGEST_CELL = 2**31 - 1


def columns_of(path: str | Path, *, format: Format | None = None) -> list[str]:
    """Return the header of a table, or the keys of its first JSON object.

    path (Union[str, Path]): The file, which may be compressed.
    format (Optional[Literal["tsv", "csv", "jsonl"]]): None goes by the file's ending.
    RETURNS (list[str]): The names of the columns; none of an empty file.
    """
    # Invalid UTF-8 raises when the rows are read.
    lines = lines_of(path, "replace")
    if (format := _format_of(path, format)) == "jsonl":
        rows = _json_rows(lines, shown(str(path)), _raise)
        return next((list(row.cells) for row in rows), [])
    return next((cells for _, cells in _split(lines, format, shown(str(path)))), [])


def rows_from_file(
    path: str | Path,
    *,
    format: Format | None = None,
    header: Sequence[str] | None = None,
    errors: ErrorHandling = "strict",
    incomplete: Incomplete = "error",
    on_error: OnError | None = None,
) -> Iterator[Row]:
    """Read a table, which may be compressed (.gz, .bz2, .zst).

    All cells of TSV and CSV are strings. In TSV every tab separates and a quotation
    mark is an ordinary character, as in GLUE's files; CSV has quoted cells.

    path (Union[str, Path]): The file.
    format (Optional[Literal["tsv", "csv", "jsonl"]]): None goes by the file's ending.
    header (Optional[Sequence[str]]): The names of the columns, for a table without a
        header; only for TSV and CSV.
    errors (str): "strict" raises at invalid UTF-8, "replace" replaces it.
    incomplete (Literal["error", "skip"]): Whether to raise for lines with another
        number of cells than the header, or to skip them.
    on_error (Optional[Callable[[str, SpanftError], None]]): Called with the place of an
        invalid row and the error; None raises it.
    YIELDS (Row): The rows, as the file is read.
    """
    format, source = _format_of(path, format), shown(str(path))
    lines = lines_of(path, errors)
    report = on_error or _raise
    if format == "jsonl":
        return _json_rows(lines, source, report)
    cells = _split(lines, format, source)
    return _table_rows(cells, source, header, incomplete, report)


def lines_of(path: str | Path, errors: ErrorHandling) -> Iterator[str]:
    r"""Read the lines of a file with their ends: \n, \r\n or \r.

    path (Union[str, Path]): The file, which may be compressed.
    errors (str): "strict" raises at invalid UTF-8, "replace" replaces it.
    YIELDS (str): The lines.
    """
    for block in blocks_from_files([path], errors=errors):
        yield from io.StringIO(block.decode("utf8"), newline="")


def _raise(where: str, error: SpanftError) -> None:
    raise error


def _format_of(path: str | Path, format: Format | None) -> Format:
    if format is not None:
        return format
    file = Path(path)
    ending = file.with_suffix("").suffix if file.suffix in PACKED else file.suffix
    if ending.lower() not in FORMATS:
        raise SpanftError(
            f"{str(path)!r} does not end in .tsv, .csv or .jsonl. Rename it, or set "
            'format = "tsv" (--format tsv, where a command has it).'
        )
    return FORMATS[ending.lower()]


def _split(
    lines: Iterator[str], format: Format, source: str
) -> Iterator[tuple[str, list[str]]]:
    """Split the lines of TSV or CSV into rows of cells, each with its place."""
    csv.field_size_limit(_LONGEST_CELL)
    is_tsv = format == "tsv"
    reader = csv.reader(
        lines,
        delimiter="\t" if is_tsv else ",",
        quoting=csv.QUOTE_NONE if is_tsv else csv.QUOTE_MINIMAL,
        strict=True,
    )
    while True:
        where = f"Line {reader.line_num + 1}"
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise SpanftError(
                f"{where} of {source} is not valid CSV: {error}. Is a quotation mark "
                "in it never closed?"
            ) from error
        if cells:
            yield where, cells


def _table_rows(
    lines: Iterator[tuple[str, list[str]]],
    source: str,
    header: Sequence[str] | None,
    incomplete: Incomplete,
    report: OnError,
) -> Iterator[Row]:
    columns = list(header) if header else next(lines, ("", []))[1]
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise SpanftError(f"The header of {source} has {shown(twice)} twice.")
    for where, cells in lines:
        if len(cells) == len(columns):
            yield Row(where, dict(zip(columns, cells, strict=True)))
        elif incomplete == "error":
            message = (
                f"{where} of {source} has {counted(len(cells), 'cell')}, but the table "
                f"has {counted(len(columns), 'column')}: {listed(columns)}. In CSV, a "
                'cell with commas in it must be quoted: "one, two".'
            )
            report(where, SpanftError(message))


def _json_rows(lines: Iterator[str], source: str, report: OnError) -> Iterator[Row]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"Line {number}"
        try:
            cells = json.loads(line)
            reason = f"it is {shown(cells)}"
        except (ValueError, RecursionError) as error:
            cells, reason = None, str(error)
        if isinstance(cells, dict):
            yield Row(where, cells)
        else:
            message = f"{where} of {source} is not a JSON object: {reason}."
            report(where, SpanftError(message))
