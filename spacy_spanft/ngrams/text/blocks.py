"""Text as blocks of bytes: whole lines, valid UTF-8, each block closed by a newline.

Blocks are what counting works on: large enough for array operations, small
enough that a corpus of any size streams through.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

from ...errors import CorpusError, Errors, shown

ErrorHandling: TypeAlias = Literal["strict", "replace"]

BLOCK_SIZE = 1 << 22
STDIN = "-"
_PACKED = (".gz", ".bz2", ".zst")
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
    if errors not in ("strict", "replace"):
        raise CorpusError(Errors.BAD_ERRORS.format(value=errors))
    files = [str(path) for path in paths]
    for path in files:  # before the first byte is read, not after an hour
        _check_path(path)
    for path in files:
        yield from _read_file(path, errors, block_size)


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
    # A lone surrogate is no character, and NUL is no text: neither is worth
    # stopping for when the text came from the user's own program.
    joined = "\n".join(texts).replace("\0", "�") + "\n"
    return joined.encode("utf8", errors="replace")


def _check_path(path: str) -> None:
    if path == STDIN:
        return
    if os.path.isdir(path):
        raise CorpusError(Errors.IS_FOLDER.format(path=path))
    if not os.path.exists(path):
        raise CorpusError(Errors.NOT_FOUND.format(path=path, cwd=os.getcwd()))
    if not os.access(path, os.R_OK):
        raise CorpusError(Errors.NOT_READABLE.format(path=path))


def _open(path: str, packed: bool) -> BinaryIO:
    if path == STDIN:
        if sys.stdin is None:
            raise CorpusError(Errors.NO_STDIN)
        return sys.stdin.buffer
    if packed:
        import pyarrow as pa

        stream: BinaryIO = pa.input_stream(path, compression="detect")
        return stream
    return open(path, "rb")


def _read_file(path: str, errors: ErrorHandling, block_size: int) -> Iterator[bytes]:
    suffix = Path(path).suffix
    packed = suffix in _PACKED
    where = {"path": path, "packed": " of the decompressed text" if packed else ""}
    offset, line = 0, 1
    try:
        with _open(path, packed) as file:
            for block in _whole_lines(file, block_size):
                if offset == 0 and block.startswith(_BOM):
                    block, offset = block[len(_BOM) :], len(_BOM)
                size, n_lines = len(block), block.count(b"\n")
                yield _valid(block, offset, line, where, errors)
                offset, line = offset + size, line + n_lines
    except OSError as error:
        if not packed:
            raise
        reason = str(error) or type(error).__name__
        raise CorpusError(
            Errors.BAD_ARCHIVE.format(path=path, reason=reason, suffix=suffix)
        ) from error


def _whole_lines(file: BinaryIO, block_size: int) -> Iterator[bytes]:
    """Cut a stream after the last newline of each read."""
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
    block: bytes, offset: int, line: int, where: dict[str, str], errors: ErrorHandling
) -> bytes:
    """Check that a block, which begins at a byte and a line, is text, or make it so."""

    def place(at: int) -> dict[str, Any]:
        there = {"offset": offset + at, "line": line + block.count(b"\n", 0, at)}
        return {**where, **there}

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
