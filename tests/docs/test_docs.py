"""Every snippet of the documentation runs, and says what the documentation says."""

import io
import re
import shlex
import shutil
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

import pytest
from spacy.util import load_model

from spacy_spanft.experiments import comparison, read_arms
from spacy_spanft.util import pipelines

from ..commands import run
from ..scale.fake_hub import fake_hub
from .page_checks import check_config, do
from .page_folder import save_all
from .pages import pages, read, snippets

SNIPPETS = [(page, snippet) for page in pages() for snippet in snippets(page)]
# What they do needs the extra: its encoder, or configs/, which have it.
OVER_SPACY_TRANSFORMERS = (
    "docs/guides/encoders.md",
    "docs/guides/text_classification.md",
)


def each(language, note=None):
    """Parametrize a test by the snippets of a language, with such a note if any."""
    of_language = [pair for pair in SNIPPETS if pair[1].language == language]
    cases = [pair for pair in of_language if note in (None, pair[1].note)]
    assert cases, f"no snippet of {language} is tested"
    ids = [page for page, _ in cases]
    return pytest.mark.parametrize("snippet", [x for _, x in cases], ids=ids)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    save_all(folder)
    return folder


@pytest.fixture
def folder(saved, tmp_path, monkeypatch):
    """The current folder, for one page."""
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    alone = lambda function, *args: function(*args)  # noqa: E731
    monkeypatch.setattr(comparison, "run_in_subprocess", alone)
    monkeypatch.setattr(pipelines, "load_model", load)
    with fake_hub(tmp_path / "cache"):
        yield tmp_path
    load_written.cache_clear()


def load(path):
    """Load a pipeline once, unless it is written again."""
    return load_written(path, (Path(path) / "meta.json").stat().st_mtime_ns)


load_written = cache(lambda path, _: load_model(path))
RUN = sorted({page for page, x in SNIPPETS if x.language in ("python", "bash")})


@pytest.mark.parametrize("page", RUN)
def test_the_snippets_of_a_page_run_in_their_order(page, folder):
    if page in OVER_SPACY_TRANSFORMERS:
        pytest.importorskip("spacy_transformers")
    names = {}
    for snippet in snippets(page):
        if snippet.note == "file":
            (folder / snippet.value).write_text(snippet.code, encoding="utf8")
        elif snippet.language == "bash":
            for line in snippet.lines:
                do(line)
        elif snippet.language == "python":
            output = io.StringIO()
            with redirect_stdout(output):
                exec(snippet.code, names)
            for expected in re.findall(r"^# (\[.*)$", snippet.code, re.MULTILINE):
                assert expected in output.getvalue()
    commands = " ".join(x.code for x in snippets(page) if x.language == "bash")
    for name in ("page.html", "wikitext.tsv.gz", "dev.spacy", "encoder"):
        if f" {name}\n" in commands:
            assert (folder / name).exists()


@each("ini")
def test_configs_make_what_they_show(snippet, folder):
    check_config(snippet)


@each("text", "output of")
def test_commands_print_what_is_shown(snippet):
    words = shlex.split(snippet.value.removeprefix("python -m spacy "))
    assert run(*words).stdout.startswith(snippet.code)


@each("yaml")
def test_arms_can_be_read(snippet, tmp_path):
    path = tmp_path / "arms.yml"
    path.write_text(snippet.code, encoding="utf8")
    assert read_arms(path)[0].config == "baseline"


def test_the_readme_is_short_and_its_links_work_anywhere():
    """It is also shown where its folder is not: only pictures are linked there."""
    text = read("README.md")
    assert len(text.splitlines()) <= 150
    links = re.findall(r"\]\(([^)]+)\)", text)
    relative = [link for link in links if not link.startswith("https://")]
    assert relative == ["docs/report.png", "docs/spans.svg"]
