"""Unpacking a file bit by bit: whoever made it does not say how much memory we need."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import DictionaryError, Errors

# Dictionaries are 3 times as large decompressed, 5 times if made up by a program; a
# bomb of zeros is 1,000 times as large.
LARGEST_RATIO = 50
ALWAYS_ALLOWED = 1 << 26
LONGEST_LINE = 1 << 24
_BLOCK_SIZE = 1 << 20


class GzipLines:
    """Reads the lines of what gzip compressed, and never much more than that."""

    def __init__(self, data: bytes, name: str) -> None:
        """Begin to read.

        data (bytes): The compressed file.
        name (str): What error messages call it.
        """
        self._name = name
        self._file = gzip.GzipFile(fileobj=io.BytesIO(data))
        self._left = max(ALWAYS_ALLOWED, LARGEST_RATIO * len(data))

    def line(self) -> str:
        """Read the next line.

        RETURNS (str): The line without its newline; "" at the end of the file.
        """
        return self._rest_of_line().removesuffix(b"\n").decode("utf8")

    def blocks(self) -> Iterator[str]:
        """Read all other lines.

        YIELDS (str): Whole lines; the last of all may lack its newline.
        """
        while block := self._read():
            # The rest of a line may be long, so it is read apart.
            yield (block + self._rest_of_line()).decode("utf8")

    def finish(self) -> None:
        """Read to the end, where the checksum is, and raise if the file is damaged."""
        while self._read():
            pass

    def _read(self) -> bytes:
        with self._damage():
            block = self._file.read(_BLOCK_SIZE)
        self._left -= len(block)
        if self._left < 0:
            reason = Errors.BOMB.format(ratio=LARGEST_RATIO)
            raise DictionaryError(
                Errors.NOT_A_DICTIONARY.format(path=self._name, reason=reason)
            )
        return block

    def _rest_of_line(self) -> bytes:
        with self._damage():
            line = self._file.readline(LONGEST_LINE)
        self._left -= len(line)
        if len(line) == LONGEST_LINE:
            reason = Errors.LONG_LINE.format(longest=LONGEST_LINE)
            raise DictionaryError(
                Errors.NOT_A_DICTIONARY.format(path=self._name, reason=reason)
            )
        return line

    @contextmanager
    def _damage(self) -> Iterator[None]:
        """Say what gzip finds out."""
        try:
            yield
        except (EOFError, zlib.error) as error:
            raise self._error(Errors.DAMAGED, error) from error
        except gzip.BadGzipFile as error:
            # A wrong checksum is damage; anything else never was a dictionary.
            is_damage = str(error).startswith(("CRC", "Incorrect length"))
            if is_damage:
                raise self._error(Errors.DAMAGED, error) from error
            place = {"path": self._name, "reason": "it is not gzip-compressed"}
            raise DictionaryError(Errors.NOT_A_DICTIONARY.format(**place)) from error

    def _error(self, message: str, error: Exception) -> DictionaryError:
        reason = reason_of(error)
        return DictionaryError(message.format(path=self._name, reason=reason))


def reason_of(error: Exception) -> str:
    """Say what a library says, as a part of a sentence.

    RETURNS (str): The reason.
    """
    text = str(error) or type(error).__name__
    return text[0].lower() + text[1:] if text[:2] != "CR" else text
