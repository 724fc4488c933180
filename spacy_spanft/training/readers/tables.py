"""Tables in files: TSV, CSV and JSONL, which may be compressed. They stream."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ...errors import Errors, ReaderError
from ...errors.shortening import counted, listed, shown
from ...ngrams.text.blocks import PACKED, ErrorHandling, blocks_from_files
from .rows import Incomplete, Row, check_choice, separator_in

OnError: TypeAlias = Callable[[str, ReaderError], None]
Format = Literal["tsv", "csv", "jsonl"]
FORMATS: dict[str, Format] = {
    ".tsv": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
# The csv module refuses longer cells than 131,072 characters unless told otherwise.
_LONGEST_CELL = 2**31 - 1

_QUOTING = ' A cell with commas in it must stand in quotation marks: "one, two".'
# What the csv module says, in words that tell where to look.
_CSV_REASONS = {
    "unexpected end of data": "a quotation mark in it is never closed",
}


def check_format(format: str | None) -> None:
    """Raise for a format that is not known.

    format (Optional[str]): The format; None goes by the file's ending.
    """
    if format is not None:
        check_choice("format", format, sorted(set(FORMATS.values())))


def columns_of(path: str | Path, *, format: Format | None = None) -> list[str]:
    """Read what the first line of a table holds, or the keys of the first JSON object.

    path (Union[str, Path]): The file, which may be compressed.
    format (Optional[Literal["tsv", "csv", "jsonl"]]): None goes by the file's ending.
    RETURNS (list[str]): The names of the columns, if the file has any.
    """
    format = _format_of(path, format)
    # What is no UTF-8 raises when the rows are read.
    first = islice(blocks_from_files([path], errors="replace"), 1)
    texts = (block.decode("utf8") for block in first)
    source = shown(str(path))
    if format == "jsonl":
        return [name for row in islice(_json_rows(texts, source), 1) for name in row[1]]
    lines = _split_tsv(texts) if format == "tsv" else _split_csv(texts, source)
    return next(lines, (0, []))[1]


def rows_from_file(
    path: str | Path,
    *,
    format: Format | None = None,
    header: Sequence[str] | None = None,
    errors: ErrorHandling = "strict",
    incomplete: Incomplete = "error",
    on_error: OnError | None = None,
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
    on_error (Optional[Callable[[str, ReaderError], None]]): Called with the place of a
        row that cannot be read, and the error; None raises it.
    YIELDS (Row): The rows, as the file is read.
    """
    format = _format_of(path, format)
    source = shown(str(path))
    if format == "jsonl" and header is not None:
        raise ReaderError(Errors.HEADER_OF_JSON.format(source=source))
    report = on_error or _raise
    texts = (block.decode("utf8") for block in blocks_from_files([path], errors=errors))
    if format == "jsonl":
        return _json_rows(texts, source, report)
    if format == "tsv":
        return _table_rows(_split_tsv(texts), source, header, incomplete, report)
    lines = _split_csv(texts, source)
    return _table_rows(lines, source, header, incomplete, report, _QUOTING)


def _raise(place: str, error: ReaderError) -> None:
    raise error


def read_text(path: str | Path, errors: ErrorHandling) -> str:
    """Read all of a file, which may be compressed.

    path (Union[str, Path]): The file.
    errors (str): "strict" raises at bytes that are no UTF-8, "replace" replaces them.
    RETURNS (str): The text. It ends in a newline, and has no byte order mark.
    """
    data = b"".join(blocks_from_files([path], errors=errors))
    return data.decode("utf8").removeprefix("\ufeff")


def _format_of(path: str | Path, format: Format | None) -> Format:
    check_format(format)
    if format is not None:
        return format
    file = Path(path)
    ending = file.with_suffix("").suffix if file.suffix in PACKED else file.suffix
    if ending.lower() not in FORMATS:
        raise ReaderError(Errors.NO_FORMAT.format(path=str(path)))
    return FORMATS[ending.lower()]


def _lines(texts: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Cut blocks into lines, which very old files end with carriage returns alone."""
    number = 0
    for text in texts:
        # Such a file is a block, as it has no other lines to be cut at.
        is_old = not number and "\r" in text and "\n" not in text[:-1]
        for line in text.removesuffix("\n").split("\r" if is_old else "\n"):
            number += 1
            if line.strip("\r"):
                yield number, line.rstrip("\r")


def _split_tsv(texts: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    for number, line in _lines(texts):
        yield number, line.split("\t")


def _split_csv(texts: Iterable[str], source: str) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(_LONGEST_CELL)
    # Lines that end as they do in the file, as quoted cells may have some in them.
    lines = chain.from_iterable(io.StringIO(text, newline="") for text in texts)
    reader = csv.reader(lines, strict=True)
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
    report: OnError,
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
            n = {
                "cells": counted(len(cells), "cell"),
                "expected": counted(len(columns), "column"),
            }
            where = {"place": f"Line {number}", "source": source}
            hint = too_many if len(cells) > len(columns) else ""
            names = {"columns": listed(columns), "hint": separator_in(columns) or hint}
            error = ReaderError(Errors.BAD_CELLS.format(**where, **n, **names))
            report(f"Line {number}", error)
    if first and not number:
        only = {"source": source, "line": first, "columns": listed(columns)}
        raise ReaderError(Errors.ONLY_HEADER.format(**only))


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


def _json_rows(
    texts: Iterable[str], source: str, report: OnError = _raise
) -> Iterator[Row]:
    for number, line in _lines(texts):
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
            report(place, ReaderError(Errors.BAD_JSON.format(**there)))
        else:
            yield Row(place, cells)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its keys and values. Of two with one key, none is lost."""
    if (twice := _first_twice(key for key, _ in pairs)) is not None:
        raise ValueError(f"it has the key {shown(twice)} twice")
    return dict(pairs)
