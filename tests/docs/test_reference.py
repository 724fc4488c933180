"""The reference pages hold all that is registered, and all commands and options."""

import re
from configparser import ConfigParser

import pytest
from spanft_docs import expand
from spanft_docs.commands import commands
from spanft_docs.docstrings import in_cell, parse, to_markdown, to_rst
from spanft_docs.registered import registered, type_name

from ..commands import run
from .pages import DOCS, ROOT

DOC = """Cut a Doc | with `a*b` and t_1.

More of <it>.

doc (Doc): The Doc, which
    is long.
*paths (Union[str, Path]): Files.
**settings: Others; see `Settings`.
RETURNS (List[int]): Numbers
    in order.
"""


def page(name):
    return expand((DOCS / "reference" / name).read_text(encoding="utf8"))


def entry_points():
    setup = ConfigParser(delimiters=("=",))
    setup.optionxform = str
    setup.read(ROOT / "setup.cfg", encoding="utf8")
    found = []
    for group, lines in setup["options.entry_points"].items():
        names = [line.split(" = ")[0] for line in lines.strip().splitlines()]
        found += [(group, name) for name in names if group != "spacy_cli"]
    return found


def test_everything_registered_is_on_its_page():
    text = page("registered.md")
    assert len(entry_points()) > 20
    for group, name in entry_points():
        assert f"### `{name}`\n" in text, f"{group} {name}"
    assert "<!-- registered" not in text


def test_every_setting_says_what_it_means():
    text = page("registered.md")
    for one in registered():
        for setting in (*one.settings, *one.initialize):
            assert setting.meaning, f"{one.name}: {setting.name}"
            assert f"| `{setting.name}` | `{in_cell(setting.type)}` |" in text


def test_every_command_is_on_its_page():
    source = (ROOT / "spacy_spanft" / "cli" / "__init__.py").read_text(encoding="utf8")
    found = re.findall(r"^(\w+)\.command\(\s*\"(\w+)\"", source, re.MULTILINE)
    names = [f"{app} {name}".removeprefix("spanft ") for app, name in found]
    assert len(names) > 10
    assert {one.name for one in commands()} == set(names)
    text = page("command_line.md")
    for name in names:
        assert f"## `spanft {name}`\n" in text


@pytest.mark.parametrize("command", commands(), ids=lambda one: one.name)
def test_every_option_is_in_its_table(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "250")
    shown = run("spanft", *command.name.split(), "--help").stdout
    options = re.findall(r"^[│ *]*(?:-\w, )?(--[\w-]+)", shown, re.MULTILINE)
    names = {name for one in command.parameters for name in one.names}
    told = {name for both in names for name in both.split("/")}
    assert {*options, "--help"} <= {*told, "--help"}
    assert all(name in shown for name in told if name.startswith("--"))


def test_docstrings_are_read():
    doc = parse(DOC)
    assert doc.text == "Cut a Doc | with `a*b` and t_1.\n\nMore of <it>."
    names = [(one.name, one.type, one.meaning) for one in doc.fields]
    assert names == [
        ("doc", "Doc", "The Doc, which is long."),
        ("*paths", "Union[str, Path]", "Files."),
        ("**settings", "", "Others; see `Settings`."),
    ]
    assert tuple(doc.result) == ("RETURNS", "List[int]", "Numbers in order.")
    assert doc.meaning("doc").startswith("The Doc")
    assert parse(None).text == ""


def test_docstrings_become_fields():
    assert to_rst(parse(DOC)) == [
        r"Cut a Doc \| with ``a*b`` and t\_1.",
        "",
        "More of <it>.",
        "",
        ":param doc: The Doc, which is long.",
        ":type doc: ``Doc``",
        r":param \*paths: Files.",
        r":type \*paths: ``Union[str, Path]``",
        r":param \*\*settings: Others; see ``Settings``.",
        ":returns: Numbers in order.",
        ":rtype: ``List[int]``",
        "",
    ]


def test_text_is_safe_in_tables():
    assert to_markdown("a <unk>, `a <b>`") == "a &lt;unk>, `a <b>`"
    assert in_cell("a\n  | b") == r"a \| b"


@pytest.mark.parametrize(
    ("annotation", "name"),
    [
        (int, "int"),
        (int | None, "int | None"),
        (dict[str, type(ROOT)], f"dict[str, {type(ROOT).__name__}]"),
    ],
)
def test_types_are_named_without_their_modules(annotation, name):
    assert type_name(annotation) == name
