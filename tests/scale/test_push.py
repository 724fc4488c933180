"""Uploads, to a hub on this machine that is asked by huggingface_hub itself."""

import io
import re
import sys
import zipfile
from pathlib import Path
from urllib.request import urlopen

import pytest
import spacy
from huggingface_hub import ModelCard, constants

from spacy_spanft.scale import model_card, opened

from ..commands import run
from .fake_hub import TOKEN, fake_hub
from .trained import save, wheel_of

REPO = "me/en_reviews"
TEXT = "new york was very good"
PARTS = (("span_segmenter", {}), ("textcat", {}))
META = {"name": "reviews", "version": "1.2.0", "license": "MIT"}
PERFORMANCE = {"performance": {"cats_macro_f": 0.5}}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pushed")
    return save(folder / "model", *PARTS, **META, **PERFORMANCE)


@pytest.fixture(scope="module")
def wheel(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("packages")
    run("package", model, folder, "--build", "none")
    return wheel_of(folder / "en_reviews-1.2.0")


@pytest.fixture
def hub(tmp_path):
    with fake_hub(tmp_path / "cache") as hub:
        yield hub


def push(model, *options, repo=REPO, **how):
    return run("spanft", "push", model, "--repo", repo, *options, **how)


def contents(folder):
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def code_of(card, language):
    return re.search(rf"```{language}\n(.*?)```", card, re.DOTALL)[1]


def test_a_folder_arrives_whole_and_loads_as_its_card_says(hub, model):
    done = push(model)
    files = dict(hub.repos[REPO])
    card = files.pop("README.md").decode()
    assert files == contents(model)
    assert hub.stored  # what is large takes another way
    assert f"Uploaded {len(files) + 1} files to {hub.endpoint}/{REPO}" in done.stdout
    assert f"Bearer {TOKEN}" in hub.tokens
    with opened(str(model)) as saved:
        assert card == model_card(saved, REPO)
    names = {}
    exec(code_of(card, "python"), names)
    assert Path(names["nlp"].path).is_relative_to(constants.HF_HUB_CACHE)
    assert names["nlp"](TEXT).cats == spacy.load(model)(TEXT).cats
    push(model, "--message", "Better: é")
    assert hub.messages == ["Upload en_reviews 1.2.0", "Better: é"]


def test_a_wheel_arrives_beside_its_files_and_its_card_installs_it(
    hub, model, wheel, tmp_path, monkeypatch
):
    push(wheel)
    files = hub.repos[REPO]
    card = files.pop("README.md").decode()
    assert files.keys() == {*contents(model), wheel.name}
    changed = {name for name, data in contents(model).items() if data != files[name]}
    assert changed == {"meta.json"}  # with its requirements
    assert files[wheel.name] == wheel.read_bytes()
    assert ModelCard(card).data.eval_results[0].metric_value == 0.5
    install = code_of(card, "bash").replace("https://huggingface.co", hub.endpoint)
    name, url = install.strip().removeprefix("pip install ").strip("'").split(" @ ")
    assert name == "en_reviews"
    with urlopen(url) as file, zipfile.ZipFile(io.BytesIO(file.read())) as archive:
        archive.extractall(tmp_path / "site")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.delitem(sys.modules, name, raising=False)
    names = {}
    exec(code_of(card, "python"), names)
    assert Path(names["nlp"].path).is_relative_to(tmp_path / "site")
    assert names["nlp"](TEXT).cats == spacy.load(model)(TEXT).cats


def test_an_authors_readme_is_kept_and_hidden_files_and_links_stay_here(hub, tmp_path):
    model = save(tmp_path / "model", *PARTS, **META)
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


def test_what_is_to_be_private_is_never_where_anybody_sees_it(hub, model):
    push(model, "--private")
    assert hub.private == {REPO}
    push(model, "--private")
    push(model, repo="me/public")
    n_messages = len(hub.messages)
    done = push(model, "--private", repo="me/public", ok=False)
    assert "'me/public' already exists, and anybody can see it" in done.stderr
    assert len(hub.messages) == n_messages


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("repos/create", 401),
        ("validate-yaml", 400),
        ("commit/main", 413),
        ("store/", 403),
    ],
)
def test_what_the_hub_refuses_is_one_clear_error(hub, model, path, status):
    hub.refuse[path] = (status, "no rights")
    done = push(model, ok=False)
    assert f"did not accept '{REPO}'" in done.stderr
    assert "hf auth login" in done.stderr
    assert done.stderr.count("✘") == 1
    assert not hub.messages


@pytest.mark.parametrize("repo", ["reviews", "me/", "https://hf.co/me/a"])
def test_names_that_no_repository_has(hub, model, repo):
    assert "--repo is " in push(model, repo=repo, ok=False).stderr
    assert not hub.asked


def no_wheel(folder):
    path = folder / "en_x-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("a/b/config.cfg", "[nlp]\nlang = en\n")
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: folder / "none", "there is no such folder"),
        (lambda folder: folder / "meta.json", "is a file"),
        (lambda folder: folder / "vocab", "has no meta.json and no config.cfg."),
        (lambda folder: "blank:en", "blank:en"),
        (lambda folder: (folder / "meta.json").write_text("[]") and folder, "meta"),
        (lambda folder: (folder / "config.cfg").write_text("[n") and folder, "[n"),
        (lambda folder: folder / "no.whl", "is not a wheel"),
        (no_wheel, "is not a pipeline"),
    ],
)
def test_what_is_no_pipeline(hub, change, message, tmp_path):
    path = change(save(tmp_path / "model", ("textcat", {})))
    for command in (("push", path, "--repo", REPO), ("card", path)):
        done = run("spanft", *command, ok=False)
        assert done.stderr.startswith("✘"), done.stderr
        assert message in done.stderr
    assert not hub.asked
