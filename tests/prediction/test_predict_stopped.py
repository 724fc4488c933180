"""A run that ends before its time: it goes on, and every row is there once."""

import errno
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spacy_spanft.cli.predict import predict_cli
from spacy_spanft.errors import Errors, SpanftError
from spacy_spanft.prediction import parts, predict, task
from spacy_spanft.util.lock import own_folders

from .conftest import read_lines, texts

has_kill = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
N_ROWS = 800
SCRIPT = """
import sys
from pathlib import Path
from spacy_spanft.cli.predict import predict_cli
from spacy_spanft.prediction import parts
parts.MOST_ROWS = 10
print("begun", flush=True)
model, source, output, n_process = sys.argv[1:]
predict_cli(model, source, Path(output), n_process=int(n_process))
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("\n".join(texts(N_ROWS)), "utf8")
    return str(path)


def hear_ctrl_c():
    """Whatever runs in the background of a shell does not hear it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def begin(*args):
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_ctrl_c,
    )
    assert process.stdout.readline() == "begun\n"
    return process


def wait_for_parts(folder, n_parts):
    """Wait until there are some, or the run is over."""
    end = time.monotonic() + 120
    was_there = False
    while time.monotonic() < end:
        found = len(list(folder.glob("0*.jsonl")))
        was_there |= folder.exists()
        if found >= n_parts or (was_there and not folder.exists()):
            return found
        time.sleep(0.001)
    raise AssertionError("there were no parts")


@has_kill
def test_killed_at_random_moments(model, source, tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "MOST_ROWS", 10)
    predict(str(model), source, tmp_path / "whole.jsonl")
    output, chance = tmp_path / "out.jsonl", random.Random(0)
    n_hit = n_before = 0
    while not output.exists():
        process = begin(model, source, output, 2)
        wait_for_parts(tmp_path / "out.jsonl.parts", n_before + chance.randint(15, 50))
        process.kill()
        process.communicate()
        n_hit += process.returncode < 0
        # What was there stays.
        n_done = len(list((tmp_path / "out.jsonl.parts").glob("0*.jsonl")))
        assert output.exists() or n_done >= n_before
        n_before = n_done
    assert n_hit
    if (tmp_path / "out.jsonl.parts").exists():  # killed right after the very last step
        predict(str(model), source, output, force=True)
    assert output.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert len(read_lines(output)) == N_ROWS


@has_kill
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(model, source, how, tmp_path, monkeypatch):
    output, n_rows = tmp_path / "out.jsonl", 6000  # which take longer than the signal
    Path(source).write_text("\n".join(texts(n_rows)), "utf8")
    process = begin(model, source, output, 2)
    n_parts = wait_for_parts(tmp_path / "out.jsonl.parts", 2)
    process.send_signal(how)
    _, said = process.communicate(timeout=60)
    assert n_parts >= 2
    assert process.returncode == 128 + how
    assert "Traceback" not in said
    assert Errors.STOPPED_PREDICTING in said
    monkeypatch.setattr(parts, "MOST_ROWS", 10)
    known = []
    monkeypatch.setattr(
        "spacy_spanft.prediction.run.predict_part",
        lambda *args: known.append(args[2].number) or task.predict_part(*args),
    )
    predict(str(model), source, output)
    assert 0 not in known
    assert 1 not in known
    assert len(read_lines(output)) == n_rows


@pytest.mark.parametrize("n_parts", [0, 1])
def test_what_is_promised(n_parts, model, source, tmp_path, monkeypatch, capsys):
    """That it can be resumed is said only where a part is done."""
    monkeypatch.setattr(parts, "MOST_ROWS", 200)

    def stop(setup, shape, part):
        if part.number == n_parts:
            raise KeyboardInterrupt
        return task.predict_part(setup, shape, part)

    monkeypatch.setattr("spacy_spanft.prediction.run.predict_part", stop)
    with pytest.raises(SystemExit):
        predict_cli(str(model), source, tmp_path / "out.jsonl")
    assert (Errors.STOPPED_PREDICTING in capsys.readouterr().err) == (n_parts > 0)


def test_a_full_disk(model, source, tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "MOST_ROWS", 200)
    writes, write = [], os.fsync

    def fill(file):
        writes.append(file)
        if len(writes) == 5:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(file)

    monkeypatch.setattr(os, "fsync", fill)
    output = tmp_path / "out.jsonl"
    with pytest.raises(OSError, match="No space left"):
        predict(str(model), source, output)
    assert len(list((tmp_path / "out.jsonl.parts").glob("0*.jsonl"))) in (1, 2)
    assert not output.exists()
    predict(str(model), source, output)
    assert len(read_lines(output)) == N_ROWS


@pytest.fixture
def stopped(model, source, tmp_path, monkeypatch):
    """Stop a run after two parts."""
    monkeypatch.setattr(parts, "MOST_ROWS", 200)

    def stop(setup, shape, part):
        if part.number == 2:
            raise KeyboardInterrupt
        return task.predict_part(setup, shape, part)

    with monkeypatch.context() as patch:
        patch.setattr("spacy_spanft.prediction.run.predict_part", stop)
        with pytest.raises(KeyboardInterrupt):
            predict(str(model), source, tmp_path / "out.jsonl")
    return tmp_path / "out.jsonl.parts"


def test_another_run(model, source, stopped, tmp_path):
    output = tmp_path / "out.jsonl"
    with pytest.raises(SpanftError, match="parts of another run: --prefix was"):
        predict(str(model), source, output, prefix="p_")
    with open(source, "a", encoding="utf8") as file:
        file.write("\none more")
    with pytest.raises(SpanftError, match="the input was different"):
        predict(str(model), source, output)
    assert len(list(stopped.glob("0*.jsonl"))) == 2
    predict(str(model), source, output, prefix="p_", force=True)
    assert len(read_lines(output)) == N_ROWS + 1
    assert "p_label" in read_lines(output)[0]


def test_another_run_of_which_nothing_is_done(model, source, stopped, tmp_path):
    for part in stopped.glob("0*.jsonl"):
        part.unlink()
    predict(str(model), source, tmp_path / "out.jsonl", prefix="p_")
    assert "p_label" in read_lines(tmp_path / "out.jsonl")[0]


def test_broken_facts(model, source, stopped, tmp_path):
    (stopped / "begun.json").write_text("[")
    with pytest.raises(SpanftError, match="Remove its folder to start over"):
        predict(str(model), source, tmp_path / "out.jsonl")


def test_two_at_once(model, source, stopped, tmp_path):
    with own_folders([stopped]), pytest.raises(SpanftError, match="process"):
        predict(str(model), source, tmp_path / "out.jsonl")
    assert len(list(stopped.glob("0*.jsonl"))) == 2


def test_parts_that_nobody_began(model, source, stopped, tmp_path):
    """A run that was done, and killed before it could remove them."""
    for part in stopped.glob("0*.jsonl"):
        part.write_text("old\n")
    (stopped / "00000001.failed.jsonl").write_text("{}\n")
    (stopped / "begun.json").unlink()
    output = tmp_path / "out.jsonl"
    assert predict(str(model), source, output).failures is None
    assert len(read_lines(output)) == N_ROWS
    assert not stopped.exists()


def test_each_process_has_a_gpu(tmp_path, monkeypatch):
    loaded = []
    monkeypatch.setattr(task, "load", lambda model, gpu_id: loaded.append(gpu_id))
    folder = str(tmp_path)
    setup = task.Setup("model", None, False, "", (3, 5), folder)
    with own_folders([tmp_path]):
        task.pipeline_of(setup)
        code = (
            "from spacy_spanft.prediction import task; "
            "task.load = lambda model, gpu_id: print(gpu_id, flush=True); "
            f"task.pipeline_of(task.Setup('m', None, False, '', (3, 5), {folder!r})); "
        )
        for more, expected in (("input()", "5\n"), ("", "")):
            process = subprocess.Popen(
                [sys.executable, "-c", code + more],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            assert process.stdout.readline() == expected
            if more:
                first = process
        assert "No GPU is free among 3,5" in process.communicate()[1]
        first.communicate("\n")
        task.forget()
    assert loaded == [3]
