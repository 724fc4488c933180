"""The rows of an input file, in parts that fit into memory."""

import csv
import io
import json
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

from ..errors import SpanftError, listed, shown
from ..ml.pairs import join_pair

InputFormat: TypeAlias = Literal["parquet", "jsonl", "csv", "tsv", "txt"]
# A part ends at whichever of these bounds it reaches first.
MOST_ROWS = 2_000
_MOST_CHARACTERS = 4_000_000
_MOST_BYTES = 16 * 2**20


class Source(NamedTuple):
    """The input, and how to read it.

    text_pair (Optional[str]): The column of the second texts of pairs.
    """

    path: str
    format: InputFormat
    text: str
    text_pair: str | None
    separator: str
    errors: Literal["strict", "replace"]


class Row(NamedTuple):
    """A row of the input.

    number (int): Its line, or its number in a Parquet file.
    problem (str): Why its text cannot be predicted; "" if it can.
    """

    number: int
    cells: dict[str, Any]
    text: str = ""
    problem: str = ""


class Part(NamedTuple):
    """Consecutive rows, and the table that they are from in a Parquet file."""

    rows: list[Row]
    table: Any = None


def read_parts(source: Source) -> Iterator[Part]:
    """Read the input part by part. The same file always has the same parts."""
    import pyarrow as pa

    try:
        if source.format == "parquet":
            yield from _parquet_parts(source)
        else:
            yield from _text_parts(source)
    except (pa.ArrowException, OSError, UnicodeDecodeError, csv.Error) as error:
        is_text = isinstance(error, UnicodeDecodeError)
        hint = " Pass --errors replace to replace invalid bytes." if is_text else ""
        message = f"{shown(source.path)} cannot be read as {source.format}: {error}."
        raise SpanftError(message + hint) from error


def _parquet_parts(source: Source) -> Iterator[Part]:
    import pyarrow as pa
    from pyarrow import parquet

    with parquet.ParquetFile(source.path) as file:
        groups = map(file.metadata.row_group, range(file.num_row_groups))
        n_bytes = sum(group.total_byte_size for group in groups)
        fitting = _MOST_BYTES * file.metadata.num_rows // max(1, n_bytes)
        number = 1
        for batch in file.iter_batches(max(1, min(MOST_ROWS, fitting))):
            cells = enumerate(batch.to_pylist(), number)
            table = pa.Table.from_batches([batch])
            yield Part([_row(*numbered, source) for numbered in cells], table)
            number += len(batch)


def _text_parts(source: Source) -> Iterator[Part]:
    rows: list[Row] = []
    n_characters = 0
    for number, cells in _records(source):
        rows.append(_row(number, cells, source))
        n_characters += len(rows[-1].text)
        if len(rows) == MOST_ROWS or n_characters >= _MOST_CHARACTERS:
            yield Part(rows)
            rows, n_characters = [], 0
    if rows:
        yield Part(rows)


def _records(source: Source) -> Iterator[tuple[int, Any]]:
    """Read text files, which may be compressed: the line and the cells of each row."""
    import pyarrow as pa

    newline = "" if source.format == "csv" else "\n"
    with (
        pa.input_stream(source.path, compression="detect") as stream,
        io.TextIOWrapper(stream, "utf-8-sig", source.errors, newline) as file,
    ):
        if source.format in ("csv", "tsv"):
            csv.field_size_limit(2**31 - 1)
            # In TSV a quotation mark is only a character, as in GLUE's files.
            style: Any = {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
            if source.format == "csv":
                style = {"strict": True}
            table = csv.DictReader(file, **style)
            for cells in table:
                yield table.line_num, cells
            return
        for number, line in enumerate(file, 1):
            content = line.rstrip("\r\n")
            if source.format == "txt":
                yield number, {source.text: content}
            elif content.strip():
                try:
                    yield number, json.loads(content)
                except (ValueError, RecursionError) as error:
                    yield number, error


def _row(number: int, cells: Any, source: Source) -> Row:
    if not isinstance(cells, dict):
        return Row(number, {}, problem=f"It is not a JSON object: {shown(cells)}.")
    try:
        return Row(number, cells, _text_of(cells, source))
    except SpanftError as error:
        return Row(number, cells, problem=str(error))


def _text_of(cells: dict[Any, Any], source: Source) -> str:
    """Return the text of a row, or the two texts of a pair joined."""
    if source.format in ("csv", "tsv") and (None in cells or None in cells.values()):
        raise SpanftError("It has more cells than the header has columns, or fewer.")
    names = [name for name in (source.text, source.text_pair) if name is not None]
    texts: list[str] = []
    for name in names:
        if not isinstance(cells.get(name), str):
            value = shown(cells[name]) if name in cells else "nothing"
            columns = listed(cells)
            raise SpanftError(
                f"It has {value} in column {name!r}, but needs a text there. Its "
                f"columns are: {columns}."
            )
        texts.append(cells[name])
    if not any(text.strip() for text in texts):
        raise SpanftError("It has no text.")
    is_pair = source.text_pair is not None
    return join_pair(texts[0], texts[1], source.separator) if is_pair else texts[0]
