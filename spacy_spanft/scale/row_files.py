"""Rows of files: read in parts that fit into memory, and written with predictions."""

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias

from ..errors import SpanftError, listed, shown
from ..ml.pairs import join_pair
from ..util import tables
from ..util.files import write_whole
from ..util.tables import Format, format_of, read_table
from ..util.text_files import UTF8, ErrorHandling, is_packed

if TYPE_CHECKING:
    import pyarrow as pa

# The columns of predictions, and the keys of those that are objects.
Shape: TypeAlias = dict[str, set[str]]
# The rows of the output.
Cells: TypeAlias = Iterator[dict[str, Any]]
COLUMNS = ("label", "cats", "ents", "spans", "error")
PREFIX = "predicted_"  # where the input has such columns itself
MOST_ROWS = 2_000  # of a part


class Source(NamedTuple):
    """The input, and how to read it.

    text_pair (Optional[str]): The column of the second texts of pairs.
    prefix (str): What the names of predicted columns begin with.
    """

    path: str
    format: Format
    text: str
    text_pair: str | None
    separator: str
    errors: ErrorHandling
    encoding: str = UTF8
    prefix: str = ""

    @property
    def how(self) -> dict[str, Any]:
        """The settings of `read_table`."""
        names = ("format", "errors", "encoding")
        return {name: getattr(self, name) for name in names}


class Row(NamedTuple):
    """A row of the input.

    problem (str): Why it cannot get a prediction; "" if it can.
    """

    cells: dict[str, Any]
    text: str = ""
    problem: str = ""


def input_format(path: str) -> Format:
    """Return the format of the input, by its ending."""
    name = Path(path).with_suffix("") if is_packed(path) else Path(path)
    format = "txt" if name.suffix.lower() == ".txt" else format_of(path)
    if format is None:
        raise SpanftError(
            f"The name of {path!r} does not tell its format. Set it with --format: "
            "csv, tsv, jsonl, parquet or txt."
        )
    return format


def is_own(name: str) -> bool:
    """Whether predictions have a column of that name, such as "label" or "cats.pos"."""
    return name.partition(".")[0] in COLUMNS


def check_names(names: Iterable[str], source: Source) -> None:
    """Raise for columns of the input that predictions would replace."""
    prefix = source.prefix
    own = [x for x in names if x.startswith(prefix) and is_own(x[len(prefix) :])]
    if own:
        raise SpanftError(
            f"Its columns {listed(own)} have names of predictions. Set --prefix."
        )


def read_parts(source: Source) -> Iterator[list[Row]]:
    """Read the input part by part. The same file always has the same parts."""
    table = read_table(source.path, **source.how, broken="keep")
    rows = (_row(row, source) for row in table)
    while part := list(islice(rows, MOST_ROWS)):
        yield part


def _row(row: tables.Row, source: Source) -> Row:
    try:
        if row.problem:
            raise SpanftError(f"It {row.problem}")
        return Row(row.cells, _text_of(row.cells, source))
    except SpanftError as error:
        return Row(row.cells, problem=str(error))


def _text_of(cells: dict[str, Any], source: Source) -> str:
    """Return the text of a row, or the two texts of a pair joined."""
    check_names(cells, source)
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


def write_rows(
    target: Path, rows: Cells, source: Source, columns: Iterable[str], shape: Shape
) -> None:
    """Write the rows of an input with their predictions, by the ending of the target.

    columns (Iterable[str]): Those of the input.
    """
    if target.suffix == ".csv":
        write: Any = partial(_write_csv, columns, shape, source.prefix)
    elif target.suffix == ".parquet":
        write = partial(_write_parquet, _schema_of(source, shape))
    else:
        write = _write_jsonl
    write_whole(target, partial(write, rows))


def _write_csv(
    columns: Iterable[str], shape: Shape, prefix: str, rows: Cells, file: BinaryIO
) -> None:
    """Write a column for the score of each label, and JSON for spans."""
    cats = f"{prefix}cats"
    scores = [f"{cats}.{label}" for label in sorted(shape.get("cats", ()))]
    predicted = [f"{prefix}{x}" for x in COLUMNS if x in shape and x != "cats"]
    text = io.TextIOWrapper(file, "utf-8", "backslashreplace", newline="")
    writer = csv.DictWriter(text, [*columns, *predicted, *scores])
    writer.writeheader()
    for row in rows:
        by_label = row.pop(cats, None) or {}
        row |= {f"{cats}.{label}": score for label, score in by_label.items()}
        writer.writerow({name: _cell(value) for name, value in row.items()})
    text.detach()


def _cell(value: Any) -> Any:
    is_nested = isinstance(value, dict | list)
    return json.dumps(value, ensure_ascii=False, default=str) if is_nested else value


def _write_jsonl(rows: Cells, file: BinaryIO) -> None:
    """Write null for numbers that JSON does not have."""
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


def _write_parquet(schema: "pa.Schema", rows: Cells, file: BinaryIO) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    with parquet.ParquetWriter(file, schema) as writer:
        while part := list(islice(rows, MOST_ROWS)):
            writer.write_table(pa.Table.from_pylist(part, schema))


def _schema_of(source: Source, shape: Shape) -> "pa.Schema":
    """Return the types of the input's columns, and after them those of predictions."""
    import pyarrow as pa
    from pyarrow import parquet

    if source.format == "parquet":
        schema = parquet.read_schema(source.path)
    else:
        names = tables.columns_of(source.path, **source.how)
        schema = pa.schema([(name, pa.string()) for name in names])
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
            schema = schema.append(pa.field(f"{source.prefix}{name}", kind))
    return schema
