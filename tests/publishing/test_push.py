"""Uploads, to a hub on this machine that is asked by huggingface_hub itself."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import spacy
from huggingface_hub import ModelCard, constants

from spacy_spanft.publishing import model_card, opened

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
    there = hub.repos[REPO]
    card = there.pop("README.md").decode()
    assert there == contents(model)
    assert hub.stored  # what is large takes another way
    assert f"✔ Uploaded {len(there) + 1} files to {hub.endpoint}/{REPO}" in done.stdout
    assert hub.messages == ["Upload en_reviews 1.2.0"]
    assert f"Bearer {TOKEN}" in hub.tokens
    with opened(str(model)) as saved:
        assert card == model_card(saved, REPO)
    there["README.md"] = card.encode()
    names = {}
    exec(code_of(card, "python"), names)
    assert Path(names["nlp"].path).is_relative_to(constants.HF_HUB_CACHE)
    assert names["nlp"](TEXT).cats == spacy.load(model)(TEXT).cats
    assert "README.md" not in contents(model)


def test_a_wheel_arrives_beside_its_files_and_is_installed(hub, model, wheel, tmp_path):
    push(wheel)
    there = hub.repos[REPO]
    assert there.pop(wheel.name) == wheel.read_bytes()
    card = there.pop("README.md").decode()
    own = contents(model)
    assert there.keys() == own.keys()
    changed = {name for name in own if own[name] != there[name]}
    assert changed == {"meta.json"}  # with its requirements
    assert ModelCard(card).data.eval_results[0].metric_value == 0.5
    there[wheel.name] = wheel.read_bytes()
    install = code_of(card, "bash").replace("https://huggingface.co", hub.endpoint)
    pip = [sys.executable, "-m", "pip", *install.replace("'", "").split(" ", 2)[1:]]
    command = [*pip[:-1], "--no-deps", "--quiet", "--target", tmp_path, pip[-1].strip()]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    code = code_of(card, "python").replace(
        "print(doc.cats)", f"cats = nlp({TEXT!r}).cats"
    )
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{Path.cwd()}"}
    shown = subprocess.run(
        [sys.executable, "-c", f"{code}\nprint(nlp.path, cats)"],
        **{"capture_output": True, "text": True, "env": environment},
    )
    assert str(tmp_path) in shown.stdout, shown.stderr
    assert str(spacy.load(model)(TEXT).cats) in shown.stdout


def test_again_and_with_a_message(hub, model):
    push(model)
    before = dict(hub.repos[REPO])
    push(model, "--message", "Better: é")
    assert hub.repos[REPO] == before
    assert hub.messages[1:] == ["Better: é"]


def test_a_card_of_its_author_is_kept(hub, tmp_path):
    model = save(tmp_path / "model", *PARTS, **META)
    (model / ".env").write_text("secret")
    (model / ".cache").mkdir()
    (model / ".cache" / "x").write_text("secret")
    for written in ("---\nlicense: mit\n---\n# Mine\n", "# Mine é\n\nText.\n"):
        (model / "README.md").write_text(written, encoding="utf8")
        push(model)
        pushed = hub.repos[REPO]["README.md"].decode()
        assert pushed.endswith(written)
        assert ModelCard(pushed).data.license == "mit"
        assert pushed.count("---\n") == 2
    assert not any(name.startswith(".") for name in hub.repos[REPO])


def test_private(hub, model):
    push(model, "--private")
    assert hub.private == {REPO}
    push(model, "--private")
    assert len(hub.messages) == 2


def test_what_is_to_be_private_is_not_put_where_anybody_sees_it(hub, model):
    push(model)
    done = push(model, "--private", ok=False)
    assert f"'{REPO}' already exists, and anybody can see it" in done.stderr
    assert len(hub.messages) == 1


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("repos/create", 401, "does not accept your token"),
        ("repos/create", 403, "Your token may not write to 'me/en_reviews': no rights"),
        ("repos/create", 500, "did not take 'me/en_reviews': no rights"),
        ("validate-yaml", 400, "does not accept the top of README.md"),
        ("preupload", 404, "did not take"),
        ("commit/main", 413, "did not take 'me/en_reviews': no rights"),
        ("lfs/objects", 403, "Your token may not write"),
        ("store/", 403, "Your token may not write"),
    ],
)
def test_what_the_hub_refuses_is_told_in_one_line(hub, model, path, status, message):
    hub.refuse[path] = (status, "no rights")
    done = push(model, ok=False)
    assert message in done.stderr
    assert done.stderr.count("✘") == 1
    assert not hub.messages


def test_no_hub(hub, model, monkeypatch):
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    done = push(model, ok=False)
    assert "The Hugging Face hub (http://127.0.0.1:9) cannot be reached" in done.stderr
    assert not hub.asked


def test_not_logged_in(hub, model, monkeypatch, tmp_path):
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "no token"))
    done = push(model, ok=False)
    assert "You are not logged in" in done.stderr
    assert not hub.asked


@pytest.mark.parametrize(
    "repo",
    [
        *("", "reviews", "me/", "/reviews", "me/a/b", "me/a b", "me/é", "../reviews"),
        *("me/-a", "me/a.git", "me/a--b", "me/" + 100 * "a", "https://hf.co/me/a"),
        *("me/a\n", "me\\a", "me/a?b", "@me/a"),
    ],
)
def test_names_that_no_repository_has(hub, model, repo):
    done = push(model, repo=repo, ok=False)
    assert "--repo is " in done.stderr
    assert not hub.asked


def write(name, text):
    def change(model):
        (model / name).write_text(text, encoding="utf8")
        return model

    return change


def zipped(name, *files):
    def make(model):
        path = model.with_name(name)
        with zipfile.ZipFile(path, "w") as file:
            for one in files:
                file.writestr(one, "{}")
        return path

    return make


def removed(name):
    def change(model):
        (model / name).unlink()
        return model

    return change


META_OF = '{"lang": "en", "name": "x", "version": "1", "requirements": ["a 1.0"]}'
WHEEL = "en_x-1.0-py3-none-any.whl"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: model / "none", "there is no such folder"),
        (lambda model: model / "meta.json", "is a file"),
        (lambda model: model / "vocab", "has no meta.json and no config.cfg."),
        (lambda model: "blank:en", "it has no folder"),
        (lambda model: "", "no meta.json"),
        (removed("meta.json"), "has no meta.json."),
        (removed("config.cfg"), "has no config.cfg."),
        (write("meta.json", "{"), "meta.json is damaged"),
        (write("meta.json", "[]"), "meta.json"),
        (write("meta.json", "{}"), "meta.json"),
        (write("meta.json", '{"lang": "en"}'), "meta.json"),
        (write("meta.json", '{"lang": 1, "name": "x", "version": "1"}'), "meta.json"),
        (write("meta.json", META_OF.replace("1.0", "1>")), "meta.json"),
        (write("config.cfg", "[nlp"), "cannot be loaded"),
        (write("config.cfg", ""), "config"),
        (write("config.cfg", '[nlp]\nlang = "xyz"\n'), "xyz"),
        (removed("tokenizer"), "tokenizer"),
        (removed("textcat/model"), "model"),
        (write("textcat/model", "damaged"), "model"),
        (lambda model: model / "no.whl", "is not the wheel of a pipeline"),
        (write(WHEEL, "x"), "no.whl"),
        (zipped("en_x-any-py3-none-any.whl"), "invalid version"),
        (zipped(WHEEL), "there is no pipeline in it"),
        (zipped(WHEEL, "a/b/config.cfg"), "there is no pipeline in it"),
        (zipped(WHEEL, "a/b/config.cfg", "a/b/meta.json"), "meta.json"),
    ],
)
def test_what_is_no_pipeline(hub, model, change, message, tmp_path):
    copy = tmp_path / "model"
    save(copy, ("textcat", {}))
    path = change(copy)
    if path == copy and (copy / WHEEL).exists():
        path, message = copy / WHEEL, "is not the wheel of a pipeline"
    for command in (("push", path, "--repo", REPO), ("card", path)):
        done = run("spanft", *command, ok=False)
        assert done.stderr.startswith("✘ ["), done.stderr
        assert message in done.stderr
        assert "Traceback" not in done.stderr
    assert not hub.asked
