"""Packages that others can install, and uploads to a hub on this machine."""

import importlib
import pickle
import re
import sys
import zipfile
from pathlib import Path

import pytest
import spacy
import srsly
import torch
from huggingface_hub import ModelCard

from spacy_spanft import NgramDictionary
from spacy_spanft.scale import model_card, read_saved

from .. import processes
from ..commands import run
from ..tiny import LISTENER, transformer_config
from .conftest import save
from .fake_hub import ENDPOINT, fake_hub

OURS = "spacy-spanft"
OVER = "spacy-transformers"
REPO = "me/en_reviews"
TEXT = "new york was very good"
PARTS = (("span_segmenter", {}), ("textcat", {}))
META = {"name": "reviews", "version": "1.2.0", "license": "MIT"}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pushed") / "model"
    save(folder, *PARTS, **META, performance={"cats_macro_f": 0.5})
    dictionary = folder / "span_segmenter" / "segmenter" / "dictionary.tsv.gz"
    NgramDictionary({"new york": 2}).to_disk(dictionary)
    return folder


@pytest.fixture
def hub(tmp_path):
    with fake_hub(tmp_path / "cache") as hub:
        yield hub


def push(model, *options, repo=REPO, **how):
    return run("spanft", "push", model, "--repo", repo, *options, **how)


def contents(folder):
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_a_folder_arrives_whole_and_loads_as_its_card_says(hub, model):
    done = push(model)
    files = dict(hub.repos[REPO])
    card = files.pop("README.md").decode()
    assert files == contents(model)
    assert f"Uploaded {model} to {ENDPOINT}/{REPO}" in done.stdout
    assert card == model_card(read_saved(str(model)), REPO)
    names = {}
    exec(re.search(r"```python\n(.*?)```", card, re.DOTALL)[1], names)
    assert Path(names["nlp"].path).is_relative_to(hub.cache)
    assert names["nlp"](TEXT).cats == spacy.load(model)(TEXT).cats


def test_an_authors_readme_is_kept_and_hidden_files_and_links_stay_here(hub, tmp_path):
    model = save(tmp_path / "model", ("textcat", {}), **META)
    (model / ".cache").mkdir()
    for secret in (model / ".env", model / ".cache" / "x", tmp_path / "key"):
        secret.write_text("secret")
    (model / "link").symlink_to(tmp_path / "key")
    for text in ("---\nlicense: mit\n---\n# Mine\n", "# Mine é\n\nText.\n"):
        (model / "README.md").write_text(text, encoding="utf8")
        push(model)
        pushed = hub.repos[REPO]["README.md"].decode()
        assert pushed.endswith(text)
        assert ModelCard(pushed).data.license == "mit"
        assert pushed.count("---\n") == 2
    assert not any(name.startswith((".", "link")) for name in hub.repos[REPO])
    (model / "README.md").write_bytes(b"caf\xe9")
    assert "README.md is not UTF-8 text" in push(model, ok=False).stderr
    (model / "textcat" / "model").rename(tmp_path / "weights")
    (model / "textcat" / "model").symlink_to(tmp_path / "weights")
    assert "textcat/model' is a link" in push(model, ok=False).stderr


def test_what_is_to_be_private_is_never_where_anybody_sees_it(hub, model):
    push(model, "--private")
    assert hub.private == {REPO}
    push(model, "--private")
    push(model, repo="me/public")
    n_messages = len(hub.messages)
    done = push(model, "--private", repo="me/public", ok=False)
    assert "'me/public' already exists, and anybody can see it" in done.stderr
    assert len(hub.messages) == n_messages


def test_what_is_no_repository_or_no_pipeline(hub, model, tmp_path):
    assert "did not accept" in push(model, repo="https://hf.co/a", ok=False).stderr
    hub.refused = "no rights"
    expected = f"did not accept '{REPO}' .*hf auth login.*: no rights"
    assert re.search(expected, push(model, ok=False).stderr)
    assert "no such folder" in push(tmp_path / "none", ok=False).stderr
    done = run("spanft", "card", model / "vocab", ok=False)
    assert "no such folder with meta.json and config.cfg" in done.stderr
    assert not hub.repos


def packaged(model, folder, *options):
    folder.mkdir(exist_ok=True)
    run("package", model, folder, "--build", "none", *options)
    (made,) = folder.iterdir()
    return made, srsly.read_json(made / "meta.json")


def wheel_of(package):
    """Build a wheel, as `spacy package` does, but in this environment."""
    done = processes.run("setup.py", "--quiet", "bdist_wheel", cwd=package)
    assert done.returncode == 0, done.stderr
    (wheel,) = (package / "dist").iterdir()
    return wheel


def required(meta):
    return {requirement.split(">=")[0] for requirement in meta["requirements"]}


PAIRS = {"nlp": {"tokenizer": {"@tokenizers": "spacy-spanft.PairTokenizer.v1"}}}
OVER_IT = {"@architectures": "spacy-spanft.ClsTextCat.v1", "tok2vec": LISTENER}
OVER_IT["exclusive_classes"] = True


@pytest.mark.parametrize(
    ("components", "config", "expected"),
    [
        ([("textcat", {})], None, set()),
        ([("textcat", {})], PAIRS, {OURS}),
        (["transformer", ("textcat", {"model": OVER_IT})], None, {OURS, OVER}),
    ],
)
def test_whatever_is_named_is_required(components, config, expected, bert, tmp_path):
    if components[0] == "transformer":
        transformer = transformer_config(bert)
        components = [(transformer.pop("factory"), transformer), components[1]]
    model = save(tmp_path / "model", *components, config=config)
    _, meta = packaged(model, tmp_path / "packages")
    assert required(meta) == {"spacy", *expected}


def refuse(*args, **settings):
    raise AssertionError("a pickle")


def test_what_is_installed_predicts_the_same_without_a_pickle(
    encoded, tmp_path, monkeypatch
):
    model = encoded
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
