"""Counting in bounded memory on the command line: the same file, and short errors."""

import os
import signal
import time

import pytest

from spacy_spanft import NgramDictionary
from spacy_spanft.cli.build import parse_memory
from spacy_spanft.errors import SpanftError

from .. import interpreter
from .test_cli import build


def test_build_with_little_memory(corpus, tmp_path):
    output, plain = tmp_path / "a.tsv.gz", tmp_path / "b.tsv.gz"
    how = ("-c", 5, "--memory", "1GB", "--work", tmp_path / "work")
    bounded = build(corpus, "-o", output, *how)
    assert bounded.exit_code == 0, bounded.output
    whole = build(corpus, "-o", plain, "-c", 5)
    assert output.read_bytes() == plain.read_bytes()
    assert bounded.output == whole.output.replace("b.tsv.gz", "a.tsv.gz")
    assert list((tmp_path / "work").iterdir()) == []
    assert build(corpus, "-o", output, "-k", 3, *how).exit_code == 0
    assert NgramDictionary.from_disk(output) == NgramDictionary.from_disk(plain).top(3)


def test_datasets_with_little_memory(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "train.jsonl").write_text('{"text": "new york"}\n' * 9)
    output = tmp_path / "a.tsv.gz"
    args = ("--dataset", tmp_path / "data", "-o", output, "-c", 5)
    assert build(*args).exit_code == 0
    plain = output.read_bytes()
    assert build(*args, "--memory", "2GB").exit_code == 0
    assert output.read_bytes() == plain


def test_amounts_of_memory():
    assert parse_memory("2GB") == parse_memory(" 2 gib ") == 2 << 30
    assert parse_memory("0.5MB") == 1 << 19
    for value in ("", "GB", "2", "-1GB", "nanGB", "two MB"):
        with pytest.raises(SpanftError, match=f"--memory is {value!r}, but it must be"):
            parse_memory(value)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--memory", "2"), "--memory is '2', but it must be a number with a unit"),
        (("--address", "host:1"), "add engine='ray' (--engine ray)"),
    ],
)
def test_short_errors(args, message, corpus, tmp_path):
    result = build(corpus, "-o", tmp_path / "a", *args)
    assert result.exit_code == 1
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "a").exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(number, tmp_path):
    """It ends with one line, and leaves neither half a file nor temporary ones."""
    text, work = tmp_path / "text.txt", tmp_path / "work"
    text.write_text("".join(f"of the w{i} x{i % 999}\n" for i in range(60_000)))
    output = tmp_path / "a.tsv.gz"
    args = ("-m", "spacy", "spanft", "dictionary", "build", text, "-o", output)
    how = ("-q", "-c", "2", "--n-process", "2", "--memory", "1MB", "--work", work)
    process = interpreter.Interpreter(*args, *how)
    deadline = time.monotonic() + 60
    while not list(work.glob("*/0.texts-1")):
        assert process.returncode is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 128 + number, stderr
    assert stderr.strip() == "✘ Stopped. No file is half written.", stderr
    assert not output.exists()
    assert list(work.iterdir()) == []
