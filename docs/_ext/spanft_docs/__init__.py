"""A Sphinx extension: the reference pages are made from the code.

A page says where by a comment, `<!-- registered: spacy_readers -->` or
`<!-- commands -->`, in whose place the sections are written before Sphinx reads it.
Docstrings, which are written as spaCy writes them, become fields for autodoc.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .commands import commands_page
from .docstrings import parse, to_rst
from .registered import registry_page

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

_REGISTERED = re.compile(r"^<!-- registered: (\w+) -->$", re.MULTILINE)
_NAMED_TUPLE = "Create new instance of "  # how Python documents what makes one
_COMMANDS = re.compile(r"^<!-- commands -->$", re.MULTILINE)


def expand(text: str) -> str:
    """Write what the code says into a page.

    text (str): The page.
    RETURNS (str): The page with its reference sections.
    """
    text = _REGISTERED.sub(lambda found: registry_page(found[1]), text)
    return _COMMANDS.sub(lambda found: commands_page(), text)


def setup(app: "Sphinx") -> dict[str, Any]:
    """Connect the extension.

    app (Sphinx): The application.
    RETURNS (dict[str, Any]): What Sphinx wants to know of an extension.
    """
    app.connect("source-read", _read_source)
    app.connect("env-get-outdated", _made_from_code)
    app.connect("autodoc-process-docstring", _process_docstring)
    app.connect("autodoc-skip-member", _skip_member)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _read_source(app: "Sphinx", name: str, source: list[str]) -> None:
    source[0] = expand(source[0])


def _made_from_code(
    app: "Sphinx", env: "BuildEnvironment", *changes: set[str]
) -> list[str]:
    """Name the pages that may be old although their files are not."""
    pages = [Path(env.doc2path(name)) for name in env.found_docs]
    return [
        env.path2doc(path) or ""
        for path in pages
        if path.parent.name == "reference" and path.is_file()
    ]


def _process_docstring(
    app: "Sphinx", what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    written = [line for line in lines if not line.startswith(_NAMED_TUPLE)]
    lines[:] = to_rst(parse("\n".join(written)))


def _skip_member(
    app: "Sphinx", what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out the fields of named tuples, which the class's docstring describes."""
    return True if type(obj).__name__ == "_tuplegetter" else None
