"""The project and the configs: every one of them runs."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from spacy.util import load_config

from spacy_spanft import NgramDictionary

ROOT = Path(__file__).parent.parent


def run(*args, cwd):
    command = [sys.executable, "-m", "spacy", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd)


@pytest.fixture
def copy(tmp_path):
    ignored = shutil.ignore_patterns("assets", "corpus", "training", "metrics")
    shutil.copytree(ROOT / "project", tmp_path / "project", ignore=ignored)
    return tmp_path / "project"


def test_all_runs_once(copy):
    done = run("project", "run", "all", cwd=copy)
    assert done.returncode == 0, done.stderr
    outputs = (
        "assets/text.txt",
        "corpus/ngrams.tsv.gz",
        "training/spanft",
        "metrics/spans.html",
    )
    assert all((copy / output).exists() for output in outputs)
    found = NgramDictionary.from_disk(copy / "corpus" / "ngrams.tsv.gz")
    assert "king of the northern hills" in found
    again = run("project", "run", "all", cwd=copy)
    assert again.stdout.count("nothing changed") == 4


def test_config_is_that_of_the_package():
    name = "configs/span_segmenter.cfg"
    assert (ROOT / "project" / name).read_bytes() == (ROOT / name).read_bytes()


def test_readme_is_what_the_project_says(copy):
    run("project", "document", "--output", "new.md", cwd=copy)
    expected = (copy / "new.md").read_text(encoding="utf8")
    assert (copy / "README.md").read_text(encoding="utf8") == expected


def test_segmenter_config_makes_a_pipeline(tmp_path, dictionary):
    dictionary.to_disk(tmp_path / "a.tsv.gz")
    overrides = {"paths.dictionary": str(tmp_path / "a.tsv.gz")}
    config = load_config(ROOT / "configs" / "span_segmenter.cfg", overrides=overrides)
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    nlp.initialize()
    doc = nlp("in New York")
    assert [span.text for span in doc.spans["ngrams"]] == ["New York"]
