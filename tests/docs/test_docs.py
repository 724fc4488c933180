"""Every snippet of the documentation runs, and says what the documentation says."""

import io
import json
import re
import shlex
import shutil
from contextlib import redirect_stdout

import pytest
import spacy
from spacy.training import Example

from spacy_spanft.experiments import comparison, read_arms
from spacy_spanft.experiments.metrics import Metric
from spacy_spanft.experiments.written import annotate
from spacy_spanft.training.readers.rows import Row

from ..commands import run
from ..scale.fake_hub import fake_hub
from . import page_configs
from .page_commands import do
from .page_folder import save_all
from .pages import lines_of, pages, read, snippets


def with_some(language, note=None):
    """Find the pages that have snippets of a language."""
    return [
        page
        for page in pages()
        if any(
            one.language == language and note in (None, one.note)
            for one in snippets(page)
        )
    ]


RUN = sorted({*with_some("python"), *with_some("bash")})
# What they do needs the extra: its encoder, or configs/, which have it.
OVER_SPACY_TRANSFORMERS = (
    "docs/guides/encoders.md",
    "docs/guides/experiments.md",
    "docs/guides/text_classification.md",
)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A folder with all that the snippets find, made once."""
    folder = tmp_path_factory.mktemp("page")
    save_all(folder)
    return folder


@pytest.fixture
def folder(saved, tmp_path, monkeypatch):
    """The current folder, for one page."""
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        comparison, "run_in_subprocess", lambda function, *args: function(*args)
    )
    with fake_hub(tmp_path / "cache"):
        yield tmp_path


@pytest.mark.parametrize("page", RUN)
def test_what_runs(page, folder):
    if page in OVER_SPACY_TRANSFORMERS:
        pytest.importorskip("spacy_transformers")
    names = {}
    for one in snippets(page):
        if one.note == "file":
            (folder / one.value).write_text(one.code, encoding="utf8")
        elif one.language == "bash":
            for line in lines_of(one):
                do(line)
        elif one.language == "python":
            output = io.StringIO()
            with redirect_stdout(output):
                exec(one.code, names)
            for expected in re.findall(r"^# (\[.*)$", one.code, re.MULTILINE):
                assert expected in output.getvalue()
    commands = " ".join(one.code for one in snippets(page) if one.language == "bash")
    for name in ("page.html", "wikitext.tsv.gz", "dev.spacy", "encoder"):
        if f" {name}\n" in commands:
            assert (folder / name).exists()


@pytest.mark.parametrize("page", with_some("ini"))
def test_configs(page, folder):
    for one in snippets(page):
        if one.language == "ini":
            page_configs.check(one)


@pytest.mark.parametrize("page", with_some("text", "output of"))
def test_outputs(page):
    for one in snippets(page):
        if one.note == "output of":
            words = shlex.split(one.value.removeprefix("python -m spacy "))
            assert run(*words).stdout.startswith(one.code)


@pytest.mark.parametrize("page", with_some("yaml"))
def test_arms(page, tmp_path):
    for one in snippets(page):
        if one.language == "yaml":
            path = tmp_path / "arms.yml"
            path.write_text(one.code, encoding="utf8")
            assert read_arms(path)[0].config == "baseline"


@pytest.mark.parametrize("page", with_some("json"))
def test_rows_of_predictions(page):
    nlp = spacy.blank("en")
    code = "".join(one.code for one in snippets(page) if one.language == "json")
    for cells in map(json.loads, code.splitlines()):
        doc = nlp.make_doc(cells["text"])
        example = Example(doc, doc.copy())
        key = "cats" if "label" in cells else "ents"
        metric = {"cats": "cats_accuracy", "ents": "ents_f"}[key]
        annotate(example, Row("Line 1", cells), "", Metric(metric, None, None, None))
        assert doc.to_json()[key] == cells.get(key, {cells.get("label"): 1.0})


def test_all_kinds_are_there():
    """Where no snippet is found, no test runs."""
    found = {one.language for page in pages() for one in snippets(page)}
    notes = {one.note for page in pages() for one in snippets(page)}
    assert found == {"python", "bash", "ini", "json", "yaml", "text"}
    assert notes == {"", "file", "output of", "pipeline", "part of", "builds"}
    commands = [
        line
        for page in RUN
        for one in snippets(page)
        if one.language == "bash"
        for line in lines_of(one)
    ]
    for name in ("spanft", "init", "evaluate", "train", "project"):
        assert any(line.startswith(f"python -m spacy {name} ") for line in commands)


def test_readme_is_short_and_its_links_work_anywhere():
    """It is also shown where its folder is not: only the picture is linked there."""
    text = read("README.md")
    assert len(text.splitlines()) <= 150
    links = re.findall(r"\]\(([^)]+)\)", text)
    relative = [link for link in links if not link.startswith("https://")]
    assert relative == ["docs/spans.svg"]
