"""The pages of the documentation, and the snippets in them.

What a snippet is, where its language does not say it, stands in a comment before it:

    <!-- file: arms.yml -->            it is that file, which the next commands find
    <!-- output of: COMMAND -->        the command prints it
    <!-- pipeline -->                  a config that makes a pipeline
    <!-- part of: configs/x.cfg -->    the config says the same
    <!-- builds: ner -->               the settings of such a component
"""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LANGUAGES = {"python", "bash", "ini", "json", "yaml", "text"}

_SNIPPET = re.compile(
    r"(?:^<!-- (?P<note>[\w ]+?)(?:: (?P<value>.*?))? -->\n)?"
    r"^```(?P<language>\w+)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_FENCE = re.compile(r"^\s*```\w", re.MULTILINE)


class Snippet(NamedTuple):
    """A snippet of a page.

    language (str): Its language.
    code (str): What it says.
    note (str): What the comment before it calls it, such as "file".
    value (str): What else the comment says, such as the file's name.
    """

    language: str
    code: str
    note: str
    value: str


def pages():
    """Find all pages, as paths below the top folder."""
    below = [path for path in DOCS.rglob("*.md") if "_build" not in path.parts]
    paths = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(below)]
    return [path.relative_to(ROOT).as_posix() for path in paths]


def read(page):
    """Read a page."""
    return (ROOT / page).read_text(encoding="utf8")


def snippets(page):
    """Read the snippets of a page, in their order."""
    text = read(page)
    found = [
        Snippet(
            one["language"],
            one["code"],
            one["note"] or "",
            one["value"] or "",
        )
        for one in _SNIPPET.finditer(text)
    ]
    assert len(found) == len(_FENCE.findall(text)), f"{page} has snippets not read"
    assert {one.language for one in found} <= LANGUAGES, page
    return found


def lines_of(snippet):
    """Join the lines of a command that is written over several."""
    return snippet.code.replace("\\\n", " ").splitlines()
