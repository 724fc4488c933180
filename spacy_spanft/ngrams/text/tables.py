"""Text in a column of JSONL and Parquet files, as blocks of lines."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from ...errors import CorpusError, Errors, shown
from .blocks import (
    ErrorHandling,
    Limited,
    blocks_from_texts,
    count_lines,
    is_packed,
    open_file,
    unpacking,
    whole_lines,
)

_ROWS_AT_ONCE = 1 << 13
_BLOCK_SIZE = 1 << 20


def blocks_from_jsonl(
    path: str,
    start: int = 0,
    end: int | None = None,
    *,
    column: str = "text",
    errors: ErrorHandling = "strict",
) -> Iterator[bytes]:
    """Read the text of a JSONL file, or of some of its bytes.

    path (str): The file, which may be compressed.
    start (int): The byte at which to begin.
    end (Optional[int]): The byte at which to end; None for the end of the file.
    column (str): The key that holds the text.
    errors (str): "strict" raises for an object whose text is null or missing, "replace"
        passes it over.
    YIELDS (bytes): Whole lines.
    """
    with unpacking(path), open_file(path, is_packed(path)) as file:
        texts = _texts_of_jsonl(path, file, (start, end), column, errors)
        yield from blocks_from_texts(texts)


def _texts_of_jsonl(
    path: str,
    file: BinaryIO,
    bounds: tuple[int, int | None],
    column: str,
    errors: ErrorHandling,
) -> Iterator[str]:
    start, end = bounds
    if start:
        file.seek(start)
    source: Any = file if end is None else Limited(file, end - start)
    number = 0
    for block in whole_lines(source, _BLOCK_SIZE):
        for line in block.split(b"\n")[:-1]:
            number += 1
            if not line.strip():
                continue
            row: Any = None
            try:
                strict = errors == "strict"
                row = json.loads(line if strict else line.decode("utf-8-sig", errors))
                reason = f"it is {shown(row)}"
            except (ValueError, RecursionError) as error:
                reason = str(error) or type(error).__name__
            place = _Place(path, "line", number, start)
            if not isinstance(row, dict):
                text = {"place": place, "source": path, "reason": reason}
                raise CorpusError(Errors.BAD_JSON.format(**text))
            if column not in row:
                there = ", ".join(map(repr, row)) or "nothing"
                text = {"place": place, "column": column, "columns": there}
                raise CorpusError(Errors.NO_KEY.format(source=path, **text))
            if (
                found := _checked(row[column], place, path, column, errors)
            ) is not None:
                yield found


class _Place:
    """Where a row is; the lines before its unit are counted if somebody asks."""

    def __init__(self, path: str, kind: str, number: int, start: int = 0) -> None:
        self._facts = (path, kind, number, start)

    def __str__(self) -> str:
        path, kind, number, start = self._facts
        if kind == "line" and start:
            number += count_lines(path, start)
        return f"{kind.capitalize()} {number:,}"

    def __format__(self, how: str) -> str:
        return str(self)


def _checked(
    value: object, place: _Place, path: str, column: str, errors: ErrorHandling
) -> str | None:
    """Give a text, or None for a cell that is passed over."""
    if isinstance(value, str):
        return value
    if value is None and errors == "replace":
        return None
    text = {"place": place, "source": path, "value": value, "column": column}
    raise CorpusError(Errors.NO_TEXT_IN_CELL.format(**text))


def row_groups(path: str, size: int) -> Iterator[tuple[int, int]]:
    """Put the row groups of a Parquet file together.

    path (str): The file.
    size (int): How many bytes should be in each.
    YIELDS (tuple[int, int]): The first row group, and the one after the last.
    """
    with open_parquet(path) as file:
        first, n_bytes = 0, 0
        for index in range(file.num_row_groups):
            n_bytes += file.metadata.row_group(index).total_byte_size
            if n_bytes >= size or index + 1 == file.num_row_groups:
                yield first, index + 1
                first, n_bytes = index + 1, 0


def blocks_from_parquet(
    path: str,
    start: int = 0,
    end: int | None = None,
    *,
    column: str = "text",
    errors: ErrorHandling = "strict",
) -> Iterator[bytes]:
    """Read a column of text of a Parquet file, or of some of its row groups.

    path (str): The file.
    start (int): The first row group.
    end (Optional[int]): The row group before which to end; None for all others.
    column (str): The column that holds the text.
    errors (str): "strict" raises for a null, "replace" passes it over.
    YIELDS (bytes): Whole lines.
    """
    with open_parquet(path) as file:
        _check_column(file, path, column)
        groups = range(start, file.num_row_groups if end is None else end)
        n_before = sum(file.metadata.row_group(i).num_rows for i in range(start))
        batches = file.iter_batches(_ROWS_AT_ONCE, list(groups), columns=[column])
        texts = _texts_of_batches(batches, n_before, path, column, errors)
        yield from blocks_from_texts(texts)


def _texts_of_batches(
    batches: Iterable[Any],
    n_before: int,
    path: str,
    column: str,
    errors: ErrorHandling,
) -> Iterator[str]:
    number = n_before
    for batch in batches:
        for value in batch.column(0).to_pylist():
            number += 1
            place = _Place(path, "row", number)
            if (text := _checked(value, place, path, column, errors)) is not None:
                yield text


def _check_column(file: Any, path: str, column: str) -> None:
    import pyarrow as pa

    schema = file.schema_arrow
    if column not in schema.names:
        there = ", ".join(map(repr, schema.names)) or "nothing"
        text = {"place": "The schema", "column": column, "columns": there}
        raise CorpusError(Errors.NO_KEY.format(source=path, **text))
    kind = schema.field(column).type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        place = {"column": column, "source": path, "type": str(kind)}
        raise CorpusError(Errors.COLUMN_NOT_TEXT.format(**place))


class open_parquet:
    """Open a Parquet file, and say in our words what is wrong with it."""

    def __init__(self, path: str) -> None:
        """Name the file.

        path (str): The file.
        """
        self._path = path
        self._file: Any = None

    def __enter__(self) -> Any:
        """Open it."""
        import pyarrow.parquet as pq

        try:
            self._file = pq.ParquetFile(self._path)
        except Exception as error:
            raise self._explained(error) from error
        return self._file

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Close it."""
        self._file.close()
        import pyarrow as pa

        if isinstance(error, pa.ArrowException | OSError):
            raise self._explained(error) from error

    def _explained(self, error: Exception) -> CorpusError:
        text = {"path": self._path, "reason": str(error).rstrip(". \n")}
        return CorpusError(Errors.BAD_PARQUET.format(**text))
