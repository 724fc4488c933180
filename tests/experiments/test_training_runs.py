"""The runs of an experiment: resumed, failed, stopped, compared, in one folder."""

import json
import shutil
import threading
import time
from pathlib import Path

import pytest

from spacy_spanft.errors import SpanftError
from spacy_spanft.experiments import run_matrix, running
from spacy_spanft.util.files import locked
from spacy_spanft.util.gpu import read_gpus

from ..commands import run as spacy_command
from .matrix_place import BASE, SPANS, plan

COMMAND = ["spanft", "experiment", "arms.yml", "-d", "data/one", "-o", "out"]
BAD = f"bad: {{{SPANS}, dictionary: arms.yml}}"
BAD_ARM = f"{{{BAD}, good: {{{BASE}}}}}"


def plan_two(**settings):
    return plan("data/one", seeds=[0], epochs=1, **settings)[:2]


@pytest.mark.usefixtures("in_this_process")
def test_done_runs_are_not_repeated(place):
    runs = plan_two()
    assert [run.is_done for run in runs] == [False, False]
    assert run_matrix(runs) == []
    assert [run.is_done for run in runs] == [True, True]
    folder = place / "out" / "one" / "random" / "0"
    before = (folder / "run.json").stat().st_mtime_ns
    weights = (folder / "model" / "textcat" / "model").read_bytes()
    assert run_matrix(runs) == []
    assert (folder / "run.json").stat().st_mtime_ns == before
    # Other settings make another run; so does a pipeline that is gone.
    other = plan_two(overrides={"training.dropout": 0.3})
    assert [run.is_done for run in other] == [False, False]
    shutil.rmtree(folder / "model")
    assert not runs[1].is_done
    assert run_matrix(runs) == []
    assert runs[1].is_done
    # The same seed gives the same pipeline.
    assert (folder / "model" / "textcat" / "model").read_bytes() == weights


@pytest.mark.usefixtures("in_this_process", "at_once")
def test_a_failed_run_does_not_stop_the_others(place):
    shutil.copy("data/one/dev.spacy", "data/one/test.spacy")
    good, bad = plan("data/one", arms=f"{{good: {{{BASE}}}, {BAD}}}", seeds=[0])
    args = ["--seeds", "1", "--epochs", "3"]
    result = spacy_command(*COMMAND, *args, "--metrics", "metrics", ok=False)
    *_, reason, last = result.stderr.splitlines()
    assert reason.startswith("✘ out/one/bad/0: ")
    assert "arms.yml is not an n-gram dictionary" in reason
    assert last == "✘ 1 of 2 runs failed."
    assert [run.is_done for run in (bad, good)] == [False, True]
    assert not list(Path("out").glob("*/*/*.going*"))
    assert "Traceback" in Path("out/one/bad/0.failed/log.txt").read_text()
    # What is done is compared, and what is missing is named.
    assert r"Missing bad/0: failed: " in result.stdout
    comparison = json.loads(Path("metrics/comparison.json").read_text())["tasks"]["one"]
    assert [arm["name"] for arm in comparison["arms"]] == ["good"]
    # A run that is done stays until it is done with other settings.
    arms = f"{{good: {{{SPANS}, dictionary: arms.yml}}}}"
    (changed,) = plan("data/one", arms=arms, seeds=[0], epochs=1)
    assert len(run_matrix([changed])) == 1
    assert [run.is_done for run in (changed, good)] == [False, True]


@pytest.mark.usefixtures("in_this_process", "at_once")
def test_without_the_first_arm_nothing_is_compared(place):
    Path("arms.yml").write_text(f"arms: {BAD_ARM}")
    shutil.copy("data/one/dev.spacy", "data/one/test.spacy")
    args = ["--seeds", "2", "--epochs", "1", "--metrics", "metrics"]
    result = spacy_command(*COMMAND, *args, ok=False)
    assert result.stderr.endswith("✘ 2 of 4 runs failed.\n")
    assert not Path("metrics").exists()


@pytest.mark.parametrize(
    ("gpu_id", "n_runs"), [("0,1", 2), ("5,5", 2), ("3", 1), ("-1", 2)]
)
def test_each_run_has_a_gpu_of_its_own(place, monkeypatch, gpu_id, n_runs):
    in_use, seen, lock = [], [], threading.Lock()

    def train(arguments, stopped):
        with lock:
            in_use.append(arguments["gpu_id"])
            seen.append(sorted(in_use))
        time.sleep(0.1)
        with lock:
            in_use.remove(arguments["gpu_id"])
        return -1

    monkeypatch.setattr(running, "train_in_process", train)
    gpu_ids = read_gpus(gpu_id)
    runs = plan("data/one", arms=f"{{a: {{{BASE}}}}}", seeds=range(6))
    assert len(run_matrix(runs, gpu_ids=gpu_ids, n_jobs=2)) == len(seen) == 6
    assert max(seen, key=len) == (gpu_ids * 2 if gpu_id == "-1" else gpu_ids)
    assert max(map(len, seen)) == n_runs


def test_a_killed_training_and_a_second_experiment(place, monkeypatch):
    program = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    monkeypatch.setattr(running, "_PROGRAM", program)
    ((_, reason, _),) = run_matrix(plan_two()[:1])
    assert reason.startswith("it was killed by signal 9, perhaps because memory ran")
    (place / "out/one/baseline/0.going-1").mkdir(parents=True)
    refused = pytest.raises(SpanftError, match="Another experiment is writing to 'out/")
    with locked(Path("out/one"), ""), refused:
        run_matrix(plan_two())
    assert Path("out/one/baseline/0.going-1").exists()


@pytest.mark.slow
def test_ray_trains_as_this_process_does(place):
    """To the same weights; failures are named, too."""
    pytest.importorskip("ray")
    bad, good = plan("data/one", arms=BAD_ARM, seeds=[0], epochs=1)
    Path("here").mkdir()
    good.config.to_disk("here/config.cfg", interpolate=False)
    running.train_run("here", "", -1, 1, ".")
    ((failed, reason, _),) = run_matrix([bad, good], engine="ray", n_jobs=2)
    assert failed is bad
    assert "arms.yml is not an n-gram dictionary" in reason
    assert good.is_done
    here, there = (Path(x, "model/textcat/model") for x in ("here", good.folder))
    assert here.read_bytes() == there.read_bytes()
