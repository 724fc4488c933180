"""Rows with their predictions, written as JSON lines or Parquet."""

import io
import json
import math
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from ..errors import SpanftError
from .annotations import Annotations
from .input_rows import Part, Source, read_parts

if TYPE_CHECKING:
    import pyarrow as pa

# The columns of all predictions, and the labels or groups in those that are objects.
Shape: TypeAlias = dict[str, list[str] | None]
# The rows of a part that could be predicted, and their predictions by column.
Predictions: TypeAlias = tuple[Part, list[Annotations]]


def shape_of(annotations: Annotations) -> Shape:
    """Return the columns of annotations, and the labels or groups in objects."""
    return {
        name: sorted(value) if isinstance(value, dict) else None
        for name, value in annotations.items()
    }


def write_jsonl(file: BinaryIO, predictions: Iterable[Predictions]) -> None:
    """Write each row, with its predictions beside its cells."""
    for part, annotations in predictions:
        for row, predicted in zip(part.rows, annotations, strict=True):
            file.write(json_line({**row.cells, **predicted}))


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
    file: BinaryIO,
    predictions: Iterable[Predictions],
    columns: "pa.Schema",
    added: "pa.Schema",
) -> None:
    """Write each row, with the columns of its predictions after those of the input."""
    import pyarrow as pa
    from pyarrow import parquet

    # Rows with columns that have these names are among the failures.
    columns = pa.schema(
        [field for field in columns if field.name not in added.names], columns.metadata
    )
    schema = pa.schema([*columns, *added], columns.metadata)
    with parquet.ParquetWriter(file, schema) as writer:
        for part, annotations in predictions:
            table, cells = part.table, [row.cells for row in part.rows]
            if table is None:
                table = pa.Table.from_pylist(cells, columns)
            predicted = pa.Table.from_pylist(annotations, added)
            for field, column in zip(added, predicted.columns, strict=True):
                table = table.append_column(field, column)
            writer.write_table(table)


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
        cells = [row.cells for row in part.rows if not row.problem]
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


def added_columns(shape: Shape, prefix: str) -> "pa.Schema":
    """Return the types of the columns of predictions."""
    import pyarrow as pa

    span = {"start": 0, "end": 0, "label": ""}
    examples = {
        "label": "",
        "cats": dict.fromkeys(shape.get("cats") or (), 0.0),
        "ents": [span],
        "spans": {key: [{**span, "score": 0.0}] for key in shape.get("spans") or ()},
    }
    types = {name: pa.array([examples[name]]).type for name in shape}
    return pa.schema([(f"{prefix}{name}", kind) for name, kind in types.items()])
