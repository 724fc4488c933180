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

import gzip
import json
import zlib
from typing import Any, NamedTuple

from ..about import __version__
from ..errors import DictionaryError, Errors

MAGIC = "#spacy-spanft-ngrams"
FORMAT_VERSION = 1
_COLUMNS = "ngram\tcount"
_LEVEL = 6
_LONGEST_COUNT = 19  # digits: what 64 bits hold


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
    header = {"format_version": FORMAT_VERSION, **table.header}
    lines = [f"{MAGIC} {json.dumps(header, sort_keys=True, ensure_ascii=False)}"]
    lines.append(_COLUMNS)
    for rows in (table.ngrams, table.words):
        lines.extend(f"{text}\t{count}" for text, count in rows.items())
    text = "\n".join(lines) + "\n"
    return gzip.compress(text.encode("utf8"), compresslevel=_LEVEL, mtime=0)


def unpack(data: bytes, name: str = "The data") -> Table:
    """Read a table. Nothing in it is ever executed.

    data (bytes): The file.
    name (str): What error messages call it.
    RETURNS (Table): What it holds.
    """
    if not data:
        raise DictionaryError(Errors.DAMAGED.format(path=name, reason="it is empty"))
    try:
        text = gzip.decompress(data).decode("utf8")
    except (EOFError, zlib.error) as error:
        raise DictionaryError(
            Errors.DAMAGED.format(path=name, reason=_reason(error))
        ) from error
    except (gzip.BadGzipFile, UnicodeDecodeError) as error:
        # A wrong checksum is damage; anything else never was a dictionary.
        known = str(error).startswith(("CRC", "Incorrect length"))
        message = Errors.DAMAGED if known else Errors.NOT_A_DICTIONARY
        raise DictionaryError(
            message.format(path=name, reason=_reason(error))
        ) from error
    header, _, body = text.partition("\n")
    settings = _read_header(header, name)
    columns, _, rows = body.partition("\n")
    if columns != _COLUMNS:
        reason = f"its second line is {columns[:60]!r}, not {_COLUMNS!r}"
        raise DictionaryError(Errors.NOT_A_DICTIONARY.format(path=name, reason=reason))
    ngrams, words = _read_rows(rows, name)
    return Table(settings, ngrams, words)


def _reason(error: Exception) -> str:
    text = str(error) or type(error).__name__
    return text[0].lower() + text[1:] if text[:2] != "CR" else text


def _read_header(line: str, name: str) -> dict[str, Any]:
    magic, _, settings = line.partition(" ")
    try:
        header = json.loads(settings) if magic == MAGIC else None
    except (json.JSONDecodeError, RecursionError):
        header = None
    if not isinstance(header, dict):
        reason = f"it does not begin with {MAGIC!r} and settings in JSON"
        raise DictionaryError(Errors.NOT_A_DICTIONARY.format(path=name, reason=reason))
    found = header.pop("format_version", None)
    if not isinstance(found, int) or found < 1:
        reason = f"its format version is {found!r}"
        raise DictionaryError(Errors.NOT_A_DICTIONARY.format(path=name, reason=reason))
    if found > FORMAT_VERSION:
        raise DictionaryError(
            Errors.NEWER_FORMAT.format(
                path=name, found=found, version=__version__, known=FORMAT_VERSION
            )
        )
    return header


def _read_rows(rows: str, name: str) -> tuple[dict[str, int], dict[str, int]]:
    ngrams: dict[str, int] = {}
    words: dict[str, int] = {}
    lines = rows.removesuffix("\n").split("\n") if rows else []
    for number, row in enumerate(lines, 3):
        text, _, count = row.partition("\t")
        is_count = count.isdecimal() and len(count) <= _LONGEST_COUNT and int(count)
        if not is_count or "  " in f" {text} ":
            reason = Errors.BAD_ROW.format(line=number, row=row[:80])
            raise DictionaryError(Errors.DAMAGED.format(path=name, reason=reason))
        (ngrams if " " in text else words)[text] = int(count)
    return ngrams, words
