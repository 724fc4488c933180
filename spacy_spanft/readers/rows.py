"""The rows of TSV, CSV and JSONL files, and of `datasets` datasets."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..corpus.blocks import ErrorHandling, blocks_from_files
from ..corpus.hub import load_split
from ..errors import Errors, ReaderError, SettingError

Format = Literal["tsv", "csv", "jsonl"]
Incomplete = Literal["error", "skip"]
FORMATS: dict[str, Format] = {
    ".tsv": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_PACKED = (".gz", ".bz2", ".zst")
# The csv module refuses longer cells than 131,072 characters unless told otherwise.
_LONGEST_CELL = 2**31 - 1


class Row(NamedTuple):
    """One row.

    place (str): Where it stands, for messages: "Line 3".
    cells (dict[str, Any]): Columns to values.
    """

    place: str
    cells: dict[str, Any]


def check_limit(limit: int) -> None:
    """Raise for a number of rows that cannot be read.

    limit (int): How many; 0 for all.
    """
    if not isinstance(limit, int) or limit < 0:
        place = {"name": "limit", "value": limit, "expected": "0 (for all) or more"}
        raise SettingError(Errors.BAD_SETTING.format(**place))


def cell_of(row: Row, source: str, setting: str, column: str) -> Any:
    """Read one cell of a row.

    row (Row): The row.
    source (str): Where it comes from, for the message.
    setting (str): The setting that names the column, for the message.
    column (str): The column.
    RETURNS (Any): What is in it.
    """
    if column not in row.cells:
        raise ReaderError(
            Errors.NO_COLUMN_IN.format(
                setting=setting,
                column=column,
                source=source,
                place=row.place.lower(),
                columns=", ".join(map(repr, row.cells)) or "none",
            )
        )
    return row.cells[column]


def columns_of(path: str | Path, *, format: Format | None = None) -> list[str]:
    """Read what the first line of a table holds, or the keys of the first JSON object.

    path (Union[str, Path]): The file, which may be packed.
    format (Optional[Literal["tsv", "csv", "jsonl"]]): None goes by the file's ending.
    RETURNS (list[str]): The names of the columns, if the file has any.
    """
    format = format or _format_of(Path(path))
    # What is no UTF-8 raises when the rows are read.
    text = next(blocks_from_files([path], errors="replace"), b"").decode("utf8")
    source = repr(str(path))
    if format == "jsonl":
        return [name for row in islice(_json_rows(text, source), 1) for name in row[1]]
    lines = _split_tsv(text) if format == "tsv" else _split_csv(text, source)
    return next(lines, (0, []))[1]


def rows_from_file(
    path: str | Path,
    *,
    format: Format | None = None,
    header: Sequence[str] | None = None,
    errors: ErrorHandling = "strict",
    incomplete: Incomplete = "error",
) -> Iterator[Row]:
    """Read a table, which may be packed (.gz, .bz2, .zst).

    In TSV every tab separates and a quotation mark is one, as in GLUE's files; CSV
    knows quoted cells.

    path (Union[str, Path]): The file.
    format (Optional[Literal["tsv", "csv", "jsonl"]]): None goes by the file's ending.
    header (Optional[Sequence[str]]): The names of the columns, for a table whose first
        line does not hold them.
    errors (str): "strict" raises at bytes that are no UTF-8, "replace" replaces them.
    incomplete (Literal["error", "skip"]): Whether to raise for lines of a table that
        have other than its number of cells, or to leave them out.
    YIELDS (Row): The rows.
    """
    format = format or _format_of(Path(path))
    text = (
        b"".join(blocks_from_files([path], errors=errors))
        .decode("utf8")
        .removeprefix("\ufeff")
    )
    source = repr(str(path))
    if format == "jsonl":
        return _json_rows(text, source)
    lines = _split_tsv(text) if format == "tsv" else _split_csv(text, source)
    return _table_rows(lines, source, header, incomplete)


def rows_from_dataset(
    name: str, config: str | None = None, split: str = "train"
) -> Iterator[Row]:
    """Read a dataset. Labels that it keeps as numbers are given by their names.

    name (str): Its name on the hub, or a local folder.
    config (Optional[str]): Its configuration.
    split (str): The split.
    YIELDS (Row): The rows.
    """
    dataset = load_split(name, config, split, streaming=False)
    names = {
        column: known
        for column, feature in dataset.features.items()
        if (known := _names_of(feature)) is not None
    }
    for i, cells in enumerate(dataset):
        for column, known in names.items():
            cells[column] = _named(cells[column], known)
        yield Row(f"Row {i}", cells)


def _names_of(feature: Any) -> list[str] | None:
    """Find the names of the labels that a column holds, also in lists."""
    feature = getattr(feature, "feature", feature)
    names: list[str] | None = getattr(feature, "names", None)
    return names


def _named(value: Any, names: list[str]) -> Any:
    if isinstance(value, list):
        return [_named(one, names) for one in value]
    if not isinstance(value, int):
        return value
    # GLUE's test data has -1 where the label is secret.
    return names[value] if value >= 0 else None


def _format_of(path: Path) -> Format:
    ending = path.with_suffix("").suffix if path.suffix in _PACKED else path.suffix
    if ending.lower() not in FORMATS:
        raise ReaderError(Errors.NO_FORMAT.format(path=str(path)))
    return FORMATS[ending.lower()]


def _split_tsv(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip("\r"):
            yield number, line.removesuffix("\r").split("\t")


def _split_csv(text: str, source: str) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    begin = 1
    try:
        for cells in reader:
            if cells:
                yield begin, cells
            begin = reader.line_num + 1
    except csv.Error as error:
        place = f"Line {begin}"
        message = Errors.BAD_CSV.format(place=place, source=source, reason=error)
        raise ReaderError(message) from error


def _table_rows(
    lines: Iterator[tuple[int, list[str]]],
    source: str,
    header: Sequence[str] | None,
    incomplete: Incomplete,
) -> Iterator[Row]:
    columns = list(header or next(lines, (0, []))[1])
    for i, column in enumerate(columns):
        if column in columns[:i]:
            raise ReaderError(Errors.BAD_HEADER.format(source=source, column=column))
    for number, cells in lines:
        place = f"Line {number}"
        if len(cells) != len(columns):
            if incomplete == "skip":
                continue
            raise ReaderError(
                Errors.BAD_CELLS.format(
                    place=place,
                    source=source,
                    found=len(cells),
                    expected=len(columns),
                    columns=", ".join(map(repr, columns)),
                )
            )
        yield Row(place, dict(zip(columns, cells, strict=True)))


def _json_rows(text: str, source: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"Line {number}"
        try:
            cells = json.loads(line)
        except ValueError as error:
            message = Errors.BAD_JSON.format(place=place, source=source, reason=error)
            raise ReaderError(message) from error
        if not isinstance(cells, dict):
            reason = f"it is a {type(cells).__name__}"
            raise ReaderError(
                Errors.BAD_JSON.format(place=place, source=source, reason=reason)
            )
        yield Row(place, cells)
