"""The input, cut into parts that fit into memory."""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from ..errors import (
    Errors,
    ReaderError,
    SpanftError,
    check_setting,
    shown,
    without_code,
)
from ..errors.shortening import listed
from ..ngrams.text.blocks import PACKED, ErrorHandling, blocks_from_files
from ..training.readers.columns import Columns
from ..training.readers.rows import Row, cell_of
from ..training.readers.tables import columns_of, rows_from_file
from .parquet import n_rows_of, read_batches

InputFormat: TypeAlias = Literal["parquet", "jsonl", "csv", "tsv", "txt"]
FORMATS: dict[str, InputFormat] = {
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "txt",
}
# A part has so many rows, or so many characters, whatever comes first.
MOST_ROWS = 2_000
# So many rows may fail before it must be the columns' or the pipeline's fault.
MOST_TRIED = 100
_MOST_CHARACTERS = 4_000_000


class Failure(NamedTuple):
    """A row without a prediction.

    place (str): Where it stands: "Line 3".
    reason (str): What is wrong.
    cells (Optional[Mapping[str, Any]]): What is in it, if it could be read.
    """

    place: str
    reason: str
    cells: Mapping[str, Any] | None = None


class Part(NamedTuple):
    """Some rows, one after the other.

    number (int): Which part it is, from 0 on.
    rows (list[Row]): Those that could be read.
    failures (list[Failure]): The others.
    table (Optional[pyarrow.Table]): The rows with the types of a Parquet file, of which
        `rows` then have no more than the texts.
    """

    number: int
    rows: list[Row]
    failures: list[Failure]
    table: Any = None


class Source(NamedTuple):
    """What is read, and how.

    path (str): The file.
    format (str): One of `InputFormat`.
    columns (Columns): Where the texts are.
    errors (str): "strict" or "replace", for bytes that are not text.
    keeps_table (bool): Whether parts of a Parquet file have its table.
    """

    path: str
    format: InputFormat
    columns: Columns
    errors: ErrorHandling = "strict"
    keeps_table: bool = False


def format_of(path: str, format: str | None) -> InputFormat:
    """Find out what a file holds.

    path (str): The file, which may be compressed if it is not Parquet.
    format (Optional[str]): Its format; None goes by its ending.
    RETURNS (str): The format.
    """
    choices = get_args(InputFormat)
    if format is not None:
        expected = f"one of {listed(choices)}"
        check_setting("format", format, format in choices, expected)
    file = Path(path)
    ending = file.with_suffix("").suffix if file.suffix in PACKED else file.suffix
    found = format or FORMATS.get(ending.lower())
    if found is None:
        raise ReaderError(Errors.NO_INPUT_FORMAT.format(path=path))
    return found  # type: ignore[return-value]


def columns_in(source: Source) -> list[str]:
    """Read the names of the columns, of which texts must be some.

    source (Source): What is read.
    RETURNS (list[str]): The names.
    """
    columns = source.columns
    if source.format == "txt":
        return [columns.text]
    if source.format == "parquet":
        names, place = next(read_batches(source.path, 1))[1].column_names, "The file"
    elif source.format == "jsonl":
        return _keys_in(source)
    else:
        names, place = columns_of(source.path, format=source.format), "Line 1"
    _check_texts(Row(place, dict.fromkeys(names)), source)
    return names


def _keys_in(source: Source) -> list[str]:
    """Read the keys of the first object that has texts; others fail one by one."""
    error: SpanftError | None = None
    for row in islice(_rows(source, lambda *_: None), MOST_TRIED):
        try:
            _check_texts(row, source)
        except SpanftError as why_not:
            error = error or why_not
        else:
            return list(row.cells)
    if error is not None:
        raise error
    return []  # nothing can be read: whoever predicts says what


def _check_texts(row: Row, source: Source) -> None:
    """Raise if a row has no cells for the texts."""
    columns = source.columns
    cell_of(row, shown(source.path), "text", columns.text)
    if columns.text_pair is not None:
        cell_of(row, shown(source.path), "text_pair", columns.text_pair)


def count_rows(source: Source) -> int | None:
    """Count the rows of a file that says how many there are.

    source (Source): What is read.
    RETURNS (Optional[int]): How many; None if it does not say so.
    """
    return n_rows_of(source.path) if source.format == "parquet" else None


def read_parts(source: Source) -> Iterator[Part]:
    """Read a file part by part. Of the same file, parts are always the same.

    source (Source): What is read.
    YIELDS (Part): The parts.
    """
    if source.format == "parquet":
        yield from _parts_of_batches(source)
        return
    numbers = count()
    rows: list[Row] = []
    failures: list[Failure] = []
    n_characters = 0

    def hear(place: str, error: SpanftError) -> None:
        failures.append(Failure(place, without_code(error)))

    for row in _rows(source, hear):
        rows.append(row)
        n_characters += len(str(row.cells.get(source.columns.text)))
        is_full = len(rows) + len(failures) >= MOST_ROWS
        if is_full or n_characters >= _MOST_CHARACTERS:
            yield Part(next(numbers), rows, failures)
            rows, failures, n_characters = [], [], 0
    if rows or failures:
        yield Part(next(numbers), rows, failures)


def _rows(
    source: Source, on_error: Callable[[str, SpanftError], None]
) -> Iterator[Row]:
    if source.format == "txt":
        return _lines(source)
    return rows_from_file(
        source.path,
        format=source.format,  # type: ignore[arg-type]
        errors=source.errors,
        on_error=on_error,
    )


def _lines(source: Source) -> Iterator[Row]:
    blocks = blocks_from_files([source.path], errors=source.errors)
    lines = chain.from_iterable(
        block.decode("utf8").removesuffix("\n").split("\n") for block in blocks
    )
    for number, line in enumerate(lines, 1):
        yield Row(f"Line {number}", {source.columns.text: line.rstrip("\r")})


def _parts_of_batches(source: Source) -> Iterator[Part]:
    columns = source.columns
    texts = [name for name in (columns.text, columns.text_pair) if name is not None]
    numbers = count()
    for begin, table in read_batches(source.path, MOST_ROWS):
        names = texts if source.keeps_table else table.column_names
        cells = table.select(names).to_pylist()
        rows = [Row(f"Row {begin + i}", cells) for i, cells in enumerate(cells, 1)]
        yield Part(next(numbers), rows, [], table if source.keeps_table else None)
