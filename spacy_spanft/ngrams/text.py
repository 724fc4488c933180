"""Text from files, tables, datasets and iterables, as blocks of bytes.

A block is whole lines of valid UTF-8, the last one with its newline: large enough for
array operations, and small enough that a corpus of any size streams through.
"""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

from ..errors import CorpusError, listed, shown

ErrorHandling: TypeAlias = Literal["strict", "replace"]

BLOCK_SIZE = 1 << 22
STDIN = "-"
PACKED = (".gz", ".bz2", ".zst")
_BOM = b"\xef\xbb\xbf"
_ROWS_AT_ONCE = 1 << 13

# Lines of files


def blocks_from_files(
    paths: Iterable[str | Path],
    *,
    errors: ErrorHandling = "strict",
    block_size: int = BLOCK_SIZE,
) -> Iterator[bytes]:
    """Read text files, including compressed ones (.gz, .bz2, .zst).

    paths (Iterable[Union[str, Path]]): The files; "-" is the standard input.
    errors (str): "strict" raises at the first NUL byte or broken UTF-8 sequence,
        "replace" puts U+FFFD in its place.
    block_size (int): How many bytes to read at once.
    YIELDS (bytes): Whole lines.
    """
    for path in _checked(paths):
        yield from _valid_blocks(path, errors, block_size)


def _checked(paths: Iterable[str | Path]) -> list[str]:
    """Raise for a missing file before the first one is read, not after an hour."""
    files = [str(path) for path in paths]
    for path in files:
        if os.path.isdir(path):
            raise CorpusError(f"{path!r} is a folder. Name the text files in it.")
        if path != STDIN and not os.path.exists(path):
            raise CorpusError(
                f"There is no file {path!r}. Paths are relative to the current "
                f"folder, {os.getcwd()!r}."
            )
    return files


def _valid_blocks(path: str, errors: ErrorHandling, block_size: int) -> Iterator[bytes]:
    offset, line = 0, 1
    for block in _lines_of_file(path, block_size):
        if offset == 0 and block.startswith(_BOM):
            block, offset = block[len(_BOM) :], len(_BOM)
        try:
            valid = _valid(block, errors)
        except UnicodeDecodeError as error:
            problem = "is not valid UTF-8"
            if block[error.start] == 0:
                problem = "is not UTF-8 text, but holds a NUL byte"
            packed = " of the decompressed text" if _is_packed(path) else ""
            line += block.count(b"\n", 0, error.start)
            raise CorpusError(
                f"{path!r} {problem} at byte {offset + error.start}{packed} (line "
                f"{line}). Convert it, e.g. iconv -f LATIN1 -t UTF-8 FILE, or, if only "
                "a few bytes are invalid, pass errors='replace' (--errors replace)."
            ) from error
        yield valid
        offset, line = offset + len(block), line + block.count(b"\n")


def _valid(block: bytes, errors: ErrorHandling) -> bytes:
    nul = block.find(b"\0")
    if nul >= 0 and errors == "strict":
        raise UnicodeDecodeError("utf8", block, nul, nul + 1, "NUL byte")
    if nul >= 0:
        block = block.replace(b"\0", "\ufffd".encode())
    try:
        block.decode("utf8")  # proves that it is text
    except UnicodeDecodeError:
        if errors == "strict":
            raise
        block = block.decode("utf8", errors="replace").encode("utf8")
    return block


def _lines_of_file(path: str, block_size: int) -> Iterator[bytes]:
    rest: list[bytes] = []
    with _opened(path) as file:
        while data := file.read(block_size):
            cut = data.rfind(b"\n") + 1
            if cut:
                yield b"".join((*rest, data[:cut]))
                rest = []
            if cut < len(data):
                rest.append(data[cut:])
    if rest:
        yield b"".join((*rest, b"\n"))


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    if path == STDIN:
        yield sys.stdin.buffer
    elif not _is_packed(path):
        with open(path, "rb") as file:
            yield file
    else:
        import pyarrow as pa

        try:
            with pa.input_stream(path, compression="detect") as stream:
                yield stream
        except OSError as error:
            raise CorpusError(
                f"{path!r} cannot be decompressed ({error}). It is damaged, or its "
                f"ending ({Path(path).suffix}) is not that of its compression."
            ) from error


def _is_packed(path: str) -> bool:
    return Path(path).suffix in PACKED


# Texts


def blocks_from_texts(
    texts: Iterable[str], *, block_size: int = BLOCK_SIZE
) -> Iterator[bytes]:
    """Join texts, which may hold several lines, into blocks of so many characters."""
    if isinstance(texts, str):
        raise CorpusError(
            "texts is a single string, but must be a list of strings. For the lines of "
            "a file, use NgramDictionary.from_files."
        )
    waiting: list[str] = []
    size = 0
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise CorpusError(f"Text {index} is {shown(text)}, not a string.")
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


# Columns of JSONL and Parquet


def blocks_of(
    paths: Iterable[str | Path],
    *,
    column: str = "text",
    errors: ErrorHandling = "strict",
) -> Iterator[bytes]:
    """Read files one after the other: text, JSONL and Parquet, by their endings.

    column (str): The column or key that holds the text.
    errors (str): "strict" raises for invalid UTF-8 and null, "replace" continues.
    """
    for path in _checked(paths):
        suffix = Path(Path(path).stem if _is_packed(path) else path).suffix
        if suffix in (".jsonl", ".ndjson"):
            rows = _jsonl_rows(path, column, errors)
        elif suffix == ".parquet":
            rows = _parquet_rows(path, column)
        else:
            yield from blocks_from_files([path], errors=errors)
            continue
        yield from blocks_from_texts(_texts(rows, path, column, errors))


def _texts(
    rows: Iterable[tuple[str, Any]], source: str, column: str, errors: ErrorHandling
) -> Iterator[str]:
    """Raise for cells that are not texts; "replace" skips null."""
    for where, value in rows:
        if isinstance(value, str):
            yield value
        elif value is not None or errors == "strict":
            raise CorpusError(
                f"{where} of {source!r} has {shown(value)} in column {column!r}, which "
                "is not a text. Name another column with column=... (--column); "
                "errors='replace' (--errors replace) skips null."
            )


def _jsonl_rows(
    path: str, column: str, errors: ErrorHandling
) -> Iterator[tuple[str, Any]]:
    number = 0
    for block in _lines_of_file(path, 1 << 20):
        for line in block.split(b"\n")[:-1]:
            number += 1
            where = f"Line {number:,}"
            if not line.strip():
                continue
            try:
                row = json.loads(line.decode("utf-8-sig", errors))
            except (ValueError, RecursionError) as error:
                raise CorpusError(
                    f"{where} of {path!r} is not a JSON object: {error}."
                ) from error
            if not isinstance(row, dict) or column not in row:
                raise _no_column(where, path, column, row)
            yield where, row[column]


def _parquet_rows(path: str, column: str) -> Iterator[tuple[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            if column not in names:
                raise _no_column("The schema", path, column, names)
            for batch in file.iter_batches(_ROWS_AT_ONCE, columns=[column]):
                for value in batch.column(0).to_pylist():
                    number += 1
                    yield f"Row {number:,}", value
    except (pa.ArrowException, OSError) as error:
        raise CorpusError(
            f"{path!r} cannot be read as a Parquet file ({error}). Is it damaged, or "
            "another kind of file?"
        ) from error


def _no_column(where: str, source: str, column: str, row: Any) -> CorpusError:
    columns = listed(row) if isinstance(row, dict | list) else shown(row)
    return CorpusError(
        f"{where} of {source!r} has no column {column!r}, but: {columns}. Name one "
        "with column=... (--column)."
    )


# Datasets


def texts_from_dataset(
    name: str,
    config: str | None = None,
    *,
    split: str = "train",
    column: str = "text",
    streaming: bool = True,
) -> Iterator[str]:
    """Read the texts in one column of a dataset that are not empty."""
    dataset = load_split(name, config, split, streaming)
    columns = list(dataset.column_names or dataset.features or [column])
    if column not in columns:
        raise _no_column("The table", name, column, columns)
    rows = ((f"Row {number:,}", row[column]) for number, row in enumerate(dataset, 1))
    yield from filter(None, _texts(rows, name, column, "replace"))


def load_split(name: str, config: str | None, split: str, streaming: bool) -> Any:
    """Load one split of a dataset, as a `Dataset` or `IterableDataset`.

    name (str): Its name on the hub, or a local folder: one that `Dataset.save_to_disk`
        wrote, or one of JSONL, CSV, Parquet or text files.
    """
    import datasets

    folder = Path(name)
    if folder.is_file():
        raise CorpusError(
            f"{name!r} is a file, not a dataset. Files are read by "
            "NgramDictionary.from_files (name them without --dataset)."
        )
    is_saved = any((folder / f).exists() for f in ("dataset_dict.json", "state.json"))
    try:
        if not is_saved:
            return datasets.load_dataset(name, config, split=split, streaming=streaming)
        saved = datasets.load_from_disk(name)
    except Exception as error:  # whatever YAML, Arrow and the network raise
        raise CorpusError(f"Dataset {name!r} cannot be loaded: {error}") from error
    if not isinstance(saved, dict):
        saved = {str(saved.split or "train"): saved}
    if split not in saved:
        raise CorpusError(
            f"There is no split {split!r} in dataset {name!r}. It has: "
            f"{listed(saved)}. Choose one with split=... (--split)."
        )
    return saved[split]
