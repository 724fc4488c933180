"""The lowest versions that setup.cfg admits, with which `make test-oldest` tests."""

import sys
from configparser import ConfigParser

import pytest
from packaging.requirements import Requirement

from scripts.lowest_versions import SETUP, lowest_versions, main

TEXT = """
[metadata]
name = some-package
[options]
install_requires =
    spacy>=3.8.13,<3.9.0
    # A comment.
    torch <2.9, >= 2.4.0
    backport[fast]>=1.0rc1; python_version < "3.11"
[options.extras_require]
plots =
    scipy>=1.12.0
all =
    some-package[plots, more]
more =
    scipy>=1.12.0
    typing_extensions~=4.0,>=4.1
loose =
    linter
broken =
    @linter>=1.0
"""
BASE = ["spacy==3.8.13", "torch==2.4.0", 'backport==1.0rc1; python_version < "3.11"']
PLOTS = ["scipy==1.12.0", "typing_extensions==4.1"]


@pytest.fixture
def setup():
    parser = ConfigParser()
    parser.read_string(TEXT)
    return parser


def test_the_lowest_admitted_version_is_required_exactly(setup):
    assert lowest_versions(setup) == BASE
    assert lowest_versions(setup, "plots", "all") == BASE + PLOTS


LOOSE = "No lowest version to test: 'linter'"
BROKEN = "Not a requirement: '@linter>=1.0'"


@pytest.mark.parametrize(("extra", "message"), [("loose", LOOSE), ("broken", BROKEN)])
def test_requirements_without_a_lowest_version_are_refused(setup, extra, message):
    with pytest.raises(ValueError, match=message):
        lowest_versions(setup, extra)


def test_the_package_admits_its_lowest_versions(monkeypatch, capsys):
    extras = ["all", "spacy-transformers", "test"]
    monkeypatch.setattr(sys, "argv", ["lowest_versions.py", *extras])
    main()
    setup = ConfigParser()
    setup.read(SETUP, encoding="utf8")
    required = setup["options"]["install_requires"]
    for extra in ("experiments", "pretrain", "spacy-transformers", "test"):
        required += setup["options.extras_require"][extra]
    bounds = map(Requirement, filter(None, required.split("\n")))
    admitted = {bound.name: bound.specifier for bound in bounds}
    pinned = [Requirement(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted(pin.name for pin in pinned) == sorted(admitted)
    for pin in pinned:
        (lowest,) = pin.specifier
        assert lowest.operator == "=="
        assert f">={lowest.version}" in str(admitted[pin.name]).split(",")
