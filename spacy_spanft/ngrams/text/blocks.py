"""Text as blocks of bytes: whole lines, valid UTF-8, each block closed by a newline.

Blocks are what counting works on: large enough for array operations, small
enough that a corpus of any size streams through.
"""

import os
import random
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias

from ...errors import CorpusError, shown

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
    """Read text files, including compressed ones (.gz, .bz2, .zst).

    paths (Iterable[Union[str, Path]]): The files; "-" is the standard input.
    errors (str): "strict" raises at the first NUL byte or broken UTF-8 sequence,
        "replace" puts U+FFFD in its place.
    block_size (int): How many bytes to read at once.
    YIELDS (bytes): Whole lines.
    """
    files = [str(path) for path in paths]
    for path in files:  # before the first byte is read, not after an hour
        check_path(path)
    for path in files:
        yield from _valid_blocks(path, errors, block_size)


def _valid_blocks(path: str, errors: ErrorHandling, block_size: int) -> Iterator[bytes]:
    offset, line = 0, 1
    for block in lines_of_file(path, block_size=block_size):
        if offset == 0 and block.startswith(_BOM):
            block, offset = block[len(_BOM) :], len(_BOM)
        try:
            valid = _valid(block, errors)
        except UnicodeDecodeError as error:
            problem = "is not valid UTF-8"
            if block[error.start] == 0:
                problem = "is not UTF-8 text, but holds a NUL byte"
            packed = " of the decompressed text" if is_packed(path) else ""
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


def blocks_from_texts(
    texts: Iterable[str], *, block_size: int = BLOCK_SIZE
) -> Iterator[bytes]:
    """Join texts into blocks. A text may hold several lines.

    block_size (int): How many characters to join at once.
    YIELDS (bytes): Whole lines.
    """
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


def check_path(path: str) -> None:
    """Raise for a file that does not exist; "-" is the standard input."""
    if path == STDIN:
        return
    if os.path.isdir(path):
        raise CorpusError(f"{path!r} is a folder. Name the text files in it.")
    if not os.path.exists(path):
        raise CorpusError(
            f"There is no file {path!r}. Paths are relative to the current folder, "
            f"{os.getcwd()!r}."
        )


def is_packed(path: str) -> bool:
    """Whether a file is compressed, by its name."""
    return Path(path).suffix in PACKED


def lines_of_file(path: str, *, block_size: int = BLOCK_SIZE) -> Iterator[bytes]:
    """Read a file in blocks that end with a line.

    path (str): The file, which may be compressed; "-" is the standard input.
    block_size (int): How many bytes to read at once.
    YIELDS (bytes): Whole lines, the last one with a newline in any case.
    """
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
    elif not is_packed(path):
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


class LineSample:
    """Keeps some lines of a corpus that streams by, at most 100 of each block."""

    def __init__(self) -> None:
        """Make an empty sample."""
        self.lines: list[bytes] = []
        self._random = random.Random(0)

    def watch(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Pass blocks on, and keep some lines of each, drawn at random."""
        for block in blocks:
            lines = [line for line in block.split(b"\n") if line.strip()]
            sample = self._random.sample(lines, min(len(lines), 100))
            self.lines.extend(line for line in sample if len(line) < 100_000)
            yield block
