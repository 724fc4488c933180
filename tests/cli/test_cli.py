"""The command line: the same answers as Python, short errors, whole files."""

import gzip
import json
import os
import signal
import time

import pytest

from spacy_spanft import NgramDictionary
from spacy_spanft.cli.dictionaries import parse_memory
from spacy_spanft.errors import SpanftError

from .. import commands, processes

has_signals = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
BUILD = ("-m", "spacy", "spanft", "dictionary", "build")


def run(*args, ok=True, stdin=None):
    return commands.run("spanft", *args, ok=ok, stdin=stdin)


def build(*args, **how):
    return run("dictionary", "build", *args, "--n-process", 1, **how)


@pytest.fixture
def file(corpus, tmp_path):
    NgramDictionary.from_files(corpus, min_count=5).to_disk(tmp_path / "a.tsv.gz")
    return tmp_path / "a.tsv.gz"


def test_a_build_equals_python(corpus, tmp_path):
    output = tmp_path / "b.tsv.gz"
    done = build(corpus, "-o", output, "-c", 5, "-n", 3)
    expected = NgramDictionary.from_files(corpus, min_count=5, max_n=3)
    assert NgramDictionary.from_disk(output) == expected
    assert "new york times" in expected
    assert f"Wrote {len(expected)} n-grams to" in done.stdout
    assert "should end in .gz" in build(corpus, "-o", tmp_path / "b.tsv").stderr
    (tmp_path / "c.txt").write_text("New York isn't new york\n" * 3)
    done = build(
        *(tmp_path / "c.txt", "-o", output, "--cased"),
        *("--pretokenized", "--min-count", 1, "--top", 2, "--quiet"),
    )
    assert done.stdout == done.stderr == ""
    counts = NgramDictionary.from_disk(output)
    assert dict(counts) == {"New York": 3, "York isn't": 3}
    assert counts.provenance.tokenizer == "whitespace"
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(b"a b\n" * 6))
    build(tmp_path / "c.txt.gz", "-", "-o", output, stdin="a b\n" * 6)
    assert dict(NgramDictionary.from_disk(output)) == {"a b": 12}


def test_memory():
    assert parse_memory("2GB") == parse_memory(" 2 gib ") == 2 << 30
    for value in ("", "2", "-1GB", "nanGB"):
        with pytest.raises(SpanftError, match=f"--memory is {value!r}, but it must"):
            parse_memory(value)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk(corpus, file):
    for args in (["info", file], ["build", corpus, "-q", "-o", "/dev/full"]):
        command = (*BUILD[:4], *args)
        with open("/dev/full", "w") as full:
            done = processes.run(*command, stdout=full)
        assert done.returncode == 1
        assert "No space left on device" in done.stderr
        assert "Traceback" not in done.stderr
    assert not os.path.isfile("/dev/full")


@has_signals
def test_an_interrupted_build_leaves_no_temporary_files(tmp_path):
    text, work, output = (tmp_path / name for name in ("t.txt", "work", "a.tsv.gz"))
    text.write_text("".join(f"of the w{i} x{i % 999}\n" for i in range(60_000)))
    output.write_text("old")
    how = ("-q", "-c", "2", "--n-process", "2", "--memory", "1MB", "--work", work)
    process = processes.start(*BUILD, text, "-o", output, *how)
    deadline = time.monotonic() + 60
    while not list(work.glob("*/0.chunks-1")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM, stderr
    assert stderr.strip() == "✘ Stopped.", stderr
    assert output.read_text() == "old"
    assert list(work.iterdir()) == []
    assert len(os.listdir(tmp_path)) == 3


def test_what_dictionaries_hold_is_shown(file, corpus):
    printed = run("dictionary", "info", file).stdout
    for expected in ("of 5 words", str(corpus), "tokens counted", "folded"):
        assert expected in printed
    lines = run("dictionary", "top", file, "-k", 2, "--n", 4).stdout.split("\n")
    rows = [line.split() for line in lines if "12" in line]
    assert [len(row) for row in rows] == [5, 5]
    printed = run("dictionary", "top", file, "--by", "pmi").stdout
    best, score = NgramDictionary.from_disk(file).ranked("pmi")[0]
    assert best in printed
    assert f"{score:.2f}" in printed


def test_outputs_are_checked_before_the_work(corpus, tmp_path):
    (tmp_path / "a.txt").write_text("text\tlabel\na b\tx\n")
    output = tmp_path / "a.txt" / "x.spacy"
    for args in (
        ["dictionary", "build", "--output", output, "--min-count", 0, corpus],
        ["convert", "none.tsv", output],
        ["add", "none.cfg", output],
        ["compare", "none", "--data", "none.spacy", "--output", output],
        ["experiment", "no.yml", "-d", "none", "--metrics", "m", "--output", output],
        ["pretrain", corpus, "--model", "none", "--output", output],
    ):
        assert "a.txt' is no folder" in run(*args, ok=False).stderr, args


def test_errors_leave_files_as_they_were(corpus, tmp_path):
    book, new = tmp_path / "book.xlsx", tmp_path / "d.tsv.gz"
    book.write_text("text,label\ngood film,a\nbad film,b\n")
    before, build = corpus.read_bytes(), ("dictionary", "build", "-o", new)
    for args, message in (
        (build, "Name either text files"),
        ((*build, book), "book.xlsx' cannot be read here"),
        ((*build, "-o", corpus, corpus), "is both read and written"),
        ((*build, corpus, "--min-count", 999), "No n-gram occurs 999 times in "),
        ((*build, corpus, "-c", 999), "dictionary is not written. Lower"),
        ((*build, corpus, "--column", "text", "--quiet"), "--column is 'text', but "),
        (("segment", "--file", book), "book.xlsx' cannot be read here"),
        (("segment", book), "is a file. Name it with --file"),
        (("segment", "x", "-s", "random", "-d", "missing"), "is for the n-gram"),
        (("segment", "x", "--file", "missing"), "not both"),
        (("segment", "--file", "-"), "There is no text in '-'"),
        (("segment", "", " "), "There is no text. Give it"),
    ):
        assert message in run(*args, stdin="", ok=False).stderr, args
    assert corpus.read_bytes() == before
    assert not new.exists()


def test_segmented_texts_have_brackets_or_are_json(file, tmp_path):
    (tmp_path / "c.txt").write_text("New York City.\r\nLondon\n")
    done = run("segment", "--file", tmp_path / "c.txt")
    assert done.stdout == "[New York City].\nLondon\n"
    args = ("segment", "a b c d e f g h i j k l", "-s", "random")
    assert "[" in (printed := run(*args).stdout)
    assert printed == run(*args).stdout
    text = "the New York Times\n\n naïve 🙂\n"
    done = run("segment", "--jsonl", "-d", file, stdin=text)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["text"] for line in lines] == ["the New York Times", " naïve 🙂"]
    span = lines[0]["spans"][0]
    assert span["text"] == lines[0]["text"][span["start_char"] : span["end_char"]]
    assert (span["start"], span["end"], span["label"]) == (0, 4, "")


def test_a_reader_that_has_had_enough():
    process = processes.start("-m", "spacy", "spanft", "segment")
    process.stdout.close()
    process.stdout = None
    _, errors = process.communicate("new york\n" * 10_000)
    assert "Traceback" not in errors
    assert process.returncode == 1
