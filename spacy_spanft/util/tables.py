"""Tables of any format, row by row: CSV, TSV, JSONL and Parquet, or lines of text.

And datasets, of the hub or of a folder.
"""

import csv
import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from ..errors import SpanftError, counted, listed, reported, shown
from .text_files import UTF8, ErrorHandling, checked_files, is_packed, lines_of

Format: TypeAlias = Literal["tsv", "csv", "jsonl", "parquet", "txt"]
FORMATS: dict[str, Format] = {
    ".tsv": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
_OTHERS = (".xls", ".xlsx", ".ods", ".docx", ".pdf", ".zip", ".json", ".spacy")
TEXT = "text"
# The csv module refuses cells longer than 131,072 characters unless told otherwise.
_LONGEST_CELL = 2**31 - 1
_ROWS_AT_ONCE = 256  # of a Parquet file, whose texts may be long


class Row(NamedTuple):
    """A row.

    place (str): Where it stands, for messages: "Line 3".
    problem (str): What is wrong with it: "has 3 cells, but ..."; "" if nothing is.
    """

    place: str
    cells: dict[str, Any]
    problem: str = ""

    def of(self, source: str) -> "Row":
        """Return the row with its source in its place: "Line 3 of 'a.csv'"."""
        return self._replace(place=f"{self.place} of {source}")


def format_of(path: str | Path) -> Format | None:
    """Return the format of a table, by its ending; None for a file that may be text."""
    file = Path(path)
    suffix = (file.with_suffix("") if is_packed(file) else file).suffix.lower()
    if suffix in _OTHERS:
        raise SpanftError(
            f"{shown(str(path))} cannot be read here. Save it as CSV or JSONL."
        )
    return FORMATS.get(suffix)


def read_table(
    path: str | Path,
    *,
    format: Format | None = None,
    header: Sequence[str] | None = None,
    errors: ErrorHandling = "strict",
    encoding: str = UTF8,
    broken: Literal["error", "keep"] = "error",
    only: Sequence[str] | None = None,
) -> Iterator[Row]:
    """Read a table row by row. CSV, TSV and JSONL may be compressed (.gz, .bz2, .zst).

    All cells of TSV and CSV are strings. In TSV every tab separates and a quotation
    mark is an ordinary character, as in GLUE's files; CSV has quoted cells, with
    commas between them, or semicolons, tabs or bars if its header has no commas.

    format (Optional[str]): None goes by the file's ending; of "txt", lines are rows.
    header (Optional[Sequence[str]]): The names of the columns, if the file has none.
    errors, encoding: As in `blocks_from_files`.
    broken (Literal["error", "keep"]): What to do with rows that lack cells. "keep"
        yields what is no JSON object, too, with its problem.
    only (Optional[Sequence[str]]): The columns to read of Parquet.
    """
    source = shown(str(path))
    checked_files([path])
    format = format or format_of(path)
    if format is None:
        raise SpanftError(
            f"{source} does not end in .csv, .tsv, .jsonl or .parquet, nor in .conll "
            "for entities in columns. Rename it, or set format = "
            '"tsv" (--format tsv, where a command has it).'
        )
    if format == "parquet":
        rows = _parquet_rows(path, only)
    elif format in ("csv", "tsv"):
        rows = _rows_of_cells(lines_of(path, errors, encoding), format, source, header)
    else:
        rows = _rows_of_lines(lines_of(path, errors, encoding), format)
    for row in rows:
        if row.problem and broken == "error":
            raise SpanftError(f"{row.place} of {source} {row.problem}")
        yield row


def columns_of(path: str | Path, **how: Any) -> list[str]:
    """Return the columns of a table's first row."""
    how = {"errors": "replace", "broken": "keep", **how}
    return next((list(row.cells) for row in read_table(path, **how)), [])


def _rows_of_lines(lines: Iterator[str], format: Format) -> Iterator[Row]:
    for number, line in enumerate(lines, 1):
        if format == "txt":
            yield Row(f"Line {number}", {TEXT: line.rstrip("\r\n")})
        elif line.strip():
            yield _json_row(f"Line {number}", line)


def _rows_of_cells(
    lines: Iterator[str], format: Format, source: str, header: Sequence[str] | None
) -> Iterator[Row]:
    """Split the lines of TSV or CSV, the first of which may be the header."""
    csv.field_size_limit(_LONGEST_CELL)
    first, columns, line = next(lines, ""), list(header or ()), 1
    style: Any = {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
    if format == "csv":
        style = {"delimiter": _delimiter_of(first, len(columns))}
    reader = csv.reader(chain([first], lines), strict=True, **style)
    try:
        if not columns:
            columns = [cell.strip() for cell in next(filter(None, reader), [])]
        while columns[-1:] == [""] and columns.count("") > 1:
            columns.pop()  # empty columns of a spreadsheet
        _check_names(columns, source)
        line = reader.line_num + 1
        for cells in reader:
            if cells:
                yield _row_of_cells(f"Line {line}", cells, columns)
            line = reader.line_num + 1
    except csv.Error as error:
        raise SpanftError(
            f"Line {line} of {source} is not CSV: {error}. Is a quote never closed?"
        ) from error


def _check_names(columns: list[str], source: str) -> None:
    """Raise for two columns of one name: the cells of a row would lose one."""
    if len(set(columns)) < len(columns):
        twice = max(columns, key=columns.count)
        raise SpanftError(f"The header of {source} has {shown(twice)} twice.")


def _delimiter_of(line: str, n_columns: int) -> str:
    """Return the comma, or what else separates the first line into several cells."""
    n_cells = {
        mark: len(next(csv.reader([line], delimiter=mark), [])) for mark in ",;\t|"
    }
    is_right = [mark for mark, n in n_cells.items() if n > 1 and n_columns in (0, n)]
    return is_right[0] if is_right else ","


def _row_of_cells(place: str, cells: list[Any], columns: list[str]) -> Row:
    n_columns, problem = len(columns), ""
    while len(cells) > n_columns and not cells[-1]:
        cells.pop()
    if len(cells) != n_columns:
        problem = (
            f"has {counted(len(cells), 'cell')}, but the table has "
            f"{counted(n_columns, 'column')}: {listed(columns)}."
        )
        if len(cells) > n_columns:
            problem += ' In CSV, a cell with commas in it must be quoted: "one, two".'
        cells = [*cells[:n_columns], *[None] * (n_columns - len(cells))]
    return Row(place, dict(zip(columns, cells, strict=True)), problem)


def _json_row(place: str, line: str) -> Row:
    try:
        cells = json.loads(line.rstrip("\r\n"))
        if "\\u" in line:
            json.dumps(cells, ensure_ascii=False).encode()  # not of half a character
        reason = f"it is {shown(cells)}"
    except (ValueError, RecursionError) as error:
        cells, reason = None, str(error).replace("line 1 ", "")
    if isinstance(cells, dict):
        return Row(place, cells)
    return Row(place, {}, f"is not a JSON object: {reason}.")


def _parquet_rows(path: str | Path, only: Sequence[str] | None) -> Iterator[Row]:
    import pyarrow as pa
    from pyarrow import parquet

    message = f"{shown(str(path))} cannot be read as a Parquet file"
    kinds = pa.ArrowException, OSError
    with reported(message, *kinds), parquet.ParquetFile(path) as file:
        names = file.schema_arrow.names
        _check_names(names, shown(str(path)))
        columns = None if only is None else [x for x in only if x in names]
        batches = file.iter_batches(_ROWS_AT_ONCE, columns=columns)
        rows = chain.from_iterable(batch.to_pylist() for batch in batches)
        for number, cells in enumerate(rows, 1):
            yield Row(f"Row {number}", cells)


def load_split(name: str, config: str | None, split: str, streaming: bool) -> Any:
    """Load one split of a dataset, as a `Dataset` or `IterableDataset`.

    name (str): Its name on the hub, or a local folder: one that `Dataset.save_to_disk`
        wrote, or one of JSONL, CSV, Parquet or text files.
    """
    import datasets

    folder = Path(name)
    if folder.is_file():  # datasets would look for it on the hub, for half a minute
        raise SpanftError(f"{name!r} is a file, not a dataset.")
    is_saved = any((folder / f).exists() for f in ("dataset_dict.json", "state.json"))
    # Whatever YAML, Arrow and the network raise.
    with reported(f"Dataset {name!r} cannot be loaded", Exception):
        if not is_saved:  # of ".", datasets would make no name
            path = str(folder.resolve()) if folder.is_dir() else name
            return datasets.load_dataset(path, config, split=split, streaming=streaming)
        saved = datasets.load_from_disk(name)
    if not isinstance(saved, dict):
        saved = {str(saved.split or "train"): saved}
    if split not in saved:
        raise SpanftError(
            f"There is no split {split!r} in dataset {name!r}. It has: {listed(saved)}."
        )
    return saved[split]
