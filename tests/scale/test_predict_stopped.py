"""An interrupted run is resumed by the same call, and every row is there once."""

import errno
import os
import signal
import time
from glob import glob
from pathlib import Path

import pytest
from filelock import FileLock

from spacy_spanft.errors import SpanftError
from spacy_spanft.scale import predict, prediction, row_files
from spacy_spanft.util.files import digest_of

from ..processes import start
from .conftest import read_lines, texts

has_kill = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
N_ROWS = 800
SCRIPT = """
import signal, sys
from pathlib import Path
from spacy_spanft.cli.predict import predict_cli
from spacy_spanft.cli.util import short_errors
from spacy_spanft.scale import row_files
signal.signal(signal.SIGINT, signal.default_int_handler)
row_files.MOST_ROWS = 10
model, source, output, n_process = sys.argv[1:]
with short_errors():
    predict_cli(model, source, Path(output), n_process=int(n_process))
"""


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setattr(row_files, "MOST_ROWS", 100)
    path = tmp_path / "in.txt"
    path.write_text("\n".join(texts(N_ROWS)), "utf8")
    return str(path)


@pytest.fixture
def output(tmp_path):
    return tmp_path / "out.jsonl"


def n_parts(output):
    return len(glob(f"{output}.parts/*.json.gz"))  # the folder may be removed meanwhile


def wait_for_parts(process, output, n_wanted):
    end = time.monotonic() + 120
    while n_parts(output) < n_wanted and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.001)


@has_kill
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_process_survives_the_command(model, source, output, how):
    Path(source).write_text("\n".join(texts(6000)), "utf8")
    process = start("-c", SCRIPT, model, source, output, 2)
    wait_for_parts(process, output, 2)
    process.send_signal(how)
    _, stderr = process.communicate(timeout=60)  # its processes hold its standard error
    assert n_parts(output) >= 2
    if how == signal.SIGINT:
        assert process.returncode == 128 + how
        assert "Traceback" not in stderr
        assert "Run the same command to resume" in stderr


def stop_after(n_batches):
    n_left, annotate = iter(range(n_batches)), prediction.annotate

    def stopping(*args):
        if next(n_left, None) is None:
            raise KeyboardInterrupt
        return annotate(*args)

    return stopping


@pytest.fixture
def stopped(model, source, output, monkeypatch):
    """A run that was stopped after two of eight parts."""
    with monkeypatch.context() as patch:
        patch.setattr(prediction, "annotate", stop_after(2))
        with pytest.raises(KeyboardInterrupt):
            predict(str(model), source, output)
    assert n_parts(output) == 2
    return output.with_name("out.jsonl.parts")


@pytest.fixture(scope="module")
def whole(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    (folder / "in.txt").write_text("\n".join(texts(N_ROWS)), "utf8")
    predict(str(model), str(folder / "in.txt"), folder / "whole.jsonl")
    return (folder / "whole.jsonl").read_bytes()


def test_finished_parts_are_not_predicted_again(
    model, source, output, stopped, whole, monkeypatch
):
    (stopped / "precious").touch()  # a file of others stays
    monkeypatch.setattr(prediction, "annotate", stop_after(6))
    predict(str(model), source, output)
    assert output.read_bytes() == whole
    assert [path.name for path in stopped.iterdir()] == ["precious"]


def test_a_full_disk(model, source, output, whole, monkeypatch):
    n_left, write = iter(range(2)), os.fsync

    def fill(file):
        if next(n_left, None) is None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(file)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fill)
        with pytest.raises(OSError, match="No space left"):
            predict(str(model), source, output)
    assert (n_parts(output), output.exists()) == (2, False)
    predict(str(model), source, output)
    assert output.read_bytes() == whole


def test_another_run_begins_anew(model, source, output, stopped):
    path, before = Path(source), os.stat(source)
    output.write_text("precious")
    with pytest.raises(SpanftError, match="--force"):
        predict(str(model), source, output, text="text", prefix="other_")
    output.unlink()
    with FileLock(stopped / ".lock"), pytest.raises(SpanftError, match="in use"):
        predict(str(model), source, output)
    path.write_text(path.read_text("utf8").replace("Film 0", "Firm 0"), "utf8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert os.stat(path).st_size == before.st_size
    predict(str(model), source, output)
    rows = read_lines(output)
    assert rows[0]["text"].startswith("Firm 0")
    assert len(rows) == N_ROWS
    assert not stopped.exists()


def test_an_input_that_changes_meanwhile_is_noticed(model, source, output, monkeypatch):
    annotate, path = prediction.annotate, Path(source)

    def changing(*args):
        path.write_text(path.read_text("utf8") + "\nMore", "utf8")
        return annotate(*args)

    monkeypatch.setattr(prediction, "annotate", changing)
    with pytest.raises(SpanftError, match="was changed while"):
        predict(str(model), source, output)
    assert not output.exists()


def test_a_digest_has_what_links_lead_to(tmp_path):
    for name in ("model", "elsewhere"):
        (tmp_path / name).mkdir()
    (tmp_path / "model" / "textcat").symlink_to(tmp_path / "elsewhere")
    digests = set()
    for text in "ab":
        (tmp_path / "elsewhere" / "weights").write_text(text)
        digests.add(digest_of(tmp_path / "model"))
    assert len(digests) == 2
