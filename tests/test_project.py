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


class TestTextcatConfigs:
    def flat(self, name):
        """Read a config as one table of dotted names."""
        found = {}

        def walk(prefix, section):
            for key, value in section.items():
                if isinstance(value, dict):
                    walk(f"{prefix}{key}.", value)
                else:
                    found[f"{prefix}{key}"] = value

        walk("", load_config(ROOT / "configs" / name))
        return found

    def test_differ_in_model_and_segmenter_only(self):
        span, base = (self.flat(f"textcat_{n}.cfg") for n in ("spanft", "baseline"))
        keys = {key for key in {*span, *base} if span.get(key) != base.get(key)}
        allowed = (
            *("components.span_segmenter.", "initialize.components.span_segmenter."),
            "components.textcat.model.",
            *("nlp.pipeline", "paths.dictionary", "training.annotating_components"),
        )
        assert keys
        assert all(key.startswith(allowed) for key in keys), keys
        shared = {"tok2vec", "dropout", "exclusive_classes"}
        assert (
            not {key.split(".")[3] for key in keys if key.startswith(allowed[2])}
            & shared
        )

    @pytest.mark.parametrize("name", ["spanft", "baseline"])
    def test_train(self, name, tmp_path):
        pytest.importorskip("spacy_transformers")
        from spacy.tokens import DocBin

        from .tiny import save_bert

        nlp = spacy.blank("en")
        docs = []
        for text, label in [("a very good film", "A"), ("new york was bad", "B")] * 8:
            doc = nlp(text)
            doc.cats = {c: float(c == label) for c in "AB"}
            docs.append(doc)
        DocBin(docs=docs).to_disk(tmp_path / "data.spacy")
        data, bert = tmp_path / "data.spacy", save_bert(tmp_path / "bert")
        done = run(
            *("train", ROOT / "configs" / f"textcat_{name}.cfg"),
            *("--output", tmp_path / "out", "--gpu-id", -1),
            *("--paths.train", data, "--paths.dev", data, "--paths.transformer", bert),
            *("--variables.steps", 20, "--variables.warmup", 2),
            *("--variables.learn_rate", 0.01, "--training.eval_frequency", 10),
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        trained = spacy.load(tmp_path / "out" / "model-best")
        assert trained("a very good film").cats["A"] > 0.5
        assert trained("new york was bad").cats["B"] > 0.5
