"""Folders of training runs, `spanft compare` over them, and the processes it makes."""

import json
import shutil
import sys

import pytest

from spacy_spanft.errors import ComparisonError
from spacy_spanft.experiments import comparison
from spacy_spanft.experiments.experiment import task_of_runs
from spacy_spanft.experiments.run_folder import Training, read_runs

from ..commands import run
from .measured import Page, labeled


def write_runs(folder, arms=("base", "ours"), seeds=(10, 2), notes=None):
    """Write a folder as an experiment does, with one run that is unfinished."""
    folder.mkdir(parents=True)
    facts = {"arms": arms, "notes": notes or {}}
    facts["runs"] = {f"{a}/{s}": f"{a}{s}" for a in arms for s in seeds}
    (folder / "arms.json").write_text(json.dumps(facts))
    for arm in reversed(arms):
        for seed in seeds:
            run = folder / arm / str(seed)
            (run / "model").mkdir(parents=True)
            facts = {"fingerprint": f"{arm}{seed}"}
            facts |= {"arm": arm, "seed": seed, "seconds": 1.5, "others": [1]}
            (run / "run.json").write_text(json.dumps(facts))
            rows = [{"step": 5, "score": 0.5, "epoch": 0}, {"step": 10, "score": 0.75}]
            lines = "".join(json.dumps(row) + "\n" for row in rows)
            (run / "log.jsonl").write_text(lines)
    (folder / arms[0] / "3").mkdir(exist_ok=True)
    (folder / arms[0] / "3" / "log.jsonl").write_text("{")
    return folder


def test_runs_of_the_last_experiment_are_read_by_arm_and_seed(tmp_path):
    folder = write_runs(tmp_path / "cola", seeds=(10, 2, 4), notes={"ours": "a note"})
    facts = json.loads((folder / "arms.json").read_text())
    facts["arms"].append("never")
    for arm in ("base", "ours"):
        del facts["runs"][f"{arm}/4"]
    (folder / "arms.json").write_text(json.dumps(facts))
    runs = read_runs(str(folder))
    assert runs.trainings == [
        Training(arm, seed, 1.5, [(5, 0.5), (10, 0.75)])
        for arm in ("base", "ours")
        for seed in (2, 10)
    ]
    assert list(runs.arms) == ["base", "ours"]
    assert runs.arms["ours"] == [folder / "ours" / s / "model" for s in ("2", "10")]
    assert (runs.notes, runs.missing) == ({"ours": "a note"}, {})
    with pytest.raises(ComparisonError, match=r"not a folder of runs: it has no arms"):
        read_runs(tmp_path)


def break_runs(folder):
    """Leave one run whole, and let each of the others be missing in its own way."""
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


def test_missing_runs_have_their_reasons(tmp_path):
    folder = break_runs(tmp_path / "cola")
    never = "not trained, or not to the end"
    missing = dict(read_runs(folder).missing)
    assert "other settings or data" in missing.pop("ours/2")
    assert missing == {
        "base/1": r"failed: ValueError: no \x1b[2J memory at all",
        **dict.fromkeys(["base/2", "base/3"], never),
        **{f"never/{seed}": never for seed in range(4)},
    }
    (folder / "base" / "0" / "run.json").unlink()
    with pytest.raises(ComparisonError, match="no finished run of 'base', the first"):
        task_of_runs(folder, "x", allow_missing=True)


@pytest.fixture
def measured(monkeypatch):
    """Let every pipeline named ours be right, and every other one in half."""

    def measure(_, paths, setup):
        is_ours = "ours" in paths[0]
        return labeled([1 if is_ours else i % 2 for i in range(20)])

    monkeypatch.setattr(comparison, "run_in_subprocess", measure)
    monkeypatch.setattr(comparison, "check_pipeline", lambda path: None)


@pytest.mark.usefixtures("measured")
def test_compare_folders_of_runs(tmp_path):
    for name, note in (("cola", "one."), ("mrpc", "two.")):
        write_runs(tmp_path / "runs" / name, notes={"ours": note})
    folders = ["--runs", "runs/cola", "-r", "runs/mrpc", "-d", "c.spacy", "-d", "m.tsv"]
    (tmp_path / "c.spacy").touch()
    (tmp_path / "m.tsv").touch()
    done = run("spanft", "compare", *folders, "-o", "out", cwd=tmp_path)
    values = json.loads((tmp_path / "out" / "comparison.json").read_text())
    data = {name: task["data"] for name, task in values["tasks"].items()}
    assert data == {"cola": "c.spacy", "mrpc": "m.tsv"}
    cola = values["tasks"]["cola"]
    assert cola["notes"] == {"ours": "one."}
    assert [arm["scores"] for arm in cola["arms"]] == [[0.5, 0.5], [1.0, 1.0]]
    assert cola["trainings"][0]["seed"] == 2
    table = (tmp_path / "out" / "comparison.md").read_text()
    assert table in done.stdout
    headings = [line for line in table.splitlines() if line[:2] == "##"]
    assert headings == ["## cola", "## mrpc"]
    assert "| 567 MB | 1.0 |" in table
    assert "ours: one." in table
    page = Page((tmp_path / "out" / "comparison.html").read_text(encoding="utf8"))
    assert page.rows(0)[0] == ["Arm", "cola: cats_accuracy", "mrpc: cats_accuracy"]
    assert "Note on ours: two." in page.text
    assert "75.0" in page.all("img")[1]["alt"]


@pytest.mark.usefixtures("measured")
def test_an_incomplete_experiment_is_compared_only_on_request(tmp_path):
    break_runs(tmp_path / "cola")
    (tmp_path / "x.spacy").touch()
    compare = ("spanft", "compare", "--runs", "cola", "-d", "x.spacy", "-o", "out")
    done = run(*compare, cwd=tmp_path, ok=False)
    assert len(done.stderr.splitlines()) == 1
    assert "8 runs of the experiment in 'cola' are missing: 'base/1" in done.stderr
    assert "ValueError: no" in done.stderr
    assert "--allow-missing" in done.stderr
    assert not (tmp_path / "out").exists()
    done = run(*compare, "--allow-missing", cwd=tmp_path)
    assert r"Missing base/1: failed: ValueError: no \\x1b\[2J memory" in done.stdout
    assert "\x1b" not in done.stdout
    assert (tmp_path / "out" / "comparison.md").read_text() in done.stdout
    values = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert len(values["tasks"]["cola"]["missing"]) == 8
    page = Page((tmp_path / "out" / "comparison.html").read_text(encoding="utf8"))
    assert "Missing base/1: failed: ValueError" in page.text


@pytest.mark.usefixtures("measured")
def test_without_matplotlib_the_rest_is_written(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    arms = ["base=base", "ours=ours", "--data", "test.spacy"]
    done = run("spanft", "compare", *arms, "-o", "out", cwd=tmp_path)
    assert 'pip install "spacy-spanft[experiments]"' in done.stderr
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["comparison.json", "comparison.md"]


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["a=b", "--runs", "x"], "by --runs, not both: a=b would be left out"),
        (["--runs", "cola", "--runs", "mrpc"], "2 by --data, not 1"),
        (["--runs", "cola", "-r", "./cola", "-d", "b"], "are named 'cola'"),
        (["--runs", "nowhere"], "'nowhere' is not a folder of runs"),
        (["a= "], "names no pipeline"),
        (["--runs", "cola"], "There is no file 'x.spacy'"),
        (["a=b", "--allow-missing"], "--allow-missing applies to --runs only"),
    ],
)
def test_errors_of_the_command(tmp_path, args, expected):
    for name in ("cola", "mrpc"):
        write_runs(tmp_path / name)
    done = run("spanft", "compare", *args, "-d", "x.spacy", cwd=tmp_path, ok=False)
    assert expected in done.stderr
    assert "Traceback" not in done.stderr
