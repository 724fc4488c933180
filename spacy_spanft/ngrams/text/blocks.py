"""Text as blocks of bytes: whole lines, valid UTF-8, each block closed by a newline.

Blocks are what counting works on: large enough for array operations, small
enough that a corpus of any size streams through.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, TypeAlias

from ...errors import CorpusError, Errors, shown

ErrorHandling: TypeAlias = Literal["strict", "replace"]

BLOCK_SIZE = 1 << 22
STDIN = "-"
PACKED = (".gz", ".bz2", ".zst")
_BOM = b"\xef\xbb\xbf"


def blocks_from_files(
    paths: Iterable[str | Path],
    *,
    errors: ErrorHandling = "strict",
    block_size: int = BLOCK_SIZE,
) -> Iterator[bytes]:
    """Read text files, compressed ones (.gz, .bz2, .zst) as well.

    paths (Iterable[Union[str, Path]]): The files; "-" is the standard input.
    errors (str): "strict" raises at the first NUL byte or broken UTF-8 sequence,
        "replace" puts U+FFFD there and goes on.
    block_size (int): How many bytes to read at once.
    YIELDS (bytes): Whole lines.
    """
    check_errors(errors)
    files = [str(path) for path in paths]
    for path in files:  # before the first byte is read, not after an hour
        check_path(path)
    for path in files:
        packed = is_packed(path)
        with unpacking(path), open_file(path, packed) as file:
            yield from _valid_blocks(file, path, errors, block_size)


def blocks_from_range(
    path: str,
    start: int,
    end: int,
    *,
    errors: ErrorHandling = "strict",
    block_size: int = BLOCK_SIZE,
) -> Iterator[bytes]:
    """Read some bytes of a text file that is not compressed.

    path (str): The file.
    start (int): The byte at which to begin, where a line does.
    end (int): The byte before which to end, where a line does or the file.
    errors (str): As for `blocks_from_files`.
    block_size (int): How many bytes to read at once.
    YIELDS (bytes): Whole lines.
    """
    with open(path, "rb") as file:
        file.seek(start)
        piece: Any = Limited(file, end - start)
        yield from _valid_blocks(piece, path, errors, block_size, start)


class Limited:
    """A file of which no more than some bytes are read."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        """Begin where the file is.

        file (BinaryIO): The file.
        size (int): How many bytes to read.
        """
        self._file = file
        self._left = size

    def read(self, size: int) -> bytes:
        """Read some bytes.

        size (int): How many at most.
        RETURNS (bytes): The bytes; none at the end.
        """
        data = self._file.read(min(size, self._left))
        self._left -= len(data)
        return data


def check_errors(errors: str) -> None:
    """Raise for a way to treat errors that there is not.

    errors (str): "strict" or "replace".
    """
    if errors not in ("strict", "replace"):
        raise CorpusError(Errors.BAD_ERRORS.format(value=errors))


def blocks_from_texts(
    texts: Iterable[str], *, block_size: int = BLOCK_SIZE
) -> Iterator[bytes]:
    """Join texts into blocks. A text may hold several lines.

    block_size (int): How many characters to join at once.
    YIELDS (bytes): Whole lines.
    """
    if isinstance(texts, str):
        raise CorpusError(Errors.ONE_STRING)
    if not isinstance(texts, Iterable):
        raise CorpusError(Errors.NOT_TEXTS.format(value=shown(texts)))
    waiting: list[str] = []
    size = 0
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise CorpusError(
                Errors.NOT_A_STRING.format(index=index, type=type(text).__name__)
            )
        waiting.append(text)
        size += len(text) + 1
        if size >= block_size:
            yield _encode(waiting)
            waiting, size = [], 0
    if waiting:
        yield _encode(waiting)


def _encode(texts: list[str]) -> bytes:
    # A lone surrogate is not a character, and NUL is not text: neither is worth
    # stopping for when the text came from the user's own program.
    joined = "\n".join(texts).replace("\0", "�") + "\n"
    return joined.encode("utf8", errors="replace")


def check_path(path: str) -> None:
    """Raise for a file that cannot be read.

    path (str): The file; "-" is the standard input.
    """
    if path == STDIN:
        return
    if os.path.isdir(path):
        raise CorpusError(Errors.IS_FOLDER.format(path=path))
    if not os.path.exists(path):
        raise CorpusError(Errors.NOT_FOUND.format(path=path, cwd=os.getcwd()))
    if not os.access(path, os.R_OK):
        raise CorpusError(Errors.NOT_READABLE.format(path=path))


def is_packed(path: str) -> bool:
    """Say by its name whether a file is compressed.

    path (str): The file.
    RETURNS (bool): Whether it is.
    """
    return Path(path).suffix in PACKED


def open_file(path: str, packed: bool) -> BinaryIO:
    """Open a file to be read.

    path (str): The file; "-" is the standard input.
    packed (bool): Whether it is compressed.
    RETURNS (BinaryIO): What it holds.
    """
    if path == STDIN:
        if sys.stdin is None:
            raise CorpusError(Errors.NO_STDIN)
        return sys.stdin.buffer
    if packed:
        import pyarrow as pa

        stream: BinaryIO = pa.input_stream(path, compression="detect")
        return stream
    return open(path, "rb")


@contextmanager
def unpacking(path: str) -> Iterator[None]:
    """Say of a compressed file what is wrong with it.

    path (str): The file.
    """
    try:
        yield
    except OSError as error:
        if not is_packed(path):
            raise
        reason = str(error) or type(error).__name__
        suffix = Path(path).suffix
        raise CorpusError(
            Errors.BAD_ARCHIVE.format(path=path, reason=reason, suffix=suffix)
        ) from error


def _valid_blocks(
    file: BinaryIO, path: str, errors: ErrorHandling, block_size: int, start: int = 0
) -> Iterator[bytes]:
    packed = " of the decompressed text" if is_packed(path) else ""
    where = _Where(path, packed, start)
    offset, line = start, 1
    for block in whole_lines(file, block_size):
        if offset == 0 and block.startswith(_BOM):
            block, offset = block[len(_BOM) :], len(_BOM)
        size, n_lines = len(block), block.count(b"\n")
        yield _valid(block, offset, line, where, errors)
        offset, line = offset + size, line + n_lines


class _Where(NamedTuple):
    """Where text is read from.

    packed (str): What is said of a compressed file.
    start (int): At which byte it begins.
    """

    path: str
    packed: str
    start: int


def count_lines(path: str, end: int) -> int:
    """Count the lines before a byte of a file: only errors need it.

    path (str): The file.
    end (int): The byte.
    RETURNS (int): How many newlines come before it.
    """
    n_lines = 0
    with open(path, "rb") as file:
        piece = Limited(file, end)
        while data := piece.read(BLOCK_SIZE):
            n_lines += data.count(b"\n")
    return n_lines


def whole_lines(file: BinaryIO, block_size: int) -> Iterator[bytes]:
    """Cut a stream after the last newline of each read.

    file (BinaryIO): The stream.
    block_size (int): How many bytes to read at once.
    YIELDS (bytes): Whole lines, the last one with a newline in any case.
    """
    rest: list[bytes] = []
    while data := file.read(block_size):
        cut = data.rfind(b"\n") + 1
        if cut:
            yield b"".join((*rest, data[:cut]))
            rest = []
        if cut < len(data):
            rest.append(data[cut:])
    if rest:
        yield b"".join((*rest, b"\n"))


def _valid(
    block: bytes, offset: int, line: int, where: _Where, errors: ErrorHandling
) -> bytes:
    """Check that a block, which begins at a byte and a line, is text, or make it so."""

    def place(at: int) -> dict[str, Any]:
        lines = line + block.count(b"\n", 0, at)
        if where.start:
            lines += count_lines(where.path, where.start)
        there = {"path": where.path, "packed": where.packed}
        return {**there, "offset": offset + at, "line": lines}

    nul = block.find(b"\0")
    if nul >= 0:
        if errors == "strict":
            raise CorpusError(Errors.NUL_BYTE.format(**place(nul)))
        block = block.replace(b"\0", "�".encode())
    try:
        # The text itself is not needed yet, only the proof that it is some.
        block.decode("utf8")
    except UnicodeDecodeError as error:
        if errors == "strict":
            byte = {"byte": block[error.start], "reason": error.reason}
            message = Errors.BAD_UTF8.format(**place(error.start), **byte)
            raise CorpusError(message) from error
        block = block.decode("utf8", errors="replace").encode("utf8")
    return block
