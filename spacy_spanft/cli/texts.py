"""Texts that a command is given: as arguments, in a file, or from the input."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated

from typer import Option

from ..errors import SpanftError
from .util import OnBadBytes

if TYPE_CHECKING:
    from spacy.language import Language

_NO_TEXTS = "There is no text. Give it as arguments, with --file, or on standard input."

# fmt: off
File = Annotated[str | None, Option("--file", "-f", help="A file with one text per line; '-' is the standard input")]  # noqa: E501
BadBytes = Annotated[OnBadBytes, Option("--errors", help="How to handle invalid UTF-8")]
# fmt: on


def read_texts(
    texts: list[str] | None, file: str | None, errors: OnBadBytes
) -> Iterator[str]:
    """Read texts, one per line where they are in a file.

    texts (Optional[list[str]]): Texts from the command line.
    file (Optional[str]): A file in their place; without either, the standard input.
    errors (OnBadBytes): What to do about bytes that are not text.
    RETURNS (Iterator[str]): The texts, of which there is at least one.
    """
    from ..training.readers.tables import FORMATS

    if texts and file:
        raise SpanftError("Pass texts or --file, not both.")
    if texts:
        return iter(texts)
    if file is None and sys.stdin.isatty():
        raise SpanftError(_NO_TEXTS)
    if file is not None and FORMATS.keys() & {*PurePath(file.lower()).suffixes}:
        raise SpanftError(
            f"{file!r} is a table, but --file takes one text per line. Write its "
            "column of texts to a text file."
        )
    return _lines(file, errors)


def short_enough(nlp: "Language", texts: Iterable[str]) -> Iterator[str]:
    """Pass texts on, and raise for one that is longer than the pipeline takes.

    nlp (Language): The pipeline that they are for.
    texts (Iterable[str]): The texts.
    YIELDS (str): The same texts.
    """
    from ..training.readers.rows import check_length

    for number, text in enumerate(texts, 1):
        check_length(nlp, text, f"Text {number:,}")
        yield text


def _lines(file: str | None, errors: OnBadBytes) -> Iterator[str]:
    from ..ngrams.text import blocks_from_files

    is_empty = True
    for block in blocks_from_files(
        [file or "-"], errors=errors.value, block_size=1 << 16
    ):
        for line in block.decode("utf8").split("\n")[:-1]:
            if line.strip():
                is_empty = False
                yield line.rstrip("\r")
    if is_empty:
        where = f"There is no text in {file!r}: it is empty, or all white space."
        raise SpanftError(where if file else _NO_TEXTS)
