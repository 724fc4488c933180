"""Which text is counted: files that are cut into units, or blocks as they come."""

import os
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from ...errors import DictionaryError, Errors
from ..text.blocks import ErrorHandling, is_packed
from ..text.units import blocks_of, kind_of, units_of

# How many times as large text is when it is decompressed, about.
_RATIO = 4


class Text(NamedTuple):
    """Text to be counted in shards.

    names (list[str]): What the provenance calls it.
    paths (list[str]): The files, which can be read anywhere, and in pieces.
    how (dict[str, Any]): How these are read.
    blocks (Optional[Iterable[bytes]]): In the place of files: text that can be read
        once, and here alone.
    identity (Any): What JSON can say about which text it is.
    n_bytes (int): About how many there are.
    """

    names: Sequence[str]
    paths: Sequence[str] = ()
    how: Mapping[str, Any] = MappingProxyType({})
    blocks: Iterable[bytes] | None = None
    identity: Any = None
    n_bytes: int = 0


def text_of_files(
    paths: Sequence[str],
    *,
    column: str = "text",
    errors: ErrorHandling = "strict",
    is_kept: bool = False,
) -> Text:
    """Describe the text of files.

    paths (Sequence[str]): The files; "-" is the standard input.
    column (str): The column or key that holds the text, where there are such.
    errors (str): What to do about what is no text: "strict" or "replace".
    is_kept (bool): Whether a build that is cut short is gone on with.
    RETURNS (Text): The text.
    """
    how: dict[str, Any] = {"column": column, "errors": errors}
    units_of(paths, **how)  # raises for files that cannot be read
    if not all(map(os.path.isfile, paths)):  # a pipe can be read once
        if is_kept:
            raise DictionaryError(Errors.NO_STDIN_AGAIN)
        return Text(paths, blocks=blocks_of(paths, **how))
    files = [os.stat(path) for path in paths]
    facts = [
        [os.path.abspath(path), file.st_size, file.st_mtime_ns]
        for path, file in zip(paths, files, strict=True)
    ]
    n_bytes = sum(
        file.st_size * (_RATIO if _is_small(path) else 1)
        for path, file in zip(paths, files, strict=True)
    )
    return Text(paths, paths, how, None, [facts, column, errors], n_bytes)


def _is_small(path: str) -> bool:
    return is_packed(path) or kind_of(path) == "parquet"
