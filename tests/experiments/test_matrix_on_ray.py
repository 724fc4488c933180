"""A matrix on a Ray cluster: the folders, scores and failures of one here."""

import os
import signal
import time
from pathlib import Path
from threading import Thread

import pytest

from spacy_spanft.errors import SpanftError
from spacy_spanft.experiments.matrix import plan_runs, read_arms, run_matrix
from spacy_spanft.util.engines import open_engine

from .matrix_place import plan

pytest.importorskip("ray")
psutil = pytest.importorskip("psutil")


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """One for all tests: each start takes seconds."""
    with open_engine("ray", 2):
        yield


def test_the_same_runs(place):
    arms = read_arms("arms.yml")[:2]
    logs = {}
    for engine in ("local", "ray"):
        how = {"configs": "configs/tiny", "seeds": [0], "epochs": 1}
        runs = plan_runs(arms, ["data/one"], engine, **how)
        assert run_matrix(runs, n_jobs=2, engine=engine) == []
        assert [run.state for run in runs] == ["done", "done"]
        logs[engine] = [(run.folder / "log.jsonl").read_text() for run in runs]
        assert not list(Path(engine).glob("*/*/*.going*"))
    assert logs["local"] == logs["ray"]


def test_runs_that_fail(place):
    """One by itself, and one whose process is killed: each says so in its log."""
    bad = {"training.optimizer.eps": "nonsense"}
    runs = plan("data/one", seeds=[0], epochs=1, overrides=bad)[:1]
    killer = Thread(target=kill_training, daemon=True)
    ((_, reason, _),) = run_matrix(runs, engine="ray")
    assert "eps" in reason
    runs = plan("data/one", seeds=[0], epochs=2000)[:1]
    killer.start()
    ((_, reason, _),) = run_matrix(runs, engine="ray")
    killer.join()
    assert reason.startswith("it was killed by signal 9")


def kill_training():
    """Kill what trains as soon as it logs."""
    end = time.monotonic() + 120
    while not list(Path("out").glob("*/*/*.going*/log.txt")):
        assert time.monotonic() < end
        time.sleep(0.1)
    time.sleep(1)
    for process in psutil.process_iter(["pid", "open_files"]):
        files = process.info["open_files"] or ()
        if any(".going" in file.path for file in files):
            os.kill(process.info["pid"], signal.SIGKILL)


def test_wrong_engines(place):
    runs = plan("data/one", seeds=[0], epochs=1)[:1]
    with pytest.raises(SpanftError, match="'spark'"):
        run_matrix(runs, engine="spark")
    with pytest.raises(SpanftError, match="address"):
        run_matrix(runs, address="127.0.0.1:1")
