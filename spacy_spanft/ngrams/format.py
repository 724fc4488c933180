"""The dictionary file: a table that any tool reads, in a gzip that checks itself.

    #spacy-spanft-ngrams {"attr": "LOWER", "format_version": 1, ...}
    ngram<tab>count
    of the<tab>592331
    ...
    the<tab>4512003

Below the header stand the n-grams, the most frequent first, then the single words
in them. gzip brings the checksum (CRC-32) and the length. To read it elsewhere:
`zcat en.tsv.gz | head`, or
`pandas.read_csv(path, sep="\\t", skiprows=1, quoting=3, keep_default_na=False)`.
"""

import json
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

from ..errors import DictionaryError, Errors, shown
from ..util.about import __version__
from .gunzip import LONGEST_LINE, GzipLines, reason_of
from .rows import BadRow, Rows

MAGIC = "#spacy-spanft-ngrams"
FORMAT_VERSION = 1
_COLUMNS = "ngram\tcount"
_LEVEL = 6
_GZIP = 31  # what zlib calls a gzip header: without a date and a name
_LINES_AT_ONCE = 1 << 15


class Table(NamedTuple):
    """What a dictionary file holds.

    header (dict[str, Any]): The settings and the provenance.
    ngrams (dict[str, int]): The n-grams with their counts, in the file's order.
    words (dict[str, int]): The single words with theirs.
    """

    header: dict[str, Any]
    ngrams: dict[str, int]
    words: dict[str, int]


def pack(table: Table) -> bytes:
    """Write a table.

    table (Table): What to write.
    RETURNS (bytes): The file. The same table always gives the same bytes.
    """
    rows = chain(table.ngrams.items(), table.words.items())
    return b"".join(packed(table.header, rows))


def packed(header: dict[str, Any], rows: Iterable[tuple[str, int]]) -> Iterator[bytes]:
    """Write a table bit by bit.

    header (dict[str, Any]): The settings and the provenance.
    rows (Iterable[tuple[str, int]]): The n-grams with their counts, then the words.
    YIELDS (bytes): The file in pieces. The same table always gives the same bytes.
    """
    header = {"format_version": FORMAT_VERSION, **header}
    first = f"{MAGIC} {json.dumps(header, sort_keys=True, ensure_ascii=False)}"
    lines = chain([first, _COLUMNS], (f"{text}\t{count}" for text, count in rows))
    packer = zlib.compressobj(_LEVEL, wbits=_GZIP)
    while some := list(islice(lines, _LINES_AT_ONCE)):
        longest = max(some, key=len)
        if 4 * len(longest) >= LONGEST_LINE:  # a character has up to four bytes
            size = {"size": len(longest), "longest": LONGEST_LINE // 4}
            message = Errors.LONG_NGRAM.format(start=longest[:80], **size)
            raise DictionaryError(message)
        # The name of a source may hold half a character; as \udcff JSON can say it.
        text = ("\n".join(some) + "\n").encode("utf8", errors="backslashreplace")
        yield packer.compress(text)
    yield packer.flush()


def unpack(data: bytes, name: str = "The data") -> Table:
    """Read a table. Nothing in it is ever executed.

    data (bytes): The file.
    name (str): What error messages call it.
    RETURNS (Table): What it holds.
    """
    if not data:
        raise DictionaryError(Errors.DAMAGED.format(path=name, reason="it is empty"))
    lines = GzipLines(data, name)
    try:
        return _read(lines, name)
    except (DictionaryError, UnicodeDecodeError) as error:
        # Where the checksum is wrong, that is the cause of all else.
        lines.finish()
        if isinstance(error, DictionaryError):
            raise
        raise DictionaryError(
            Errors.NOT_A_DICTIONARY.format(path=name, reason=reason_of(error))
        ) from error


def _read(lines: GzipLines, name: str) -> Table:
    header = _read_header(lines.line(), name)
    columns = lines.line()
    if columns != _COLUMNS:
        reason = f"its second line is {columns[:60]!r}, not {_COLUMNS!r}"
        raise DictionaryError(Errors.NOT_A_DICTIONARY.format(path=name, reason=reason))
    rows = Rows(is_folded=header.get("attr", "LOWER") == "LOWER", first=3)
    try:
        for text in lines.blocks():
            rows.add(text if text.endswith("\n") else f"{text}\n")
    except BadRow as error:
        reason = str(error).rstrip(".")
        message = Errors.DAMAGED.format(path=name, reason=reason)
        raise DictionaryError(message) from error
    ngrams = rows.counts
    words = {text: ngrams.pop(text) for text in [t for t in ngrams if " " not in t]}
    return Table(header, ngrams, words)


def _read_header(line: str, name: str) -> dict[str, Any]:
    magic, _, settings = line.partition(" ")
    try:
        header = json.loads(settings) if magic == MAGIC else None
    except (ValueError, RecursionError):  # no JSON, or a number of 5,000 digits
        header = None
    if not isinstance(header, dict):
        reason = f"it does not begin with {MAGIC!r} and settings in JSON"
        raise DictionaryError(Errors.NOT_A_DICTIONARY.format(path=name, reason=reason))
    found = header.pop("format_version", None)
    if not isinstance(found, int) or found < 1:
        reason = f"its format version is {shown(found)}"
        raise DictionaryError(Errors.NOT_A_DICTIONARY.format(path=name, reason=reason))
    if found > FORMAT_VERSION:
        known = {"known": FORMAT_VERSION, "version": __version__}
        raise DictionaryError(
            Errors.NEWER_FORMAT.format(path=name, found=str(found)[:20], **known)
        )
    return header
