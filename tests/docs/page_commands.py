"""What the commands of the documentation do, or why they are not run."""

import re
import runpy
import shlex
from pathlib import Path

import srsly
from spacy.util import load_config

from ..commands import run
from ..scale.trained import wheel_of
from .pages import ROOT

SPACY = "python -m spacy "


def do(line):
    """Run a command in the current folder, or check what is too slow to run."""
    name, _, rest = line.removeprefix(SPACY).partition(" ")
    if line.startswith("make "):
        check_make(line)
    elif line.startswith("pip install "):
        check_install(line)
    elif line.startswith("python ") and line.endswith(".py"):
        runpy.run_path(line.removeprefix("python "))
    elif not line.startswith(SPACY):
        raise AssertionError(f"nothing tests {line!r}")
    elif name == "train":
        train(rest)
    elif name == "package":
        package(rest)
    elif name == "project":
        check_project(rest)
    elif name == "spanft" and rest.startswith("experiment "):
        run(*shlex.split(f"spanft {rest} --dry-run"))
    else:
        assert name in ("spanft", "init", "evaluate"), line
        run(name, *shlex.split(rest))


def check_make(line):
    """Check that there is such a target."""
    _, target, *_ = shlex.split(line)
    makefile = (ROOT / "Makefile").read_text(encoding="utf8")
    assert re.search(rf"^{target}:", makefile, re.MULTILINE), line


def check_install(line):
    """Check that what is installed is this package, with extras that it has."""
    _, _, what = shlex.split(line)
    name, _, extras = what.rstrip("]").partition("[")
    assert name in (".", "spacy-spanft"), line
    setup = (ROOT / "setup.cfg").read_text(encoding="utf8")
    for extra in filter(None, extras.split(",")):
        assert re.search(rf"^{extra} =$", setup, re.MULTILINE), line


def train(rest):
    """Check what trains a config of this repository; train any other one.

    The former are trained in test_configs.py, with a transformer made on the spot.
    """
    name, *options = shlex.split(rest)
    settings = dict(zip(options[::2], options[1::2], strict=True))
    settings.pop("--gpu-id", None)
    if not (ROOT / name).exists():
        run("train", name, *(word for pair in settings.items() for word in pair))
        return
    settings.pop("--output")
    overrides = {key.removeprefix("--"): value for key, value in settings.items()}
    before, after = load_config(ROOT / name), load_config(ROOT / name, overrides)
    assert {k for k in after["paths"] if after["paths"][k] != before["paths"][k]}
    assert before["training"] == after["training"]  # no number is typed by hand


def package(rest):
    """Package a pipeline, and build its wheel without an environment of its own."""
    before, after = rest.split("--build wheel")
    run("package", *shlex.split(before), "--build", "none", *shlex.split(after))
    (made,) = Path("packages").iterdir()
    wheel_of(made)


def check_project(rest):
    """Check the workflow and the variables; every workflow runs in test_project.py."""
    known = srsly.read_yaml(ROOT / "project" / "project.yml")
    _, workflow, folder, *options = shlex.split(rest)
    assert (workflow in known["workflows"], folder) == (True, "project")
    names = {option.removeprefix("--vars.") for option in options[::2]}
    assert names <= known["vars"].keys()
