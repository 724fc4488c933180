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


def test_every_registered_name_and_setting_is_on_its_page():
    setup = ConfigParser(delimiters=("=",))
    setup.optionxform = str
    setup.read(ROOT / "setup.cfg", encoding="utf8")
    groups = {**setup["options.entry_points"]}
    groups.pop("spacy_cli")
    lines = "\n".join(groups.values()).strip().splitlines()
    names = [line.split(" = ")[0] for line in lines if line]
    text = page("registered.md")
    assert len(names) > 20
    for name in names:
        assert f"### `{name}`\n" in text
    assert "<!-- registered" not in text
    for thing in registered():
        for setting in (*thing.settings, *thing.initialize):
            assert setting.meaning, f"{thing.name}: {setting.name}"
            assert f"| `{setting.name}` | `{in_cell(setting.type)}` |" in text


def test_every_command_is_on_its_page():
    source = (ROOT / "spacy_spanft" / "cli" / "__init__.py").read_text(encoding="utf8")
    calls = re.findall(r"^(\w+)\.command\(\s*\"(\w+)\"", source, re.MULTILINE)
    names = [f"{app} {name}".removeprefix("spanft ") for app, name in calls]
    assert len(names) > 10
    assert {command.name for command in commands()} == set(names)
    text = page("command_line.md")
    for name in names:
        assert f"## `spanft {name}`\n" in text


@pytest.mark.parametrize("command", commands(), ids=lambda command: command.name)
def test_every_option_is_in_its_table(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "250")
    output = run("spanft", *command.name.split(), "--help").stdout
    options = re.findall(r"^[│ *]*(?:-\w, )?(--[\w-]+)", output, re.MULTILINE)
    both = [name for parameter in command.parameters for name in parameter.names]
    listed = {name for names in both for name in names.split("/")}
    assert {*options, "--help"} <= {*listed, "--help"}
    assert all(name in output for name in listed if name.startswith("--"))


def test_docstrings_become_fields_and_are_escaped():
    doc = parse(DOC)
    assert doc.meaning("doc") == "The Doc, which is long."
    assert parse(None).text == ""
    assert to_rst(doc) == [
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
    assert to_markdown("a <unk>, `a <b>`") == "a &lt;unk>, `a <b>`"
    assert in_cell("a\n  | b") == r"a \| b"


def test_types_are_named_without_their_modules():
    name = type_name(dict[str, type(ROOT)] | None)
    assert name == f"dict[str, {type(ROOT).__name__}] | None"
