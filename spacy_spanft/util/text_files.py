"""Text files, also compressed or in another encoding, as blocks of bytes or as lines.

A block is whole lines of valid UTF-8, the last one with its newline: large enough for
array operations, and small enough that a file of any size streams through.
"""

import codecs
import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias

from ..errors import SpanftError, reported
from .files import check_exists

ErrorHandling: TypeAlias = Literal["strict", "replace"]

BLOCK_SIZE = 1 << 22
STDIN = "-"
PACKED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
UTF8 = "utf-8"
_BOM = b"\xef\xbb\xbf"


def blocks_from_files(
    paths: Iterable[str | Path],
    *,
    errors: ErrorHandling = "strict",
    encoding: str = UTF8,
    block_size: int = BLOCK_SIZE,
) -> Iterator[bytes]:
    """Read text files, including compressed ones (.gz, .bz2, .zst).

    errors (str): "strict" raises at the first NUL byte or invalid sequence, "replace"
        puts U+FFFD in its place.
    YIELDS (bytes): Whole lines, in UTF-8.
    """
    for path in checked_files(paths):
        yield from _valid_blocks(path, errors, encoding, block_size)


def lines_of(
    path: str | Path, errors: ErrorHandling, encoding: str = UTF8
) -> Iterator[str]:
    r"""Read the lines of a file, compressed or not, with their ends: \n, \r\n or \r."""
    for block in blocks_from_files([path], errors=errors, encoding=encoding):
        yield from io.StringIO(block.decode("utf8"), newline="")


def checked_files(paths: Iterable[str | Path]) -> list[str]:
    """Raise for a missing file before the first one is read, not after an hour."""
    files = [str(path) for path in paths]
    for path in files:
        if path != STDIN:
            check_exists(path)
    return files


def is_packed(path: str | Path) -> bool:
    """Whether a file is compressed, by its ending."""
    return Path(path).suffix.lower() in PACKED


def _valid_blocks(
    path: str, errors: ErrorHandling, encoding: str, block_size: int
) -> Iterator[bytes]:
    offset, line = 0, 1
    for block in _lines_of_file(path, block_size, encoding, errors):
        if offset == 0 and block.startswith(_BOM):
            block, offset = block[len(_BOM) :], len(_BOM)
        try:
            valid = _valid(block, errors)
        except UnicodeDecodeError as error:
            problem, names = "is not valid UTF-8", "cp1252, latin-1 or utf-16"
            if block[error.start] == 0:
                problem, names = "is not UTF-8 text, but holds a NUL byte", "utf-16"
            packed = " of the decompressed text" if is_packed(path) else ""
            line += block.count(b"\n", 0, error.start)
            raise SpanftError(
                f"{path!r} {problem} at byte {offset + error.start}{packed} (line "
                f"{line}). If it is text, name its encoding (--encoding {names}), or "
                "pass errors='replace' (--errors replace)."
            ) from error
        yield valid
        offset, line = offset + len(block), line + block.count(b"\n")


def _valid(block: bytes, errors: ErrorHandling) -> bytes:
    if errors == "replace":
        text = block.replace(b"\0", "\ufffd".encode()).decode("utf8", errors)
        return text.encode()
    nul = block.find(b"\0")
    if nul >= 0:
        raise UnicodeDecodeError("utf8", block, nul, nul + 1, "NUL byte")
    block.decode("utf8")  # proves that it is text
    return block


def _lines_of_file(
    path: str, block_size: int, encoding: str, errors: ErrorHandling
) -> Iterator[bytes]:
    rest: list[bytes] = []
    with _opened(path) as file:
        for data in _utf8(file, path, block_size, encoding, errors):
            cut = data.rfind(b"\n") + 1
            if cut:
                yield b"".join((*rest, data[:cut]))
                rest = []
            if cut < len(data):
                rest.append(data[cut:])
    if rest:
        yield b"".join((*rest, b"\n"))


def _utf8(
    file: BinaryIO, path: str, size: int, encoding: str, errors: ErrorHandling
) -> Iterator[bytes]:
    """Yield the data of a file part by part, from its encoding to UTF-8."""
    parts = iter(partial(file.read, size), b"")
    try:
        if codecs.lookup(encoding).name == UTF8:
            yield from parts
        else:
            yield from map(str.encode, codecs.iterdecode(parts, encoding, errors))
    except (LookupError, UnicodeError) as error:
        raise SpanftError(
            f"{path!r} cannot be read as {encoding}: {error}. Name its encoding with "
            "encoding=... (--encoding): utf-8, latin-1, cp1252 or utf-16."
        ) from error


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    if path == STDIN:
        yield sys.stdin.buffer
    elif not is_packed(path):
        with open(path, "rb") as file:
            yield file
    else:
        import pyarrow as pa

        suffix = Path(path).suffix
        message = (
            f"{path!r} cannot be decompressed: it is damaged, or its ending "
            f"({suffix}) is not that of its compression"
        )
        with (
            reported(message, OSError),
            pa.input_stream(path, compression=PACKED[suffix.lower()]) as stream,
        ):
            yield stream
