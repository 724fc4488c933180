"""Rows of files: read in parts that fit into memory, and written with predictions."""

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    BinaryIO,
    Literal,
    NamedTuple,
    TypeAlias,
    get_args,
)

from ..errors import SpanftError, listed, shown
from ..ml.pairs import join_pair
from ..training.readers.rows import lines_of

if TYPE_CHECKING:
    import pyarrow as pa

InputFormat: TypeAlias = Literal["parquet", "jsonl", "csv", "tsv", "txt"]
# The columns of predictions, and the keys of those that are objects.
Shape: TypeAlias = dict[str, set[str]]
COLUMNS = ("label", "cats", "ents", "spans", "error")
MOST_ROWS = 2_000  # of a part
_ROWS_AT_ONCE = 256  # of a Parquet file, whose texts may be long


class Source(NamedTuple):
    """The input, and how to read it.

    text_pair (Optional[str]): The column of the second texts of pairs.
    prefix (str): What the names of predicted columns begin with.
    """

    path: str
    format: InputFormat
    text: str
    text_pair: str | None
    separator: str
    errors: Literal["strict", "replace"]
    prefix: str


class Row(NamedTuple):
    """A row of the input.

    problem (str): Why it cannot get a prediction; "" if it can.
    """

    cells: dict[str, Any]
    text: str = ""
    problem: str = ""


def format_of(path: str) -> InputFormat:
    """Return the format that a file's name tells."""
    for suffix in reversed(Path(path).suffixes):  # .gz may come after it
        for format in get_args(InputFormat):
            if suffix.lower() == f".{format}":
                return format  # type: ignore[no-any-return]
    raise SpanftError(
        f"The name of {path!r} does not tell its format. Set it with --format: "
        f"{listed(get_args(InputFormat))}."
    )


def read_parts(source: Source) -> Iterator[list[Row]]:
    """Read the input part by part. The same file always has the same parts."""
    import pyarrow as pa

    records = _parquet_records if source.format == "parquet" else _text_records
    rows = (_row(cells, source) for cells in records(source))
    try:
        while part := list(islice(rows, MOST_ROWS)):
            yield part
    except (pa.ArrowException, OSError, csv.Error) as error:
        raise SpanftError(
            f"{shown(source.path)} cannot be read as {source.format}: {error}."
        ) from error


def _parquet_records(source: Source) -> Iterator[Any]:
    from pyarrow import parquet

    with parquet.ParquetFile(source.path) as file:
        for batch in file.iter_batches(_ROWS_AT_ONCE):
            yield from batch.to_pylist()


def _text_records(source: Source) -> Iterator[Any]:
    """Yield the cells of each row of a text file, which may be compressed."""
    lines = lines_of(source.path, source.errors)
    csv.field_size_limit(2**31 - 1)
    if source.format == "csv":
        yield from csv.DictReader(lines, strict=True)
    elif source.format == "tsv":
        # A quotation mark is only a character, as in GLUE's files.
        yield from csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    elif source.format == "txt":
        yield from ({source.text: line.rstrip("\r\n")} for line in lines)
    else:
        yield from (_from_json(line) for line in lines if line.strip())


def _from_json(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        return error


def _row(cells: Any, source: Source) -> Row:
    if not isinstance(cells, dict):
        return Row({}, problem=f"It is not a JSON object: {shown(cells)}.")
    try:
        return Row(cells, _text_of(cells, source))
    except SpanftError as error:
        # A row of CSV with too many cells has those under None.
        return Row(
            {k: v for k, v in cells.items() if k is not None}, problem=str(error)
        )


def _text_of(cells: dict[Any, Any], source: Source) -> str:
    """Return the text of a row, or the two texts of a pair joined."""
    if source.format in ("csv", "tsv") and (None in cells or None in cells.values()):
        raise SpanftError("It has more cells than the header has columns, or fewer.")
    if taken := sorted(cells.keys() & {f"{source.prefix}{name}" for name in COLUMNS}):
        raise SpanftError(
            f"Its columns {listed(taken)} have names of predictions. Set --prefix."
        )
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
    """Write rows as JSON lines, with null for numbers that JSON does not have."""
    for rows in parts:
        for row in rows:
            try:
                line = json.dumps(row, ensure_ascii=False, allow_nan=False, default=str)
            except ValueError:
                line = json.dumps(_without_nan(row), ensure_ascii=False, default=str)
            file.write(f"{line}\n".encode("utf8", errors="backslashreplace"))


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


def with_predictions(schema: "pa.Schema", shape: Shape, prefix: str) -> "pa.Schema":
    """Return the types of the input's columns, and after them those of predictions."""
    import pyarrow as pa

    span = {"start": 0, "end": 0, "label": ""}
    examples = {
        "label": "",
        "cats": dict.fromkeys(sorted(shape.get("cats", ())), 0.0),
        "ents": [span],
        "spans": {k: [{**span, "score": 0.0}] for k in sorted(shape.get("spans", ()))},
        "error": "",
    }
    for name in COLUMNS:
        if name in shape:
            kind = pa.array([examples[name]]).type
            schema = schema.append(pa.field(f"{prefix}{name}", kind))
    return schema


def schema_of(source: Source) -> "pa.Schema":
    """Return the types of the input's columns."""
    import pyarrow as pa
    from pyarrow import parquet

    if source.format == "parquet":
        return parquet.read_schema(source.path)
    if source.format == "jsonl":
        raise SpanftError(
            "A Parquet file has one type for each column, which JSONL does not. Name a "
            ".jsonl output."
        )
    cells = next((row.cells for part in read_parts(source) for row in part), {})
    return pa.schema([(name, pa.string()) for name in cells])
