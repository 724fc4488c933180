"""Rows of files: read in parts that fit into memory, and written with predictions."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias

from ..errors import SpanftError, listed
from ..training.readers.rows import text_of
from ..util import tables
from ..util.files import write_whole
from ..util.tables import read_table

if TYPE_CHECKING:
    import pyarrow as pa

# The columns of predictions, and the keys of those that are objects.
Shape: TypeAlias = dict[str, set[str]]
# The cells of a row, its text, and why it cannot get a prediction, if it cannot.
Row: TypeAlias = tuple[dict[str, Any], str, str]
# The rows of the output.
Cells: TypeAlias = Iterator[dict[str, Any]]
COLUMNS = ("label", "cats", "ents", "spans", "error")
PREFIX = "predicted_"  # where the input has such columns itself
MOST_ROWS = 2_000  # of a part


class Source(NamedTuple):
    """The input, and how to read it; prefix begins the names of predicted columns."""

    path: str
    text: str
    text_pair: str | None
    separator: str
    prefix: str
    how: dict[str, Any]  # the settings of read_table


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
    rows = map(partial(_read, source), read_table(source.path, **source.how))
    while part := list(islice(rows, MOST_ROWS)):
        yield part


def _read(source: Source, row: tables.Row) -> Row:
    try:
        if row.problem:
            raise SpanftError(f"{row.place} {row.problem}")
        check_names(row.cells, source)
        text = text_of(row, source.text, source.text_pair, source.separator)
        if text.strip() in ("", source.text_pair and source.separator):
            raise SpanftError(f"{row.place} has no text.")
        return row.cells, text, ""
    except SpanftError as error:
        return row.cells, "", str(error)


def write_rows(
    target: Path, rows: Cells, source: Source, columns: Iterable[str], shape: Shape
) -> None:
    """Write rows with their predictions after their columns, by the target's ending."""
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
    # A later row may have a column of the name of a prediction.
    names = dict.fromkeys([*columns, *predicted, *scores])
    writer = csv.DictWriter(text, [*names])
    writer.writeheader()
    for row in rows:
        failed = f"{prefix}error" in row  # whose cells are all its own
        by_label = {} if failed else row.pop(cats, None) or {}
        row |= {f"{cats}.{label}": score for label, score in by_label.items()}
        for name, value in row.items():
            if isinstance(value, dict | list):
                row[name] = json.dumps(value, ensure_ascii=False, default=str)
        writer.writerow(row)
    text.detach()


def _write_jsonl(rows: Cells, file: BinaryIO) -> None:
    """Write null for numbers that JSON does not have."""
    for row in rows:
        try:
            line = json.dumps(row, ensure_ascii=False, allow_nan=False, default=str)
        except ValueError:
            cells = json.dumps(row, default=str)
            row = json.loads(cells, parse_constant=lambda name: None)
            line = json.dumps(row, ensure_ascii=False)
        file.write(f"{line}\n".encode("utf8", errors="backslashreplace"))


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

    if source.how["format"] == "parquet":
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
