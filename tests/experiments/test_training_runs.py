"""The runs of an experiment: resumed, failed, stopped, and in one folder."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import spacy

from spacy_spanft.errors import SpanftError
from spacy_spanft.experiments import run_matrix, running
from spacy_spanft.experiments.running import read_gpus

from ..commands import run as spacy_command
from .matrix_place import plan

COMMAND = ["spanft", "experiment", "arms.yml", "-c", "configs/tiny", "-d", "data/one"]
COMMAND += ["-o", "out"]
# A dictionary that cannot be read.
BAD_ARM = "arms: {bad: {dictionary: arms.yml}, good: {config: baseline}}"


LOCK = """
import sys
from pathlib import Path
from spacy_spanft.experiments.running import lock
with lock(Path(sys.argv[1])):
    print("x", flush=True)
    sys.stdin.read()
"""


def plan_two(**settings):
    return plan("data/one", seeds=[0], epochs=1, **settings)[:2]


@pytest.mark.usefixtures("in_this_process")
def test_done_runs_are_not_repeated(place):
    runs = plan_two()
    assert [run.state for run in runs] == ["new", "new"]
    assert run_matrix(runs) == []
    assert [run.state for run in runs] == ["done", "done"]
    folder = place / "out" / "one" / "random" / "0"
    facts = json.loads((folder / "run.json").read_text())
    assert (facts["task"], facts["arm"], facts["seed"]) == ("one", "random", 0)
    assert facts["seconds"] > 0
    lines = (folder / "log.jsonl").read_text().splitlines()
    assert json.loads(lines[-1])["step"] == 3
    assert spacy.load(folder / "model")("good film").cats.keys() == {"A", "B"}
    assert not (folder / "model-last").exists()
    arms = json.loads((place / "out" / "one" / "arms.json").read_text())
    assert arms["arms"] == ["baseline", "random"]
    assert arms["notes"] == {"random": "cut at random"}
    before = os.stat(folder / "run.json").st_mtime_ns
    assert run_matrix(runs) == []
    assert os.stat(folder / "run.json").st_mtime_ns == before
    # Other settings make another run; so does a pipeline that is gone.
    other = plan_two(overrides={"training.dropout": 0.3})
    assert [run.state for run in other] == ["changed", "changed"]
    shutil.rmtree(folder / "model")
    assert runs[1].state == "new"
    assert run_matrix(runs) == []
    assert runs[1].state == "done"
    # The same seed gives the same scores.
    assert (folder / "log.jsonl").read_text().splitlines() == lines


@pytest.mark.usefixtures("in_this_process")
def test_a_failed_run_does_not_stop_the_others(place):
    Path("arms.yml").write_text(BAD_ARM)
    bad, good = plan("data/one", seeds=[0], epochs=1)
    shutil.copy("data/one/dev.spacy", "data/one/test.spacy")
    args = ["--arm", "bad", "--seeds", "2", "--epochs", "1"]
    for more in (["--train-only"], ["--metrics", "metrics"]):
        result = spacy_command(*COMMAND, *args, *more, ok=False)
        # Each reason is named once.
        *_, reason, last = result.stderr.splitlines()
        assert reason.startswith("✘ out/one/bad/1: ")
        assert "arms.yml is not an n-gram dictionary" in reason
        assert last == "✘ 2 of 2 runs failed."
    listed = spacy_command(*COMMAND, *args, "--train-only", "--dry-run").stdout
    assert [line.split()[-1] for line in listed.strip().splitlines()[2:]] == ["new"] * 2
    (failure,) = run_matrix([bad, good])
    assert failure.run is bad
    assert "arms.yml is not an n-gram dictionary" in failure.reason
    assert str(failure).endswith(f"({Path('out/one/bad/0.failed/log.txt')})")
    assert "Traceback" in failure.log.read_text()
    assert [run.state for run in (bad, good)] == ["new", "done"]
    assert not list(Path("out").glob("*/*/*.going*"))
    # A run that is done stays until it is done with other settings.
    Path("arms.yml").write_text("arms: {good: {dictionary: arms.yml}}")
    (changed,) = plan("data/one", seeds=[0], epochs=1)
    assert len(run_matrix([changed])) == 1
    assert [run.state for run in (changed, good)] == ["changed", "done"]


@pytest.mark.usefixtures("in_this_process")
def test_tables_are_read_by_their_columns(place):
    folder = place / "data" / "table"
    folder.mkdir()
    rows = [f"{'good' if i % 2 else 'bad'} film\t{'AB'[i % 2]}\n" for i in range(9)]
    for split in ("train", "dev"):
        (folder / f"{split}.tsv").write_text("words\tkind\n" + "".join(rows))
    with pytest.raises(SpanftError, match="There is no column"):
        plan("data/table")
    (folder / "task.json").write_text('{"columns": {"text": "words", "label": "kind"}}')
    (run, *_) = plan("data/table", seeds=[0], epochs=1)
    assert run_matrix([run]) == []
    nlp = spacy.load(run.folder / "model")
    assert nlp("good film").cats.keys() == {"A", "B"}
    assert nlp.config["corpora"]["dev"]["text"] == "words"
    # Without task.json, the columns are those of the config.
    (folder / "task.json").unlink()
    reader = {"@readers": "spacy-spanft.TableCorpus.v1", "path": None}
    columns = {**reader, "text": "words", "text_pair": None, "label": "kind"}
    change = {"corpora.train": columns, "corpora.dev": columns}
    (run, *_) = plan("data/table", seeds=[0], epochs=1, overrides=change)
    assert run.config["corpora"]["train"] == {**columns, "path": "${paths.train}"}


@pytest.mark.parametrize(
    ("gpu_ids", "expected"),
    [("0,1", [0, 1]), ("5,5", [5, 5]), ("3", [3]), ("-1", [-1, -1])],
)
def test_each_run_has_a_gpu_of_its_own(monkeypatch, gpu_ids, expected):
    in_use, seen, lock = [], [], threading.Lock()

    def train(arguments, stopped):
        with lock:
            in_use.append(arguments["gpu_id"])
            seen.append(sorted(in_use))
        time.sleep(0.01)
        with lock:
            in_use.remove(arguments["gpu_id"])
        return 0

    monkeypatch.setattr(running, "train_in_process", train)
    with running.in_processes(read_gpus(gpu_ids), 2) as start:
        assert [start({}) and 0 for _ in range(9)] == [0] * 9
        while len(seen) < 9:
            time.sleep(0.01)
    assert max(seen, key=len) == expected
    assert all(set(gpus) <= set(expected) for gpus in seen)


def test_a_killed_training_and_a_second_experiment(place, monkeypatch):
    program = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    monkeypatch.setattr(running, "_PROGRAM", program)
    ((_, reason, _),) = run_matrix(plan_two()[:1])
    assert reason.startswith("it was killed by signal 9, perhaps because memory ran")
    (place / "out/one/baseline/0.going-1").mkdir(parents=True)
    command = [sys.executable, "-c", LOCK, "out/one"]
    with subprocess.Popen(command, stdin=-1, stdout=-1) as process:
        process.stdout.read(1)
        with pytest.raises(SpanftError, match="Another experiment is writing to 'out/"):
            run_matrix(plan_two())
        assert Path("out/one/baseline/0.going-1").exists()
        process.kill()


def test_ray_trains_as_processes_do(place):
    """To the same scores, in the same folders; failures are named, too."""
    pytest.importorskip("ray")
    Path("arms.yml").write_text(BAD_ARM)
    logs = {}
    for engine in ("local", "ray"):
        bad, good = plan("data/one", seeds=[0], epochs=1)
        ((failed, reason, _),) = run_matrix([bad, good], engine=engine)
        assert failed is bad
        assert "arms.yml is not an n-gram dictionary" in reason
        assert good.state == "done"
        logs[engine] = (good.folder / "log.jsonl").read_text()
        shutil.rmtree("out")
    assert logs["local"] == logs["ray"]
