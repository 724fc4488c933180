"""Rows of tables: TSV, CSV and JSONL files, which stream, and `datasets` datasets."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from spacy.language import Language
from spacy.training import Corpus, Example

from ...errors import SpanftError, counted, listed, shown
from ...ngrams.text import PACKED, ErrorHandling, blocks_from_files, load_split

Format = Literal["tsv", "csv", "jsonl"]
Incomplete = Literal["error", "skip"]
FORMATS: dict[str, Format] = {
    ".tsv": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
# The csv module refuses cells longer than 131,072 characters unless told otherwise.
_LONGEST_CELL = 2**31 - 1


class Row(NamedTuple):
    """A row.

    place (str): Where it stands, for messages: "Line 3".
    cells (dict[str, Any]): The values by column.
    """

    place: str
    cells: dict[str, Any]


class DocBins(Corpus):
    """spaCy's reader of its binary data, with an error that names the file."""

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Read the Examples."""
        try:
            yield from super().__call__(nlp)
        except Exception as error:  # zlib and msgpack raise various ones
            raise SpanftError(
                f"{shown(str(self.path))} cannot be read: it is no DocBin, or damaged."
            ) from error


def rows_from_file(
    path: str | Path,
    *,
    format: Format | None = None,
    header: Sequence[str] | None = None,
    errors: ErrorHandling = "strict",
    incomplete: Incomplete = "error",
) -> Iterator[Row]:
    """Read a table, which may be compressed (.gz, .bz2, .zst). See `table_corpus`.

    All cells of TSV and CSV are strings. In TSV every tab separates and a quotation
    mark is an ordinary character, as in GLUE's files; CSV has quoted cells.
    """
    format, source = _format_of(path, format), shown(str(path))
    lines = lines_of(path, errors)
    if format == "jsonl":
        return _json_rows(lines, source)
    return _table_rows(_split(lines, format, source), source, header, incomplete)


def columns_of(path: str | Path) -> list[str]:
    """Return the header of a table, or the keys of its first JSON object."""
    # Invalid UTF-8 raises when the rows are read.
    lines, source = lines_of(path, "replace"), shown(str(path))
    if (format := _format_of(path, None)) == "jsonl":
        return next((list(row.cells) for row in _json_rows(lines, source)), [])
    return next((cells for _, cells in _split(lines, format, source)), [])


def rows_from_dataset(
    name: str, config: str | None = None, split: str = "train"
) -> Iterator[Row]:
    """Read a dataset. Class labels that it stores as numbers become their names."""
    dataset = load_split(name, config, split, streaming=False)
    # ClassLabel has names, alone or as the feature of a list.
    features = {
        column: getattr(feature, "feature", feature)
        for column, feature in dataset.features.items()
    }
    for i, cells in enumerate(dataset):
        for column, feature in features.items():
            if hasattr(feature, "names"):
                cells[column] = _named(cells[column], feature.names)
        yield Row(f"Row {i}", cells)


def lines_of(path: str | Path, errors: ErrorHandling) -> Iterator[str]:
    r"""Read the lines of a file, compressed or not, with their ends: \n, \r\n or \r."""
    for block in blocks_from_files([path], errors=errors):
        yield from io.StringIO(block.decode("utf8"), newline="")


def cell_of(row: Row, setting: str, column: str) -> Any:
    """Return one cell of a row; the setting that names the column is for the error."""
    if column not in row.cells:
        where = row.place[0].lower() + row.place[1:]
        raise SpanftError(
            f"There is no column {shown(column)} in {where}. It has: "
            f"{listed(row.cells)}. Name the right one: {setting} = in a config, "
            f'--{setting.replace("_", "-")} of a command, or "columns" in a task.json.'
        )
    return row.cells[column]


def check_length(nlp: Language, text: str, place: str) -> None:
    """Raise for a text that is longer than the pipeline accepts."""
    if len(text) > nlp.max_length:
        raise SpanftError(
            f"{place} has {len(text):,} characters of text, and the pipeline takes "
            f"{nlp.max_length:,} (nlp.max_length). Split it into several texts."
        )


def _format_of(path: str | Path, format: Format | None) -> Format:
    if format is not None:
        return format
    file = Path(path)
    ending = file.with_suffix("").suffix if file.suffix in PACKED else file.suffix
    if ending.lower() not in FORMATS:
        raise SpanftError(
            f"{str(path)!r} does not end in .tsv, .csv or .jsonl. Rename it, or set "
            'format = "tsv" (--format tsv, where a command has it).'
        )
    return FORMATS[ending.lower()]


def _split(
    lines: Iterator[str], format: Format, source: str
) -> Iterator[tuple[str, list[str]]]:
    """Split the lines of TSV or CSV into rows of cells, each with its place."""
    csv.field_size_limit(_LONGEST_CELL)
    style: Any = {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
    reader = csv.reader(lines, strict=True, **(style if format == "tsv" else {}))
    line = 1
    try:
        for cells in reader:
            if cells:
                yield f"Line {line}", cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise SpanftError(
            f"Line {line} of {source} is not valid CSV: {error}. Is a quotation mark "
            "in it never closed?"
        ) from error


def _table_rows(
    lines: Iterator[tuple[str, list[str]]],
    source: str,
    header: Sequence[str] | None,
    incomplete: Incomplete,
) -> Iterator[Row]:
    columns = list(header) if header else next(lines, ("", []))[1]
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise SpanftError(f"The header of {source} has {shown(twice)} twice.")
    for where, cells in lines:
        if len(cells) == len(columns):
            yield Row(where, dict(zip(columns, cells, strict=True)))
        elif incomplete == "error":
            raise SpanftError(
                f"{where} of {source} has {counted(len(cells), 'cell')}, but the table "
                f"has {counted(len(columns), 'column')}: {listed(columns)}. In CSV, a "
                'cell with commas in it must be quoted: "one, two".'
            )


def _json_rows(lines: Iterator[str], source: str) -> Iterator[Row]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"Line {number}"
        try:
            cells = json.loads(line)
            reason = f"it is {shown(cells)}"
        except (ValueError, RecursionError) as error:
            cells, reason = None, str(error)
        if not isinstance(cells, dict):
            raise SpanftError(f"{where} of {source} is not a JSON object: {reason}.")
        yield Row(where, cells)


def _named(value: Any, names: list[str]) -> Any:
    if isinstance(value, list):
        return [_named(item, names) for item in value]
    # GLUE's test data has -1 where the label is secret.
    return names[value] if isinstance(value, int) and value >= 0 else None
