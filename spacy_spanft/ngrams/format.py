"""The dictionary file: a gzip-compressed table that any tool reads.

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
import re
import zlib
from itertools import chain
from typing import Any

from ..errors import SpanftError, shown
from ..util import __version__

MAGIC = "#spacy-spanft-ngrams"
FORMAT_VERSION = 1
_COLUMNS = "ngram\tcount"
_LEVEL = 6
_GZIP = 31  # zlib's name for a gzip header, here without a date and a name
_ROW = re.compile(r"^(\S+(?: \S+)*)\t([1-9][0-9]{0,18})$", re.MULTILINE)


def pack(
    header: dict[str, Any], ngrams: dict[str, int], words: dict[str, int]
) -> bytes:
    """Write a header, n-grams and words; the same ones always give the same bytes."""
    header = {"format_version": FORMAT_VERSION, **header}
    first = f"{MAGIC} {json.dumps(header, sort_keys=True, ensure_ascii=False)}"
    rows = (f"{text}\t{n}" for text, n in chain(ngrams.items(), words.items()))
    # The name of a source may hold half a character; JSON can write it as \udcff.
    data = "\n".join([first, _COLUMNS, *rows, ""]).encode("utf8", "backslashreplace")
    packer = zlib.compressobj(_LEVEL, wbits=_GZIP)
    return packer.compress(data) + packer.flush()


def unpack(
    data: bytes, name: str
) -> tuple[dict[str, Any], dict[str, int], dict[str, int]]:
    """Return the header, the n-grams and the words of a file, by name in errors."""
    try:
        text = gzip.decompress(data).decode("utf8")
        first, _, rest = text.partition("\n")
        header = _header(first)
        columns, _, body = rest.partition("\n")
        if columns != _COLUMNS:
            raise ValueError(f"its second line is {shown(columns)}, not {_COLUMNS!r}")
        counts = _rows(body, is_folded=header.get("attr", "LOWER") == "LOWER")
    except (ValueError, OSError, EOFError, RecursionError, zlib.error) as error:
        raise SpanftError(
            f"{name} is not an n-gram dictionary, or damaged: {error}. Copy it again, "
            "or build it again with: python -m spacy spanft dictionary build"
        ) from error
    words = {text: counts.pop(text) for text in [t for t in counts if " " not in t]}
    return header, counts, words


def _header(line: str) -> dict[str, Any]:
    magic, _, settings = line.partition(" ")
    header = json.loads(settings) if magic == MAGIC else None
    if not isinstance(header, dict) or "format_version" not in header:
        raise ValueError(f"it does not begin with {MAGIC!r} and settings in JSON")
    version = header.pop("format_version")
    if version != FORMAT_VERSION:
        raise ValueError(
            f"its format version is {shown(version)}, and spacy-spanft {__version__} "
            f"reads version {FORMAT_VERSION}; try pip install --upgrade spacy-spanft"
        )
    return header


def _rows(body: str, *, is_folded: bool) -> dict[str, int]:
    rows = _ROW.findall(body)  # all at once: a tenth of the time of line by line
    if len(rows) < body.count("\n") + (body[-1:] not in ("", "\n")):
        for number, line in enumerate(body.split("\n"), 3):
            if not _ROW.fullmatch(line):
                reason = "is not an n-gram, a tab and its count"
                raise ValueError(f"line {number}, {shown(line)}, {reason}")
    counts = {text: int(count) for text, count in rows}
    if len(counts) < len(rows):
        raise ValueError("one of its n-grams stands in it twice")
    if is_folded and body != body.lower():
        raise ValueError("it has capital letters, although case is folded (attr LOWER)")
    return counts
