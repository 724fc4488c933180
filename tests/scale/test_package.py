"""What `spacy package` makes of our pipelines: one that others can install and load."""

import importlib
import pickle
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
import spacy
import srsly
import torch

from ..commands import run
from ..tiny import LISTENER, transformer_config
from .trained import save, train, wheel_of

OURS = "spacy-spanft"
OVER = "spacy-transformers"
TEXT = "new york was very good"


def packaged(model, folder, *options):
    """Package a pipeline, and read what the package says about itself."""
    folder.mkdir(exist_ok=True)
    run("package", model, folder, "--build", "none", *options)
    (made,) = folder.iterdir()
    return made, srsly.read_json(made / "meta.json")


def required(meta):
    """Give the names of what is required, each of which is bound as spaCy does."""
    found = {}
    for one in meta["requirements"]:
        name, bounds = one.split(">=")
        lower, upper = bounds.split(",<")
        numbers = [int(part) for part in version(name).split(".")[:2]]
        assert lower == version(name)
        assert upper == f"{numbers[0]}.{numbers[1] + 1}.0"
        found[name] = one
    return set(found)


TOKENIZER = {"nlp": {"tokenizer": {"@tokenizers": "spacy-spanft.PairTokenizer.v1"}}}
SUGGESTER = {
    "@misc": "spacy-spanft.segment_suggester.v1",
    **{"spans_key": "ngrams", "min_size": 1, "max_size": 3},
}
SCORER = {"@scorers": "spacy-spanft.classification_scorer.v1"}
SEGMENTER = {"@segmenters": "spacy-spanft.RandomSegmenter.v1"}


@pytest.mark.parametrize(
    ("components", "config", "expected"),
    [
        ([("textcat", {})], None, set()),
        ([("textcat", {})], TOKENIZER, {OURS}),
        ([("textcat", {"scorer": SCORER})], None, {OURS}),
        ([("spancat", {"suggester": SUGGESTER})], None, {OURS}),
        ([("span_segmenter", {"segmenter": SEGMENTER})], None, {OURS}),
        ([("bilou_ner", {})], None, {OURS}),
    ],
)
def test_whatever_names_us_requires_us(components, config, expected, tmp_path):
    model = save(tmp_path / "model", *components, config=config)
    _, meta = packaged(model, tmp_path / "packages")
    assert required(meta) == {"spacy", *expected}


def test_spacy_transformers_where_it_is_used(bert, tmp_path):
    transformer = transformer_config(bert)
    transformer.pop("factory")
    over_it = {"@architectures": "spacy-spanft.ClsTextCat.v1", "tok2vec": LISTENER}
    model = save(
        tmp_path / "model",
        ("transformer", transformer),
        ("textcat", {"model": {**over_it, "exclusive_classes": True}}),
    )
    _, meta = packaged(model, tmp_path / "packages")
    assert required(meta) == {"spacy", OURS, OVER}


def test_nothing_is_unpickled(bert, tmp_path, monkeypatch):
    model = train(tmp_path, "textcat", bert)
    expected = spacy.load(model)(TEXT).cats

    def refuse(*args, **settings):
        raise AssertionError("a pickle")

    for module, name in ((pickle, "load"), (pickle, "loads"), (torch, "load")):
        monkeypatch.setattr(module, name, refuse)
    assert spacy.load(model)(TEXT).cats == expected


def test_what_is_installed_loads_and_predicts_the_same(bert, tmp_path, monkeypatch):
    model = train(tmp_path, "textcat", bert)
    options = ("--name", "reviews", "--version", "1.2.0")
    made, meta = packaged(model, tmp_path / "packages", *options)
    assert required(meta) == {"spacy", OURS}
    wheel = wheel_of(made)
    assert wheel.name == "en_reviews-1.2.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as file:
        file.extractall(tmp_path / "site")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    module = importlib.import_module("en_reviews")
    assert Path(module.__file__).is_relative_to(tmp_path / "site")
    assert module.__version__ == "1.2.0"
    assert module.load()(TEXT).cats == spacy.load(model)(TEXT).cats
