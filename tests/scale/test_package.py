"""What `spacy package` makes of our pipelines: one that others can install and load."""

import importlib
import pickle
import sys
import zipfile
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
    """Package a pipeline, and return the folder and the metadata of the package."""
    folder.mkdir(exist_ok=True)
    run("package", model, folder, "--build", "none", *options)
    (made,) = folder.iterdir()
    return made, srsly.read_json(made / "meta.json")


def required(meta):
    return {requirement.split(">=")[0] for requirement in meta["requirements"]}


TOKENIZER = {"nlp": {"tokenizer": {"@tokenizers": "spacy-spanft.PairTokenizer.v1"}}}
SCORER = {"@scorers": "spacy-spanft.classification_scorer.v1"}


@pytest.mark.parametrize(
    ("component", "config", "expected"),
    [
        (("textcat", {}), None, set()),
        (("textcat", {}), TOKENIZER, {OURS}),
        (("textcat", {"scorer": SCORER}), None, {OURS}),
        (("bilou_ner", {}), None, {OURS}),
    ],
)
def test_whatever_names_us_requires_us(component, config, expected, tmp_path):
    model = save(tmp_path / "model", component, config=config)
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


def refuse(*args, **settings):
    raise AssertionError("a pickle")


def test_what_is_installed_predicts_the_same_without_a_pickle(
    bert, tmp_path, monkeypatch
):
    model = train(tmp_path, "textcat", bert)
    cats = spacy.load(model)(TEXT).cats
    options = ("--name", "reviews", "--version", "1.2.0")
    made, meta = packaged(model, tmp_path / "packages", *options)
    assert required(meta) == {"spacy", OURS}
    wheel = wheel_of(made)
    assert wheel.name == "en_reviews-1.2.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as file:
        file.extractall(tmp_path / "site")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.delitem(sys.modules, "en_reviews", raising=False)
    module = importlib.import_module("en_reviews")
    assert Path(module.__file__).is_relative_to(tmp_path / "site")
    assert module.__version__ == "1.2.0"
    for library, name in ((pickle, "load"), (pickle, "loads"), (torch, "load")):
        monkeypatch.setattr(library, name, refuse)
    assert module.load()(TEXT).cats == cats
