"""The project: every workflow runs, is run once, and ends in a report."""

import json
import runpy
import shutil
import sys
from functools import partial
from itertools import product
from pathlib import Path

import pytest
import spacy
import srsly
from spacy.tokens import DocBin

from spacy_spanft import NgramDictionary
from spacy_spanft.experiments import plan_runs, read_arms

from ..commands import run as spacy_command
from .task_data import LAYOUTS, write_layout

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "project"


def run(*args, cwd, ok=True):
    """Run `spacy project` and its commands in this process, and return the output."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("weasel.cli.run.run_command", partial(run_python, patch))
        patch.syspath_prepend(cwd / "scripts")
        done = spacy_command("project", *args, cwd=cwd, ok=ok)
    return done.stdout + done.stderr


def run_python(patch, command, **how):
    _, file, *args = command  # "python"
    if file == "-m":
        done = spacy_command(*args[1:])
        print(done.stdout, done.stderr)
        return
    patch.setattr("sys.argv", [file, *args])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(file, run_name="__main__")
    if ended.value.code:
        sys.exit(ended.value.code)


@pytest.fixture(scope="module")
def project():
    return srsly.read_yaml(PROJECT / "project.yml")


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    ignored = shutil.ignore_patterns("assets", "corpus", "training", "metrics")
    folder = tmp_path_factory.mktemp("copy") / "project"
    shutil.copytree(PROJECT, folder, ignore=ignored)
    return folder


def check_outputs(project, workflow, copy, **changed):
    values = {**project["vars"], **changed}
    commands = {command["name"]: command for command in project["commands"]}
    for name in project["workflows"][workflow]:
        for output in commands[name]["outputs"]:
            for key, value in values.items():
                output = output.replace(f"${{vars.{key}}}", str(value))
            assert (copy / output).exists()


def check_report(folder, arms):
    """Check the three reports, and return the tasks of one of them."""
    values = json.loads((folder / "comparison.json").read_text())
    table = (folder / "comparison.md").read_text()
    page = (folder / "comparison.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert '<div class="scale" role="img"' in page
    for task, comparison in values["tasks"].items():
        assert [arm["name"] for arm in comparison["arms"]] == arms
        assert f"## {task}" in table
        assert comparison["seconds"].keys() == set(arms)
        assert all(f"| {arm} |" in table and arm in page for arm in arms)
    return values["tasks"]


SMALL = (
    *("--vars.demo_scale", 0.03, "--vars.demo_epochs", 1, "--vars.demo_seeds", 1),
    *("--vars.demo_min_count", 10),
)


def test_demo(project, copy):
    output = run("run", "demo", ".", *SMALL, cwd=copy)
    assert "| ngrams | " in output
    assert f"3 runs: {Path('metrics', 'demo', 'comparison.html')}" in output
    check_outputs(project, "demo", copy)
    tasks = check_report(copy / "metrics" / "demo", ["encoder", "random", "ngrams"])
    (demo,) = tasks.values()
    assert (demo["metric"], demo["n_docs"]) == ("cats_accuracy", 15)
    # Another number of seeds trains and reports again; the data stay.
    more = ("--vars.demo_seeds", 2, "--dry")
    again = run("run", "demo", ".", *SMALL, *more, cwd=copy)
    assert again.count("nothing changed") == 3
    spans = run("run", "spans", ".", *SMALL, cwd=copy)
    assert spans.count("nothing changed") == 2
    check_outputs(project, "spans", copy)


@pytest.fixture(scope="module")
def ngrams(tmp_path_factory):
    path = tmp_path_factory.mktemp("ngrams") / "ngrams.tsv.gz"
    counts = {f"the film{i}": 2000 - i for i in range(1100)}
    NgramDictionary({**counts, "new york": 9}).to_disk(path)
    return path


@pytest.fixture(scope="module")
def settings(tmp_path_factory, bert, ngrams):
    """Settings for a few texts of a real task's form, a small encoder, one seed."""
    folder = tmp_path_factory.mktemp("data")
    for layout in ("cola", "wnut17"):
        write_layout(layout, folder / LAYOUTS[layout][0])
    return (
        *("--vars.data_dir", folder, "--vars.transformer", bert, "--vars.limit", 8),
        *("--vars.seeds", 1, "--vars.epochs", 1, "--vars.jobs", 2),
        *("--vars.base_dictionary", ngrams),
    )


def test_textcat(project, copy, settings):
    run("run", "textcat", ".", *settings, cwd=copy)
    check_outputs(project, "textcat", copy)
    tasks = check_report(copy / "metrics" / "cola" / "spans", ["encoder", "ngrams"])
    assert tasks["cola"]["metric"] == "cats_matthews"


def test_ner(project, copy, settings):
    output = run("run", "ner", ".", *settings, cwd=copy, ok=False)
    assert "'cola' is not a task of kind 'ner'. These are: conll2003, wnut17" in output
    run("run", "ner", ".", *settings, "--vars.task", "wnut17", cwd=copy)
    check_outputs(project, "ner", copy, task="wnut17")
    check_report(copy / "metrics" / "wnut17" / "spans", ["encoder", "ngrams"])


def test_all_files_of_arms_can_be_planned(copy, settings, bert, tmp_path):
    task = copy / "corpus" / "cola"
    for command in ("prepare", "dictionaries"):
        run("run", command, ".", *settings, cwd=copy)
    n_ngrams = {
        name: len(NgramDictionary.from_disk(task / f"{name}.tsv.gz"))
        for name in ("default", "task", "merged")
    }
    # The task's texts are too few for n-grams of their own.
    assert n_ngrams == {"default": 1101, "task": 0, "merged": 1101}
    paths = {"transformer": str(bert), "dictionary": str(task / "merged.tsv.gz")}
    for file in sorted((PROJECT / "arms").glob("*.yml")):
        overrides = {f"paths.{name}": path for name, path in paths.items()}
        how = {"pipeline": "textcat", "seeds": [0], "overrides": overrides}
        arms = read_arms(file)
        planned = plan_runs(arms, [task], tmp_path, **how)
        assert [run_.arm for run_ in planned] == [arm.name for arm in arms]


def test_demo_data(tmp_path):
    import make_demo
    from demo_language import EXPRESSIONS

    # The language says nothing by single words.
    words = [sorted(w for phrase in x for w in phrase) for x in EXPRESSIONS.values()]
    assert words[0] == words[1]
    for name in ("a", "b"):
        make_demo.main(tmp_path / name, seed=3, scale=0.02)
        make_demo.main(tmp_path / name / "nltk_data", seed=3, scale=0.02, nltk=True)
    files = [p.relative_to(tmp_path / "a") for p in (tmp_path / "a").rglob("*.*")]
    assert len(files) == 14
    for file in files:
        first, second = (tmp_path / name / file for name in ("a", "b"))
        assert first.read_bytes() == second.read_bytes()
    vocab = spacy.blank("en").vocab
    texts = []
    for task, part in product(("textcat", "ner"), ("train", "dev", "test")):
        file = tmp_path / "a" / task / f"{part}.spacy"
        docs = list(DocBin().from_disk(file).get_docs(vocab))
        texts += [doc.text for doc in docs]
        assert all(doc.ents if task == "ner" else doc.cats for doc in docs)
    assert len(set(texts)) == len(texts)


def test_readme_is_what_the_project_says(copy):
    run("document", ".", "--output", "new.md", cwd=copy)
    expected = (copy / "new.md").read_text(encoding="utf8")
    assert (PROJECT / "README.md").read_text(encoding="utf8") == expected
