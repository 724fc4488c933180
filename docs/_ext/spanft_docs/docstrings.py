"""Reads docstrings that are written as spaCy writes them.

A sentence, paragraphs, then `name (Type): meaning` for each argument, and at last
`RETURNS (Type): meaning`. What follows on a line is indented.
"""

import re
from collections.abc import Callable
from inspect import cleandoc
from typing import NamedTuple

_FIELD = re.compile(r"^(\*{0,2}\w+) \((.+?)\): (.*)$")
_SETTINGS = re.compile(r"^(\*\*\w+)(): (.*)$")  # they have no type of their own
_CODE = re.compile(r"(`[^`]+`)")
RESULTS = {"RETURNS": "returns", "YIELDS": "yields"}


class Field(NamedTuple):
    """An argument, or the result.

    name (str): Its name.
    type (str): Its type, as the docstring has it.
    meaning (str): What it is.
    """

    name: str
    type: str
    meaning: str


class Docstring(NamedTuple):
    """What a docstring says.

    text (str): The text before the arguments, paragraphs with blank lines between.
    fields (list[Field]): The arguments.
    result (Optional[Field]): What is returned or yielded.
    """

    text: str
    fields: list[Field]
    result: Field | None

    def meaning(self, name: str) -> str:
        """Say what an argument is, or nothing if the docstring does not."""
        found = [field.meaning for field in self.fields if field.name == name]
        return found[0] if found else ""


def parse(doc: str | None) -> Docstring:
    """Read a docstring.

    doc (Optional[str]): The docstring.
    RETURNS (Docstring): What it says.
    """
    lines = cleandoc(doc or "").splitlines()
    text: list[str] = []
    fields: list[Field] = []
    for line in lines:
        found = _FIELD.match(line) or _SETTINGS.match(line)
        if found:
            fields.append(Field(*found.groups()))
        elif fields and (line.startswith(" ") or not line):
            joined = f"{fields[-1].meaning} {line.strip()}".strip()
            fields[-1] = fields[-1]._replace(meaning=joined)
        else:
            text.append(line)
    results = [field for field in fields if field.name in RESULTS]
    arguments = [field for field in fields if field.name not in RESULTS]
    result = results[0] if results else None
    return Docstring("\n".join(text).strip(), arguments, result)


def to_rst(doc: Docstring) -> list[str]:
    """Write a docstring as autodoc reads it.

    doc (Docstring): What it says.
    RETURNS (list[str]): Lines of reStructuredText.
    """
    lines = [_outside_code(line, _escape_rst, "``") for line in doc.text.splitlines()]
    lines.append("")
    for name, kind, meaning in doc.fields:
        bare = name.replace("*", r"\*")
        lines.append(f":param {bare}: {_outside_code(meaning, _escape_rst, '``')}")
        if kind:
            lines.append(f":type {bare}: ``{kind}``")
    if doc.result is not None:
        kind = RESULTS[doc.result.name]
        meaning = _outside_code(doc.result.meaning, _escape_rst, "``")
        lines.append(f":{kind}: {meaning}")
        lines.append(f":rtype: ``{doc.result.type}``")
    return [*lines, ""]


def to_markdown(text: str) -> str:
    """Write the text of a docstring as Markdown.

    text (str): The text.
    RETURNS (str): The same, with nothing in it that Markdown takes for HTML.
    """
    return _outside_code(text, lambda part: part.replace("<", "&lt;"), "`")


def in_cell(text: str) -> str:
    """Write text for the cell of a table.

    text (str): Markdown.
    RETURNS (str): The same in one line, in which no | ends the cell.
    """
    return " ".join(text.split()).replace("|", r"\|")


def _escape_rst(text: str) -> str:
    return re.sub(r"([\\*_|])", r"\\\1", text)


def _outside_code(text: str, change: Callable[[str], str], quote: str) -> str:
    """Change what is not between backticks, and put others around what is."""
    parts = _CODE.split(text)
    for place, part in enumerate(parts):
        is_code = place % 2 == 1
        parts[place] = quote + part[1:-1] + quote if is_code else change(part)
    return "".join(parts)
