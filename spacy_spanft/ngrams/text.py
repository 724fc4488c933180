"""Text from files, tables, datasets and iterables, as blocks of lines."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..errors import SpanftError, listed, shown
from ..util.columns import find_columns
from ..util.tables import TEXT, format_of, load_split, read_table
from ..util.text_files import BLOCK_SIZE, UTF8, ErrorHandling, blocks_from_files


def blocks_from_texts(
    texts: Iterable[str], *, block_size: int = BLOCK_SIZE
) -> Iterator[bytes]:
    """Join texts, which may hold several lines, into blocks of so many characters."""
    if isinstance(texts, str):
        raise SpanftError(
            "texts is a single string, but must be a list of strings. For the lines of "
            "a file, use NgramDictionary.from_files."
        )
    waiting: list[str] = []
    size = 0
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise SpanftError(f"Text {index} is {shown(text)}, not a string.")
        waiting.append(text)
        size += len(text) + 1
        if size >= block_size:
            yield _encode(waiting)
            waiting, size = [], 0
    if waiting:
        yield _encode(waiting)


def _encode(texts: list[str]) -> bytes:
    # Lone surrogates and NUL are not worth stopping for in texts of the user's program.
    joined = "\n".join(texts).replace("\0", "\ufffd") + "\n"
    return joined.encode("utf8", errors="replace")


def blocks_of(
    paths: Iterable[str | Path],
    *,
    column: str | None = None,
    errors: ErrorHandling = "strict",
    encoding: str = UTF8,
) -> Iterator[bytes]:
    """Read text files, and a column of tables; their endings tell which is which."""
    how: Any = {"errors": errors, "encoding": encoding}
    for path in paths:
        if format_of(path) is None:
            yield from blocks_from_files([path], **how)
        else:
            yield from blocks_from_texts(texts_of_table(path, column, **how))


def texts_of_table(
    path: str | Path, column: str | None = None, **how: Any
) -> Iterator[str]:
    """Read the texts of a table, as `blocks_of`."""
    typed = {} if column is None else {TEXT: column}
    column = find_columns(path, typed, option="column", **how)[TEXT]
    table = ((row.place, row.cells) for row in read_table(path, only=[column], **how))
    yield from _texts(table, str(path), column, how.get("errors", "strict"))


def _texts(
    rows: Iterable[tuple[str, dict[str, Any]]],
    source: str,
    column: str,
    errors: ErrorHandling,
) -> Iterator[str]:
    """Raise for cells that are not texts; "replace" skips null."""
    for place, cells in rows:
        if column not in cells:
            raise SpanftError(
                f"{place} of {source!r} has no column {column!r}, but: "
                f"{listed(cells)}. Name one with column=... (--column)."
            )
        value = cells[column]
        if isinstance(value, str):
            yield value
        elif value is not None or errors == "strict":
            raise SpanftError(
                f"{place} of {source!r} has {shown(value)} in column {column!r}, which "
                "is not a text. Name another column with column=... (--column); "
                "errors='replace' (--errors replace) skips null."
            )


def texts_from_dataset(
    name: str, config: str | None, split: str, column: str, streaming: bool
) -> Iterator[str]:
    """Read the texts in one column of a dataset that are not empty."""
    dataset = load_split(name, config, split, streaming)
    rows = ((f"Row {number:,}", row) for number, row in enumerate(dataset, 1))
    yield from filter(None, _texts(rows, name, column, "replace"))
