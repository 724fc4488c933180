"""Rows and predictions in Parquet files."""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Errors, ReaderError, SpanftError, shown
from ..ngrams.text.columns import open_parquet
from .annotations import Shape

if TYPE_CHECKING:
    import pyarrow as pa

# Of longer texts, fewer rows are held at a time.
_MOST_BYTES = 16 * 2**20


def read_batches(path: str, n_rows: int) -> "Iterator[tuple[int, pa.Table]]":
    """Read a Parquet file.

    path (str): The file.
    n_rows (int): How many rows are given at a time, at most.
    YIELDS (tuple[int, Table]): How many rows were before, and some rows.
    """
    import pyarrow as pa

    with open_parquet(path) as file:
        if not file.metadata.num_rows:
            raise ReaderError(Errors.NO_ROWS.format(source=shown(path)))
        begin = 0
        groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
        n_bytes = sum(group.total_byte_size for group in groups)
        n_rows = min(n_rows, _fitting(file.metadata.num_rows, n_bytes))
        for batch in file.iter_batches(n_rows):
            table = pa.Table.from_batches([batch])
            # Of values that are often there, the file has but one.
            step = _fitting(len(table), table.nbytes)
            for first in range(0, len(table), step):
                yield begin + first, table.slice(first, step)
            begin += len(table)


def _fitting(n_rows: int, n_bytes: int) -> int:
    """Say how many of some rows are held at a time."""
    return max(1, n_rows * _MOST_BYTES // max(1, n_bytes))


def n_rows_of(path: str) -> int:
    """Count the rows of a Parquet file.

    path (str): The file.
    RETURNS (int): How many.
    """
    from pyarrow import parquet

    return int(parquet.read_metadata(path).num_rows)


def encode(
    cells: "Sequence[Mapping[str, Any]] | pa.Table",
    found: Sequence[Mapping[str, Any]],
    shape: Shape,
    prefix: str,
) -> bytes:
    """Write rows beside what was predicted of them.

    cells (Union[Sequence[Mapping[str, Any]], Table]): The rows.
    found (Sequence[Mapping[str, Any]]): The annotations of each.
    shape (Shape): What there is in all annotations.
    prefix (str): What the names of predicted columns begin with.
    RETURNS (bytes): A Parquet file.
    """
    import pyarrow as pa
    from pyarrow import parquet

    table = cells if isinstance(cells, pa.Table) else _to_table(cells)
    kinds = _kinds(shape)
    for name in shape.columns:
        column = pa.array([one[name] for one in found], kinds[name])
        table = table.append_column(f"{prefix}{name}", column)
    file = io.BytesIO()
    try:
        parquet.write_table(table, file)
    except pa.ArrowException as error:  # such as an object without any key
        raise SpanftError(Errors.MIXED_TYPES.format(reason=error)) from error
    return file.getvalue()


def common_schema(
    schema: "pa.Schema | None", rows: Sequence[Mapping[str, Any]]
) -> "pa.Schema":
    """Widen the types of columns so that they hold more rows.

    schema (Optional[Schema]): The types so far.
    rows (Sequence[Mapping[str, Any]]): The rows.
    RETURNS (Schema): The types of both. Raises if a column would need two.
    """
    import pyarrow as pa

    own = _to_table(rows).schema
    try:
        both = [own] if schema is None else [schema, own]
        return pa.unify_schemas(both, promote_options="permissive")
    except pa.ArrowException as error:
        raise SpanftError(Errors.MIXED_TYPES.format(reason=error)) from error


def join(parts: Iterable[Path], target: Path) -> None:
    """Put files together, row group by row group.

    parts (Iterable[Path]): The files, in order.
    target (Path): The file to write.
    """
    import pyarrow as pa
    from pyarrow import parquet

    parts = list(parts)
    try:
        schemas = [parquet.read_schema(part) for part in parts]
        schema = pa.unify_schemas(schemas, promote_options="permissive")
        nothing = schema.empty_table()
        with parquet.ParquetWriter(target, schema) as writer:
            for part in parts:
                both = [nothing, parquet.read_table(part)]
                table = pa.concat_tables(both, promote_options="permissive")
                writer.write_table(table.cast(schema))
    except pa.ArrowException as error:
        raise SpanftError(Errors.MIXED_TYPES.format(reason=error)) from error


def _to_table(rows: Sequence[Mapping[str, Any]]) -> "pa.Table":
    import pyarrow as pa

    columns = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        try:
            columns[name] = pa.array([row.get(name) for row in rows])
        except (pa.ArrowException, OverflowError, UnicodeEncodeError) as error:
            reason = f"column {shown(name)}: {error}"
            raise SpanftError(Errors.MIXED_TYPES.format(reason=reason)) from error
    return pa.table(columns)


def _kinds(shape: Shape) -> "dict[str, pa.DataType]":
    """Give each column of predictions its type."""
    import pyarrow as pa

    offset = [("start", pa.int64()), ("end", pa.int64()), ("label", pa.string())]
    ents = pa.list_(pa.struct(offset))
    spans = pa.list_(pa.struct([*offset, ("score", pa.float64())]))
    return {
        "label": pa.string(),
        "cats": pa.struct([(label, pa.float64()) for label in shape.cats]),
        "ents": ents,
        "spans": pa.struct([(key, spans) for key in shape.spans]),
    }
