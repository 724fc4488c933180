"""The pages of the documentation, and the snippets in them.

What a snippet is, where its language does not say it, stands in a comment before it:

    <!-- file: arms.yml -->            it is that file, which the next commands find
    <!-- output of: COMMAND -->        the command prints it
    <!-- pipeline -->                  a config that makes a pipeline
    <!-- part of: textcat_spanft -->   the config that init writes says the same
    <!-- builds: ner -->               the settings of such a component
    <!-- completes: ner -->            what it puts into a config of `spacy init config`
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
    note: str
    value: str
    language: str
    code: str

    @property
    def lines(self):
        """Its commands; one may be written over several lines."""
        return self.code.replace("\\\n", " ").splitlines()


def pages():
    below = [path for path in DOCS.rglob("*.md") if "_build" not in path.parts]
    paths = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(below)]
    return [path.relative_to(ROOT).as_posix() for path in paths]


def read(page):
    return (ROOT / page).read_text(encoding="utf8")


def snippets(page):
    text = read(page)
    matches = _SNIPPET.finditer(text)
    read_ones = [Snippet(*(group or "" for group in m.groups())) for m in matches]
    assert len(read_ones) == len(_FENCE.findall(text)), f"{page} has snippets not read"
    assert {snippet.language for snippet in read_ones} <= LANGUAGES, page
    return read_ones
