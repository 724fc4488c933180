"""Print the lowest versions that setup.cfg admits, as constraints for pip.

It runs before anything is installed, so it needs Python alone:

    python scripts/lowest_versions.py all spacy-transformers test > constraints.txt
"""

import re
import sys
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path

SETUP = Path(__file__).parent.parent / "setup.cfg"
# name[extra,extra], and what follows: the versions, and maybe a marker after ";".
REQUIREMENT = re.compile(r"([\w.-]+)(?:\[([\w,\s.-]+)\])?([^;]*)(;.*)?")
AT_LEAST = re.compile(r">=\s*([\w.]+)")


def lowest_versions(setup: ConfigParser, *extras: str) -> list[str]:
    """Write `name==X` for each `name>=X` that the package and these extras require."""
    found = dict.fromkeys(_constraints(setup, setup["options"]["install_requires"]))
    for extra in extras:
        required = setup["options.extras_require"][extra]
        found.update(dict.fromkeys(_constraints(setup, required)))
    return list(found)


def _constraints(setup: ConfigParser, required: str) -> Iterator[str]:
    for line in filter(None, map(str.strip, required.splitlines())):
        match = REQUIREMENT.fullmatch(line)
        if match is None:
            raise ValueError(f"Not a requirement: {line!r}")
        name, extras, versions, marker = match.groups(default="")
        if name == setup["metadata"]["name"]:
            # The package itself, for other extras of its own.
            yield from lowest_versions(setup, *re.split(r"\s*,\s*", extras.strip()))
            continue
        lowest = AT_LEAST.search(versions)
        if lowest is None:
            raise ValueError(f"No lowest version to test: {line!r}")
        yield f"{name}=={lowest[1]}{marker}"


def main() -> None:
    """Print the constraints of the extras on the command line."""
    setup = ConfigParser()
    setup.read(SETUP, encoding="utf8")
    print("\n".join(lowest_versions(setup, *sys.argv[1:])))


if __name__ == "__main__":
    main()
