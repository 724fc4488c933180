"""Dictionaries of shards on the command line: the same file, and short errors."""

import os
import signal
import time

import pytest

from spacy_spanft import NgramDictionary
from spacy_spanft.cli import build as build_module

from .. import interpreter
from .test_cli import run


def dictionary(*args):
    return run("dictionary", *args, "--n-process", 1)


@pytest.fixture
def expected(corpus):
    return NgramDictionary.from_files(str(corpus), min_count=5).to_bytes()


def test_build_with_little_memory(corpus, expected, tmp_path):
    output = tmp_path / "a.tsv.gz"
    how = ("--memory", "1GB", "--work", tmp_path / "work")
    done = dictionary("build", corpus, "-o", output, "-c", 5, *how)
    assert done.exit_code == 0, done.output
    assert output.read_bytes() == expected
    assert not (tmp_path / "work").exists()
    whole = NgramDictionary.from_bytes(expected)
    said = " ".join(done.output.split())
    assert f"n-grams {len(whole)} of 2 words {whole.sizes()[2]} of 3" in said
    assert f"most frequent {', '.join(list(whole)[:5])}" in said
    best = dictionary("build", corpus, "-o", output, "-c", 5, "-k", 3, *how)
    assert best.exit_code == 0
    assert NgramDictionary.from_disk(output) == whole.top(3)


def test_large_files_are_counted_in_shards(corpus, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(build_module, "_LARGE", 100)
    monkeypatch.setattr(build_module, "_count_here", None)
    output = tmp_path / "a.tsv.gz"
    args = ("dictionary", "build", corpus, "-o", output, "-c", 5, "--n-process", 2)
    assert run(*args).exit_code == 0
    assert output.read_bytes() == expected


def test_datasets_in_shards(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "train.jsonl").write_text('{"text": "new york"}\n' * 9)
    output = tmp_path / "a.tsv.gz"
    args = ("--dataset", tmp_path / "data", "-o", output, "-c", 5)
    assert dictionary("build", *args).exit_code == 0
    plain = output.read_bytes()
    done = dictionary("build", *args, "--memory", "2GB", "--work", tmp_path / "work")
    assert done.exit_code == 0, done.output
    assert output.read_bytes() == plain


def test_shards_are_joined(corpus, expected, tmp_path):
    shards = [tmp_path / f"{i}.npz" for i in (1, 2)]
    for i, shard in enumerate(shards, 1):
        done = dictionary("shard", corpus, "-o", shard, "--part", f"{i}/2")
        assert done.exit_code == 0
        assert "tokens to" in done.output
    output = tmp_path / "a.tsv.gz"
    done = dictionary("join", *shards, "-o", output, "-c", 5)
    assert done.exit_code == 0
    assert output.read_bytes() == expected
    assert "Wrote" in done.output


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("build", "--memory", "2"), "'2' is not an amount of memory"),
        (("build", "--address", "host:1"), "Add --engine ray"),
        (("shard", "--part", "0/3"), "'0/3' does not say which part"),
        (("shard", "--part", "4/3"), "'4/3' does not say which part"),
        (("shard", "--part", "a"), "'a' does not say which part"),
        (("join",), "cannot be read as a file of counts"),
    ],
)
def test_short_errors(args, message, corpus, tmp_path):
    done = dictionary(*args, corpus, "-o", tmp_path / "a")
    assert done.exit_code == 1
    assert message in " ".join(done.stderr.split())
    assert not (tmp_path / "a").exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(number, tmp_path):
    """It ends with one line, goes on when it is started again, and leaves no half."""
    text, folder = tmp_path / "text.txt", tmp_path / "work"
    text.write_text("".join(f"of the w{i} x{i % 999}\n" for i in range(60_000)))
    output = tmp_path / "a.tsv.gz"
    args = ("-m", "spacy", "spanft", "dictionary", "build", text, "-o", output)
    how = ("-q", "-c", "2", "--n-process", "2", "--work", folder)
    process = interpreter.Interpreter(*args, *how)
    deadline = time.monotonic() + 60
    while not list(folder.glob("text-*")):
        assert process.returncode is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 128 + number, stderr
    assert stderr.strip() == "✘ Stopped. No file is half written.", stderr
    assert not output.exists()
    done = interpreter.run(*args, *how)
    assert done.returncode == 0, done.stderr
    expected = NgramDictionary.from_files(str(text), min_count=2)
    assert NgramDictionary.from_disk(output) == expected
    assert not folder.exists()
