"""What the commands and configs of the documentation do, or why they are not run."""

import re
import runpy
import shlex
from functools import reduce
from operator import getitem
from pathlib import Path

import spacy
import srsly
from spacy.cli.init_config import init_config
from spacy.util import load_config
from thinc.api import Config

from spacy_spanft.configs import config_text, task_config

from ..commands import run
from .pages import ROOT, snippets

SPACY = "python -m spacy "
_SECTION = re.compile(r"^\[([\w.]+)\]$", re.MULTILINE)


def do(line):
    """Run a command in the current folder, or check what is too slow to run."""
    name, _, rest = line.removeprefix(SPACY).partition(" ")
    if line.startswith("make "):
        makefile = (ROOT / "Makefile").read_text(encoding="utf8")
        target = line.split()[1]
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), line
    elif line.startswith("pip install "):
        check_install(line)
    elif line.startswith("python ") and line.endswith(".py"):
        runpy.run_path(line.removeprefix("python "))
    elif not line.startswith(SPACY):
        raise AssertionError(f"nothing tests {line!r}")
    elif name == "train":
        train(*shlex.split(rest))
    elif name == "package":  # test_push builds and loads the wheel of one
        run(name, *shlex.split(rest.replace("--build wheel", "--build none")))
    elif name == "project":
        check_project(*shlex.split(rest))
    elif rest.startswith("experiment "):
        run(name, *shlex.split(rest), "--dry-run")
    else:
        assert name in ("spanft", "init", "evaluate"), line
        run(name, *shlex.split(rest))


def check_install(line):
    name, _, extras = shlex.split(line)[2].rstrip("]").partition("[")
    assert name in (".", "spacy-spanft"), line
    setup = (ROOT / "setup.cfg").read_text(encoding="utf8")
    assert all(f"\n{extra} =\n" in setup for extra in extras.split(",") if extra), line


def train(name, *options):
    """Check the settings of our configs (see test_configs), or train for a moment."""
    settings = dict(zip(options[::2], options[1::2], strict=True))
    settings.pop("--gpu-id", None)
    if not (ROOT / name).exists():
        settings["--training.max_steps"] = 4
        run("train", name, *(word for pair in settings.items() for word in pair))
        return
    settings.pop("--output")
    overrides = {key.removeprefix("--"): value for key, value in settings.items()}
    before, after = load_config(ROOT / name), load_config(ROOT / name, overrides)
    assert {k for k in after["paths"] if after["paths"][k] != before["paths"][k]}
    assert before["training"] == after["training"]  # no number is typed by hand


def check_project(_, workflow, folder, *options):
    """Check the workflow and the variables; every workflow runs in test_project.py."""
    project = srsly.read_yaml(ROOT / folder / "project.yml")
    assert workflow in project["workflows"]
    names = {option.removeprefix("--vars.") for option in options[::2]}
    assert names <= project["vars"].keys()


def check_config(snippet):
    """Check a block of a config in the way that the comment before it asks for."""
    checks = {"pipeline": makes_pipeline, "part of": is_part}
    checks |= {"builds": builds, "completes": tags_matches}
    checks.get(snippet.note, resolves)(snippet)


def makes_pipeline(snippet):
    config = Config().from_str(snippet.code)
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    nlp.initialize()
    doc = nlp("in New York")
    assert [span.text for span in doc.spans["ngrams"]] == ["New York"]
    assert nlp.config["training"]["annotating_components"] == ["span_segmenter"]


def is_part(snippet):
    task = snippet.value.removesuffix("_spanft")
    text = config_text(task_config(task), task)
    whole = Config().from_str(text, interpolate=False)
    part = Config().from_str(complete(snippet.code), interpolate=False)
    assert whole.merge(part) == whole


def builds(snippet):
    name = snippet.value
    components = Config().from_str(complete(snippet.code))["components"]
    assert set(components) == {name}
    components[name].pop("factory", None)
    model = spacy.blank("en").add_pipe(name, config=components[name]).model
    assert name != "textcat" or model.attrs["multi_label"] is False


def tags_matches(snippet):
    page = "docs/guides/dictionaries.md"
    [component] = (x.code for x in snippets(page) if "tag_matches(doc)" in x.code)
    if not spacy.Language.has_factory("tag_matches"):  # the page's Python may have run
        exec(component, {})
    Path("patterns.json").write_text('[{"label": "CITY", "pattern": "new york"}]')
    made = init_config(pipeline=[snippet.value], optimize="efficiency")
    config = made.merge(Config().from_str(complete(snippet.code)))
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    nlp.initialize()
    assert [token.tag_ for token in nlp("in New York")] == ["", "B-CITY", "I-CITY"]
    assert "TAG" in nlp.config["components"]["tok2vec"]["model"]["embed"]["attrs"]
    weights = nlp.config["training"]["score_weights"]
    assert [key for key, weight in weights.items() if weight] == ["ents_f"]


def resolves(snippet):
    """Check that each section with a dot in its name makes something."""
    code = complete(snippet.code)
    paths = '[paths]\ntrain = "x"\ndev = "x"\n\n' if "${paths" in code else ""
    config = Config().from_str(paths + code)
    config.pop("paths", None)
    resolved = spacy.registry.resolve(config)
    blocks = [name for name in _SECTION.findall(snippet.code) if "." in name]
    assert blocks
    for block in blocks:
        made = reduce(getitem, block.split("."), resolved)
        assert made is not None
        assert not isinstance(made, dict)


def complete(code):
    """Put before a block the empty sections that those in it are parts of."""
    sections = _SECTION.findall(code)
    above = [x.split(".")[:n] for x in sections for n in range(1, x.count(".") + 1)]
    missing = dict.fromkeys(".".join(x) for x in above if ".".join(x) not in sections)
    return "".join(f"[{name}]\n\n" for name in missing) + code
