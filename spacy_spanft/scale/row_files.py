"""Rows of files: read in parts that fit into memory, and written with predictions."""

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple, TypeAlias

from ..errors import SpanftError, listed, shown
from ..ml.pairs import join_pair

if TYPE_CHECKING:
    import pyarrow as pa

InputFormat: TypeAlias = Literal["parquet", "jsonl", "csv", "tsv", "txt"]
MOST_ROWS = 2_000  # of a part
_ROWS_AT_ONCE = 256  # of a Parquet file, whose texts may be long


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


def read_parts(source: Source) -> Iterator[list[Row]]:
    """Read the input part by part. The same file always has the same parts."""
    import pyarrow as pa

    records = _parquet_records if source.format == "parquet" else _text_records
    rows = (_row(number, cells, source) for number, cells in records(source))
    try:
        while part := list(islice(rows, MOST_ROWS)):
            yield part
    except (pa.ArrowException, OSError, UnicodeDecodeError, csv.Error) as error:
        is_text = isinstance(error, UnicodeDecodeError)
        hint = " Pass --errors replace to replace invalid bytes." if is_text else ""
        message = f"{shown(source.path)} cannot be read as {source.format}: {error}."
        raise SpanftError(message + hint) from error


def _parquet_records(source: Source) -> Iterator[tuple[int, Any]]:
    from pyarrow import parquet

    with parquet.ParquetFile(source.path) as file:
        batches = file.iter_batches(_ROWS_AT_ONCE)
        yield from enumerate((row for b in batches for row in b.to_pylist()), 1)


def _text_records(source: Source) -> Iterator[tuple[int, Any]]:
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
            yield from ((table.line_num, cells) for cells in table)
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
    for name in names:
        if not isinstance(cells.get(name), str):
            value = shown(cells[name]) if name in cells else "nothing"
            raise SpanftError(
                f"It has {value} in column {name!r}, but needs a text there. Its "
                f"columns are: {listed(cells)}."
            )
    texts = [cells[name] for name in names]
    if not any(text.strip() for text in texts):
        raise SpanftError("It has no text.")
    is_pair = source.text_pair is not None
    return join_pair(texts[0], texts[1], source.separator) if is_pair else texts[0]


def write_jsonl(file: BinaryIO, parts: Iterable[list[dict[str, Any]]]) -> None:
    """Write rows as JSON lines."""
    for rows in parts:
        file.writelines(map(json_line, rows))


def json_line(row: Mapping[str, Any]) -> bytes:
    """Return a line of JSON, with null for numbers that JSON does not have."""
    try:
        line = json.dumps(row, ensure_ascii=False, allow_nan=False, default=str)
    except ValueError:
        line = json.dumps(_without_nan(row), ensure_ascii=False, default=str)
    return f"{line}\n".encode("utf8", errors="backslashreplace")


def _without_nan(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_parquet(
    file: BinaryIO, parts: Iterable[list[dict[str, Any]]], schema: "pa.Schema"
) -> None:
    """Write rows as Parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    with parquet.ParquetWriter(file, schema) as writer:
        for rows in parts:
            writer.write_table(pa.Table.from_pylist(rows, schema))


def extended(schema: "pa.Schema", examples: Mapping[str, Any]) -> "pa.Schema":
    """Return the types of the input's columns, and after them those of new ones.

    examples (Mapping[str, Any]): A value of each new column.
    """
    import pyarrow as pa

    # Rows with columns that have these names are among the failures.
    before = [field for field in schema if field.name not in examples]
    added = [(name, pa.array([value]).type) for name, value in examples.items()]
    return pa.schema([*before, *pa.schema(added)], schema.metadata)


def schema_of(source: Source) -> "pa.Schema":
    """Return the types of the input's columns, wide enough for all of its rows.

    Raises for an input that no Parquet file can hold, before hours of predicting.
    """
    import pyarrow as pa
    from pyarrow import parquet

    if source.format == "parquet":
        return parquet.read_schema(source.path)
    schema = pa.schema([])
    # In other formats than JSON, all cells are texts.
    for part in islice(read_parts(source), None if source.format == "jsonl" else 1):
        cells = [row.cells for row in part if not row.problem]
        try:
            array = pa.array(cells, None if cells else pa.struct([]))
            types = pa.schema(list(array.type))
            schema = pa.unify_schemas([schema, types], promote_options="permissive")
            parquet.ParquetWriter(io.BytesIO(), schema).close()
        except (pa.ArrowException, OverflowError, UnicodeEncodeError) as error:
            raise SpanftError(
                f"The input cannot be written as Parquet, where each column has one "
                f"type: {error}. Use a .jsonl output."
            ) from error
    return schema
