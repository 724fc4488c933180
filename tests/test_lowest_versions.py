"""The lowest versions that setup.cfg admits, with which `make test-oldest` tests."""

from configparser import ConfigParser

import pytest
from packaging.requirements import Requirement

from scripts.lowest_versions import SETUP, lowest_versions

TEXT = """
[metadata]
name = some-package
[options]
install_requires =
    spacy>=3.8.13,<3.9.0
    # A comment.
    backport[fast]>=1.0rc1; python_version < "3.11"
[options.extras_require]
plots =
    scipy>=1.12.0
all =
    some-package[plots]
loose =
    linter
"""
LOWEST = ["spacy==3.8.13", 'backport==1.0rc1; python_version < "3.11"']


def test_the_lowest_admitted_version_is_required_exactly():
    setup = ConfigParser()
    setup.read_string(TEXT)
    assert lowest_versions(setup, "all") == [*LOWEST, "scipy==1.12.0"]
    with pytest.raises(ValueError, match="No lowest version to test: 'linter'"):
        lowest_versions(setup, "loose")


def test_the_package_admits_its_lowest_versions():
    setup = ConfigParser()
    setup.read(SETUP, encoding="utf8")
    required = setup["options"]["install_requires"]
    for extra in ("experiments", "pretrain", "spacy-transformers", "test"):
        required += setup["options.extras_require"][extra]
    bounds = map(Requirement, filter(None, required.split("\n")))
    admitted = {bound.name: bound.specifier for bound in bounds}
    lines = lowest_versions(setup, "all", "spacy-transformers", "test")
    pinned = [Requirement(line) for line in lines]
    assert sorted(pin.name for pin in pinned) == sorted(admitted)
    for pin in pinned:
        (lowest,) = pin.specifier
        assert lowest.operator == "=="
        assert f">={lowest.version}" in str(admitted[pin.name]).split(",")
