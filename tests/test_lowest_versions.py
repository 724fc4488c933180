"""The lowest versions that setup.cfg admits, with which `make test-oldest` tests."""

from configparser import ConfigParser

from packaging.requirements import Requirement

from scripts.lowest_versions import SETUP, lowest_versions


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
