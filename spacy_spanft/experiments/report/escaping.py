"""Names and texts of others, as they may stand in Markdown."""

import re

from ...errors.visible import visible

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# Signs that mean something within a line, and underscores that are not inside a word.
_SIGNS = re.compile(r"[\\`*|~#\[\]$&<>]|(?<![^\W_])_|_(?![^\W_])")


def markdown(text: str) -> str:
    r"""Write a text so that Markdown shows it as it is, in a cell of a table too.

    text (str): Any text.
    RETURNS (str): Part of a line, never the beginning of one, as what means something
        there only stays as it is. Control characters are shown as \x1b.
    """
    return _SIGNS.sub(lambda sign: _escape(sign[0]), visible(text))


def _escape(sign: str) -> str:
    return _ENTITIES.get(sign, f"\\{sign}")
