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
dev =
    some-package[all]
    linter>=1.0
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


@pytest.mark.parametrize(
    ("extras", "more"),
    [
        ([], []),
        (["plots"], PLOTS[:1]),
        (["all"], PLOTS),
        (["dev"], [*PLOTS, "linter==1.0"]),
        (["plots", "all"], PLOTS),
    ],
)
def test_what_is_required_at_least_is_required_exactly(setup, extras, more):
    assert lowest_versions(setup, *extras) == BASE + more


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ("loose", "No lowest version to test: 'linter'"),
        ("broken", "Not a requirement: '@linter>=1.0'"),
    ],
)
def test_what_cannot_be_tested_is_an_error(setup, extra, message):
    with pytest.raises(ValueError, match=message):
        lowest_versions(setup, extra)


def test_the_package_admits_them(monkeypatch, capsys):
    extras = ["all", "spacy-transformers", "test"]
    monkeypatch.setattr(sys, "argv", ["lowest_versions.py", *extras])
    main()
    setup = ConfigParser()
    setup.read(SETUP, encoding="utf8")
    required = setup["options"]["install_requires"]
    for extra in ("experiments", "pretrain", "spacy-transformers", "test"):
        required += setup["options.extras_require"][extra]
    bounds = {
        one.name: one.specifier
        for one in map(Requirement, filter(None, required.split("\n")))
    }
    found = [Requirement(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted(one.name for one in found) == sorted(bounds)
    for one in found:
        (lowest,) = one.specifier
        assert lowest.operator == "=="
        assert f">={lowest.version}" in str(bounds[one.name]).split(",")
