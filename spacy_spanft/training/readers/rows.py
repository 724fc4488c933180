"""The rows of TSV, CSV and JSONL files, and of `datasets` datasets."""

import csv
import io
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from spacy.language import Language

from ...errors import Errors, ReaderError, check_setting
from ...errors.shortening import listed, meant, shown
from ...ngrams.text.blocks import ErrorHandling, blocks_from_files
from ...ngrams.text.hub import load_split

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

# What spreadsheets also put between cells.
_OTHER_SEPARATORS = (";", "\t", "|", ",")
_QUOTING = ' A cell with commas in it must stand in quotation marks: "one, two".'
# What the csv module says, in words that tell where to look.
_CSV_REASONS = {
    "unexpected end of data": "a quotation mark in it is never closed",
}


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
    is_right = isinstance(limit, int) and limit >= 0
    check_setting("limit", limit, is_right, "0 (for all) or more")


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Raise for a setting that is none of its choices.

    name (str): The setting.
    value (Any): What it is set to.
    choices (Sequence[str]): What it can be.
    """
    expected = " or ".join(f'"{choice}"' for choice in choices)
    check_setting(name, value, value in choices, expected)


def check_format(format: str | None) -> None:
    """Raise for a format that is not known.

    format (Optional[str]): The format; None goes by the file's ending.
    """
    if format is not None:
        check_choice("format", format, sorted(set(FORMATS.values())))


def check_length(nlp: Language, text: str, place: str) -> None:
    """Raise for a text that the pipeline takes for too long.

    place (str): Where it stands, for the message.
    """
    if len(text) > nlp.max_length:
        how_long = {"length": len(text), "longest": nlp.max_length}
        raise ReaderError(Errors.TEXT_TOO_LONG.format(place=place, **how_long))


def cell_of(row: Row, source: str, setting: str, column: str) -> Any:
    """Read one cell of a row.

    source (str): Where it comes from, for the message.
    setting (str): The setting that names the column, for the message.
    RETURNS (Any): What is in it.
    """
    if column not in row.cells:
        raise ReaderError(
            Errors.NO_COLUMN_IN.format(
                setting=setting,
                option=setting.replace("_", "-"),
                column=column,
                source=source,
                place=row.place.lower(),
                columns=listed(row.cells),
                hint=_separator_in(row.cells) or meant(column, row.cells),
            )
        )
    return row.cells[column]


def columns_of(path: str | Path, *, format: Format | None = None) -> list[str]:
    """Read what the first line of a table holds, or the keys of the first JSON object.

    path (Union[str, Path]): The file, which may be compressed.
    format (Optional[Literal["tsv", "csv", "jsonl"]]): None goes by the file's ending.
    RETURNS (list[str]): The names of the columns, if the file has any.
    """
    format = _format_of(path, format)
    # What is no UTF-8 raises when the rows are read.
    text = next(blocks_from_files([path], errors="replace"), b"").decode("utf8")
    source = shown(str(path))
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
    """Read a table, which may be compressed (.gz, .bz2, .zst).

    In TSV every tab separates and a quotation mark is one, as in GLUE's files; CSV
    knows quoted cells.

    path (Union[str, Path]): The file.
    format (Optional[Literal["tsv", "csv", "jsonl"]]): None goes by the file's ending.
    header (Optional[Sequence[str]]): The names of the columns, for a table whose first
        line does not hold them.
    errors (str): "strict" raises at bytes that are no UTF-8, "replace" replaces them.
    incomplete (Literal["error", "skip"]): Whether to raise for lines of a table that
        have other than its number of cells, or to leave them out.
    """
    format = _format_of(path, format)
    source = shown(str(path))
    if format == "jsonl" and header is not None:
        raise ReaderError(Errors.HEADER_OF_JSON.format(source=source))
    text = read_text(path, errors)
    if format == "jsonl":
        return _json_rows(text, source)
    if format == "tsv":
        return _table_rows(_split_tsv(text), source, header, incomplete)
    lines = _split_csv(text, source)
    return _table_rows(lines, source, header, incomplete, _QUOTING)


def read_text(path: str | Path, errors: ErrorHandling) -> str:
    """Read all of a file, which may be compressed.

    path (Union[str, Path]): The file.
    errors (str): "strict" raises at bytes that are no UTF-8, "replace" replaces them.
    RETURNS (str): The text. It ends in a newline, and has no byte order mark.
    """
    data = b"".join(blocks_from_files([path], errors=errors))
    return data.decode("utf8").removeprefix("\ufeff")


def rows_from_dataset(
    name: str, config: str | None = None, split: str = "train"
) -> Iterator[Row]:
    """Read a dataset. Labels that it keeps as numbers are given by their names.

    name (str): Its name on the hub, or a local folder.
    config (Optional[str]): Its configuration.
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


def _format_of(path: str | Path, format: Format | None) -> Format:
    check_format(format)
    if format is not None:
        return format
    file = Path(path)
    ending = file.with_suffix("").suffix if file.suffix in _PACKED else file.suffix
    if ending.lower() not in FORMATS:
        raise ReaderError(Errors.NO_FORMAT.format(path=str(path)))
    return FORMATS[ending.lower()]


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Cut a text into lines, which very old files end with carriage returns alone."""
    end = "\r" if "\r" in text and "\n" not in text[:-1] else "\n"
    for number, line in enumerate(text.removesuffix("\n").split(end), 1):
        if line.strip("\r"):
            yield number, line.rstrip("\r")


def _split_tsv(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in _lines(text):
        yield number, line.split("\t")


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
        reason = _CSV_REASONS.get(str(error), error)
        place = {"place": f"Line {begin}", "source": source, "reason": reason}
        raise ReaderError(Errors.BAD_CSV.format(**place)) from error


def _table_rows(
    lines: Iterator[tuple[int, list[str]]],
    source: str,
    header: Sequence[str] | None,
    incomplete: Incomplete,
    too_many: str = "",
) -> Iterator[Row]:
    first, columns = (0, list(header)) if header else next(lines, (0, []))
    place = f"Line {first}" if first else "The header"
    _check_header(columns, f"{place} of {source}")
    number = 0
    for number, cells in lines:
        if len(cells) == len(columns):
            yield Row(f"Line {number}", dict(zip(columns, cells, strict=True)))
        elif incomplete == "error":
            found = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
            wanted = "1 column" if len(columns) == 1 else f"{len(columns)} columns"
            n = {"cells": found, "expected": wanted}
            where = {"place": f"Line {number}", "source": source}
            hint = too_many if len(cells) > len(columns) else ""
            names = {"columns": listed(columns), "hint": _separator_in(columns) or hint}
            raise ReaderError(Errors.BAD_CELLS.format(**where, **n, **names))
    if first and not number:
        only = {"source": source, "line": first, "columns": listed(columns)}
        raise ReaderError(Errors.ONLY_HEADER.format(**only))


def _separator_in(columns: Collection[str]) -> str:
    """Hint at what else may separate the columns of a table that has only one."""
    for separator in _OTHER_SEPARATORS if len(columns) == 1 else ():
        if separator in next(iter(columns)):
            return (
                f" Are its columns separated by {separator!r}? Save it with commas "
                f"(.csv) or tabs (.tsv)."
            )
    return ""


def _check_header(columns: list[str], place: str) -> None:
    if (twice := _first_twice(columns)) is not None:
        raise ReaderError(Errors.BAD_HEADER.format(place=place, column=twice))


def _first_twice(names: Iterable[str]) -> str | None:
    """Find the first name that was there before."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _json_rows(text: str, source: str) -> Iterator[Row]:
    for number, line in _lines(text):
        if not line.strip():
            continue
        place = f"Line {number}"
        try:
            cells = json.loads(line, object_pairs_hook=_distinct)
            kind = type(cells).__name__
            reason = None if isinstance(cells, dict) else f"it is a {kind}"
        except RecursionError:
            reason = "it has brackets in brackets in brackets, more than can be read"
        except ValueError as error:
            reason = str(error)
        if reason is not None:
            there = {"place": place, "source": source, "reason": reason}
            raise ReaderError(Errors.BAD_JSON.format(**there))
        yield Row(place, cells)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its keys and values. Of two with one key, none is lost."""
    if (twice := _first_twice(key for key, _ in pairs)) is not None:
        raise ValueError(f"it has the key {shown(twice)} twice")
    return dict(pairs)
