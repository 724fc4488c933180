"""Folders of training runs, `spanft compare` over them, and the processes it makes."""

import json
import shutil
import sys

import pytest

from spacy_spanft.cli.experiments import group
from spacy_spanft.errors import ComparisonError
from spacy_spanft.experiments.comparison import comparing
from spacy_spanft.experiments.comparison.runs import (
    Training,
    arms_of,
    missing_of,
    notes_of,
    read_trainings,
)
from spacy_spanft.experiments.report import tasks
from spacy_spanft.experiments.report.tasks import task_of_runs

from ..commands import run
from .measured import Page, labeled


def write_runs(folder, arms=("base", "ours"), seeds=(10, 2), notes=None):
    """Write a folder as an experiment does, with one run that is unfinished."""
    folder.mkdir(parents=True)
    values = {"arms": arms, "notes": notes or {}}
    values["runs"] = {f"{a}/{s}": f"{a}{s}" for a in arms for s in seeds}
    (folder / "arms.json").write_text(json.dumps(values))
    for arm in reversed(arms):
        for seed in seeds:
            run = folder / arm / str(seed)
            (run / "model").mkdir(parents=True)
            values = {"fingerprint": f"{arm}{seed}"}
            values |= {"arm": arm, "seed": seed, "seconds": 1.5, "peak_memory": None}
            values |= {"words_per_second": 100, "others": [1]}
            (run / "run.json").write_text(json.dumps(values))
            rows = [{"step": 5, "score": 0.5, "epoch": 0}, {"step": 10, "score": 0.75}]
            lines = "".join(json.dumps(row) + "\n" for row in rows)
            (run / "log.jsonl").write_text(lines)
    (folder / arms[0] / "3").mkdir(exist_ok=True)
    (folder / arms[0] / "3" / "log.jsonl").write_text("{")
    return folder


def test_folders_of_runs(tmp_path):
    folder = write_runs(tmp_path / "cola", notes={"ours": "a note"})
    arms = json.loads((folder / "arms.json").read_text())
    arms["arms"].append("never")
    (folder / "arms.json").write_text(json.dumps(arms))
    curve = [(5, 0.5), (10, 0.75)]
    assert read_trainings(folder) == [
        Training(arm, seed, 1.5, 100.0, None, curve)
        for arm in ("base", "ours")
        for seed in (2, 10)
    ]
    found = arms_of(str(folder))
    assert list(found.items()) == [
        (arm, [folder / arm / "2" / "model", folder / arm / "10" / "model"])
        for arm in ("base", "ours")
    ]
    assert notes_of(folder) == {"ours": "a note"}


def test_what_is_no_folder_of_runs(tmp_path):
    with pytest.raises(ComparisonError, match=r"not a folder of runs: it has no arms"):
        read_trainings(tmp_path)


def test_runs_of_earlier_matrices_are_left_out(tmp_path):
    folder = write_runs(tmp_path / "cola", seeds=(1, 2, 4))
    arms = json.loads((folder / "arms.json").read_text())
    for arm in ("base", "ours"):
        del arms["runs"][f"{arm}/4"]
    arms["runs"]["ours/2"] = "other"  # to be done again, but was not
    (folder / "arms.json").write_text(json.dumps(arms))
    found = [(one.arm, one.seed) for one in read_trainings(folder)]
    assert found == [("base", 1), ("base", 2), ("ours", 1)]
    assert [len(paths) for paths in arms_of(folder).values()] == [2, 1]


def break_runs(folder):
    """Let one run be whole, and each of the others be missing in its own way."""
    runs = write_runs(folder, ("base", "ours", "never"), range(4))
    for seed in range(4):
        shutil.rmtree(runs / "never" / str(seed))
    shutil.rmtree(runs / "base" / "1")
    (runs / "base" / "1.failed").mkdir()
    log = "Training\nValueError: no \x1b[2J memory at all.\n"
    (runs / "base" / "1.failed" / "log.txt").write_text(log)
    (runs / "base" / "2" / "model").rmdir()
    (runs / "base" / "3" / "run.json").unlink()
    (runs / "base" / "3.going").mkdir()
    (runs / "ours" / "2" / "run.json").write_text('{"fingerprint": "old"}')
    return runs


def test_whatever_is_missing_is_named_with_its_reason(tmp_path):
    found = missing_of(break_runs(tmp_path / "cola"))
    assert (found.n_runs, found.arms) == (12, ["never"])
    reasons = {f"{run.arm}/{run.seed}": run.reason for run in found.runs}
    assert list(reasons) == [
        *("base/1", "base/2", "base/3", "ours/2"),
        *(f"never/{seed}" for seed in range(4)),
    ]
    never = "not trained, or not to the end"
    assert reasons["base/1"] == r"failed: ValueError: no \x1b[2J memory at all"
    assert "no folder model beside run.json" in reasons["base/2"]
    assert reasons["base/3"] == reasons["never/3"] == never
    assert "other settings or data" in reasons["ours/2"]
    assert found.told() == [
        "Missing runs: 8 of 12: base/1, base/2, base/3, ours/2, never/0, never/1, "
        "never/2, never/3.",
        "Arms without a finished run: never.",
    ]
    same = "base/3, never/0, never/1, never/2, never/3: not trained, or not to the end."
    assert same in found.reasons()
    whole = missing_of(write_runs(tmp_path / "mrpc"))
    assert (whole.runs, whole.arms, whole.told()) == ([], [], [])


def test_a_folder_without_its_baseline(tmp_path):
    folder = write_runs(tmp_path / "cola")
    for run_ in ("2", "10"):
        (folder / "base" / run_ / "run.json").unlink()
    assert {one.arm for one in read_trainings(folder)} == {"ours"}
    with pytest.raises(ComparisonError, match="no finished run of 'base', the first"):
        arms_of(folder)
    with pytest.raises(ComparisonError, match="no finished run of 'base', the first"):
        task_of_runs(folder, "x", allow_missing=True)


@pytest.fixture
def measured(monkeypatch):
    """Let every pipeline named ours be right, and every other one in half."""

    def measure(paths, setup):
        is_ours = "ours" in paths[0]
        return labeled([1 if is_ours else i % 2 for i in range(20)])

    monkeypatch.setattr(comparing, "measure_in_subprocess", measure)
    monkeypatch.setattr(comparing, "check_pipeline", lambda path: None)
    monkeypatch.setattr(tasks, "reasons_in_subprocess", lambda *args: [])


@pytest.mark.usefixtures("measured")
def test_compare_folders_of_runs(tmp_path):
    for name, note in (("cola", "one."), ("mrpc", "two.")):
        write_runs(tmp_path / "runs" / name, notes={"ours": note})
    folders = ["--runs", "runs/cola", "-r", "runs/mrpc", "-d", "c.spacy", "-d", "m.tsv"]
    (tmp_path / "c.spacy").touch()
    done = run("spanft", "compare", *folders, cwd=tmp_path, ok=False)
    assert "There is no file 'm.tsv'" in done.stderr
    (tmp_path / "m.tsv").touch()
    done = run("spanft", "compare", *folders, "-o", "out", cwd=tmp_path)
    values = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert list(values) == ["tasks"]
    assert [(k, v["data"]) for k, v in values["tasks"].items()] == [
        ("cola", "c.spacy"),
        ("mrpc", "m.tsv"),
    ]
    cola = values["tasks"]["cola"]
    assert cola["notes"] == {"ours": "one."}
    assert [arm["scores"] for arm in cola["arms"]] == [[0.5, 0.5], [1.0, 1.0]]
    assert cola["trainings"][0]["seed"] == 2
    table = (tmp_path / "out" / "comparison.md").read_text()
    assert table in done.stdout
    assert [line for line in table.splitlines() if line[:2] == "##"] == [
        "## cola",
        "## mrpc",
    ]
    assert "| Memory | Spans/text |" in table
    assert "| 567 MB | 1.0 |" in table
    assert "ours: one." in table
    page = Page((tmp_path / "out" / "comparison.html").read_text(encoding="utf8"))
    assert page.rows(0)[0] == ["Arm", "cola: cats_accuracy", "mrpc: cats_accuracy"]
    assert "Note on ours: two." in page.text
    assert "75.0" in page.all("img")[1]["alt"]


@pytest.mark.usefixtures("measured")
def test_an_incomplete_matrix_is_compared_only_if_asked_for(tmp_path):
    break_runs(tmp_path / "cola")
    (tmp_path / "x.spacy").touch()
    compare = ("spanft", "compare", "--runs", "cola", "-d", "x.spacy", "-o", "out")
    done = run(*compare, cwd=tmp_path, ok=False)
    assert len(done.stderr.splitlines()) == 1
    for expected in (
        "The experiment in 'cola' is not complete. Missing runs: 8 of 12: base/1, ",
        r"base/1: failed: ValueError: no \x1b[2J memory at all.",
        "Arms without a finished run: never.",
        "Rerun it to resume",
        "--allow-missing",
    ):
        assert expected in done.stderr
    assert not (tmp_path / "out").exists()
    done = run(*compare, "--allow-missing", cwd=tmp_path)
    told = "Missing runs: 8 of 12: base/1, base/2, base/3, ours/2"
    assert f"## cola\n\n{told}" in done.stdout
    assert "Arms without a finished run: never." in done.stdout
    assert r"failed: ValueError: no \\x1b\[2J memory at all" in done.stdout
    assert "\x1b" not in done.stdout
    out = tmp_path / "out"
    assert (out / "comparison.md").read_text() in done.stdout
    missing = json.loads((out / "comparison.json").read_text())["tasks"]["cola"][
        "missing"
    ]
    assert (missing["n_runs"], missing["arms"]) == (12, ["never"])
    assert missing["runs"][1]["seed"] == "2"
    page = Page((out / "comparison.html").read_text(encoding="utf8"))
    # The headline begins with it, and the reasons stand below.
    assert f"{told}, never/0, never/1, never/2, never/3. Arms" in page.text
    assert "Missing base/1: failed: ValueError" in page.text


@pytest.mark.usefixtures("measured")
def test_without_matplotlib_the_rest_is_written(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    arms = ["base=base", "ours=ours", "--data", "test.spacy"]
    done = run("spanft", "compare", *arms, "-o", "out", cwd=tmp_path)
    assert 'pip install "spacy-spanft[experiments]"' in done.stderr
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["comparison.json", "comparison.md"]
    assert "arms" in json.loads((tmp_path / "out" / "comparison.json").read_text())


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["a=b", "--runs", "x"], "by --runs, not both: a=b would be left out"),
        (
            ["--runs", "cola", "--runs", "mrpc"],
            "2 by --data, not 1",
        ),
        (["a=b", "--data", "more"], "1 by --data, not 2"),
        (["--runs", "cola", "-r", "./cola", "-d", "b"], "are named 'cola'"),
        (["--runs", "nowhere"], "'nowhere' is not a folder of runs"),
        (["a=b", "-o", "cola/arms.json"], "cola/arms.json' is a file. Name a folder"),
        ([], "There is nothing to compare"),
        (["a=b", "a=b"], "'a' has the pipeline 'b' twice"),
        (["a= "], "names no pipeline"),
        (["a=b", "--allow-missing"], "--allow-missing applies to --runs only"),
    ],
)
def test_errors_of_the_command(tmp_path, args, expected):
    for name in ("cola", "mrpc"):
        write_runs(tmp_path / name)
    done = run("spanft", "compare", *args, "-d", "x.spacy", cwd=tmp_path, ok=False)
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.usefixtures("measured")
def test_odd_names_and_numbers_of_runs(tmp_path):
    long, red = "x" * 300, "\x1b[31m|\n<b>"
    arms = [f"{long}=a", f"{red}=ours1", f"{red}=ours2", "c=" + "y" * 5000]
    done = run("spanft", "compare", *arms, "-d", "x.spacy", cwd=tmp_path)
    assert f"| {long} | 1 |" in done.stdout
    assert r"| \\x1b\[31m\|\\n&lt;b&gt; | 2 |" in done.stdout
    assert "The arms have different numbers of runs: xxx" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    done = run("spanft", "compare", "a", "-d", "x.spacy", cwd=tmp_path)
    assert done.stderr == ""
    assert group(["a\0=b\0"]) == {"a\0": ["b\0"]}
