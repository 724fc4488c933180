"""What only some features need is asked for by the name of its extra."""

import sys
from configparser import ConfigParser
from pathlib import Path

import pytest

from spacy_spanft.errors import SpanftError
from spacy_spanft.util.extras import EXTRAS, require

from ..commands import run

SETUP = Path(__file__).parents[2] / "setup.cfg"


def test_the_extras_are_those_of_the_package():
    parser = ConfigParser()
    parser.read(SETUP)
    found = parser["options.extras_require"]
    for name, extra in EXTRAS.items():
        assert f"\n{name}>=" in found[extra]
        assert f"\n{name}>" not in parser["options"]["install_requires"]
    assert found["all"].strip() == "spacy-spanft[experiments,pretrain]"


@pytest.mark.parametrize("name", EXTRAS)
def test_what_is_missing_is_named_with_its_extra(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name.replace("-", "_"), None)
    expected = rf'This needs {name}, .*: pip install "spacy-spanft\[{EXTRAS[name]}\]"'
    with pytest.raises(SpanftError, match=expected):
        require("This", name)


def test_an_experiment_asks_before_it_trains(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    paths = ("--data", tmp_path, "--output", tmp_path, "--metrics", tmp_path)
    done = run("spanft", "experiment", tmp_path / "arms.yml", *paths, ok=False)
    assert 'pip install "spacy-spanft[experiments]"' in done.stderr
