"""The reference pages hold all that is registered, and all commands and options."""

import re
from configparser import ConfigParser

from spanft_docs import expand
from spanft_docs.commands import commands
from spanft_docs.docstrings import in_cell
from spanft_docs.registered import registered

from .pages import DOCS, ROOT


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
