"""The command line: the same answers as Python, short errors, whole files."""

import gzip
import io
import json
import os
import re
import signal
import sys

import pytest
from spacy.cli._util import app
from typer.testing import CliRunner

import spacy_spanft.cli  # noqa: F401
from spacy_spanft import NgramDictionary

from .. import interpreter


def run(*args, stdin=None):
    """Run a command in this process."""
    result = CliRunner().invoke(app, ["spanft", *map(str, args)], input=stdin)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def build(*args, **how):
    return run("dictionary", "build", *args, "--n-process", 1, **how)


def spawn(*args, **how):
    """Run a command as a user does."""
    return interpreter.run("-m", "spacy", "spanft", *args, **how)


@pytest.fixture
def file(corpus, tmp_path):
    NgramDictionary.from_files(corpus, min_count=5).to_disk(tmp_path / "a.tsv.gz")
    return tmp_path / "a.tsv.gz"


def test_is_part_of_spacy():
    done = spawn("--help")
    assert done.returncode == 0
    assert "dictionary" in done.stdout
    assert "segment" in done.stdout


class TestBuild:
    def test_equals_python(self, corpus, tmp_path):
        result = build(corpus, "-o", tmp_path / "b.tsv.gz", "-c", 5, "-n", 3)
        assert result.exit_code == 0
        expected = NgramDictionary.from_files(corpus, min_count=5, max_n=3)
        assert NgramDictionary.from_disk(tmp_path / "b.tsv.gz") == expected
        assert "new york times" in expected
        assert f"Wrote {len(expected)} n-grams to" in result.output

    def test_says_what_it_covers(self, tmp_path):
        lines = ["the end of the world . the end of it .", "nothing new ."] * 20
        (tmp_path / "c.txt").write_text("\n".join(lines) + "\n")
        result = build(tmp_path / "c.txt", "-o", tmp_path / "c.tsv.gz")
        # All 40 lines are in the sample, so with it held out nothing is left.
        assert "0.0%" in result.output
        lines *= 100
        (tmp_path / "c.txt").write_text("\n".join(lines) + "\n")
        result = build(tmp_path / "c.txt", "-o", tmp_path / "c.tsv.gz")
        # A hundred lines are held out. Of a long one 9 of 11 tokens are in a match, in
        # two sentences with two spans each; of a short one 2 of 3, in one sentence.
        sentences = int(re.search(r"held-out text +(\d+) sentences", result.output)[1])
        long = sentences - 100
        share = (9 * long + 2 * (100 - long)) / (11 * long + 3 * (100 - long))
        assert 30 < long < 70
        assert f"tokens in a match   {share:.1%}" in result.output
        assert "spans a sentence    2.0" in result.output

    def test_case_white_space_and_top(self, tmp_path):
        (tmp_path / "c.txt").write_text("New York isn't new york\n" * 3)
        result = build(
            *(tmp_path / "c.txt", "-o", tmp_path / "c.tsv.gz", "--cased"),
            *("--pretokenized", "--min-count", 1, "--top", 2, "--quiet"),
        )
        assert result.output == ""
        found = NgramDictionary.from_disk(tmp_path / "c.tsv.gz")
        assert dict(found) == {"New York": 3, "York isn't": 3}
        assert found.provenance.tokenizer == "whitespace"

    def test_standard_input_and_packed_files(self, tmp_path):
        (tmp_path / "c.txt.gz").write_bytes(gzip.compress(b"a b\n" * 6))
        result = build(
            tmp_path / "c.txt.gz", "-", "-o", tmp_path / "c.tsv.gz", stdin="a b\n" * 6
        )
        assert result.exit_code == 0
        assert dict(NgramDictionary.from_disk(tmp_path / "c.tsv.gz")) == {"a b": 12}

    def test_dataset(self, tmp_path):
        from datasets import Dataset

        Dataset.from_dict({"text": ["new york"] * 12}).save_to_disk(tmp_path / "data")
        result = build("--dataset", tmp_path / "data", "-o", tmp_path / "c.tsv.gz")
        assert result.exit_code == 0, result.output
        assert dict(NgramDictionary.from_disk(tmp_path / "c.tsv.gz")) == {
            "new york": 12
        }

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            ((), "There is nothing to read"),
            (("missing.txt",), "There is no file 'missing.txt'"),
            (("missing.txt", "--dataset", "x"), "not both"),
            (("{corpus}", "--max-n", "1"), "max_n is 1"),
            (("{corpus}", "--min-count", "-4"), "min_count is -4"),
            (("{corpus}", "--lang", "klingon"), "no spaCy tokenizer for 'klingon'"),
            (("{corpus}", "-o", "{corpus}"), "is both read and written"),
            (("{corpus}", "-o", "."), "The output '.' is a folder"),
            (("{empty}",), "There is no text in"),
            (("{binary}",), "NUL byte at byte 3"),
            (("{latin1}",), "not valid UTF-8 at byte 2"),
            (("{corpus}", "-o", "{corpus}/x.gz"), "corpus.txt/x.gz"),
        ],
    )
    def test_errors_are_short(self, corpus, tmp_path, monkeypatch, args, message):
        monkeypatch.chdir(tmp_path)
        files = {"empty": b"", "binary": b"abc\0", "latin1": b"na\xefve"}
        for name, data in files.items():
            (tmp_path / name).write_bytes(data)
        names = {**{name: name for name in files}, "corpus": corpus}
        output = () if "-o" in args else ("-o", "out.tsv.gz")
        result = build(*(a.format(**names) for a in args), *output)
        assert result.exit_code == 1
        assert "✘ " in result.stderr
        assert message in result.stderr
        assert "Traceback" not in result.stderr
        assert not (tmp_path / "out.tsv.gz").exists()

    def test_lines_too_long_for_the_sample(self, tmp_path):
        (tmp_path / "c.txt").write_text("to be or not " * 20_000)
        result = build(tmp_path / "c.txt", "-o", tmp_path / "c.tsv.gz")
        assert result.exit_code == 0
        assert "tokens in a match" not in result.output

    def test_whitespace_as_a_language(self, corpus, tmp_path):
        result = build(corpus, "-o", tmp_path / "b.tsv.gz", "--lang", "whitespace")
        assert result.exit_code == 0
        found = NgramDictionary.from_disk(tmp_path / "b.tsv.gz")
        assert found.provenance.tokenizer == "whitespace"

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
    def test_full_disk(self, corpus, file):
        for command in (["info", file], ["build", corpus, "-q", "-o", "/dev/full"]):
            done = spawn("dictionary", *command, stdout="/dev/full")
            assert done.returncode == 1
            assert "No space left on device" in done.stderr
            assert "Traceback" not in done.stderr
        assert not os.path.isfile("/dev/full")

    def test_replacing_bad_bytes(self, tmp_path):
        (tmp_path / "c.txt").write_bytes(b"new york na\xefve\0\n" * 10)
        result = build(
            tmp_path / "c.txt", "-o", tmp_path / "c.tsv.gz", "--errors", "replace"
        )
        assert result.exit_code == 0
        assert "new york" in NgramDictionary.from_disk(tmp_path / "c.tsv.gz")

    @pytest.mark.filterwarnings("default")
    def test_nothing_left_is_a_warning(self, tmp_path):
        (tmp_path / "c.txt").write_text("a b c")
        result = build(tmp_path / "c.txt", "-o", tmp_path / "c.tsv.gz")
        assert result.exit_code == 0
        first, *others = result.stderr.splitlines()
        assert re.match("⚠ No n-gram occurs 10 times or more", first)
        assert "Warning" not in "".join(others)
        assert len(NgramDictionary.from_disk(tmp_path / "c.tsv.gz")) == 0

    @pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
    def test_interrupted_build_leaves_the_old_file(self, file, tmp_path):
        before = file.read_bytes()
        command = ("-m", "spacy", "spanft", "dictionary", "build", "-", "-o", file)
        process = interpreter.Interpreter(*command)
        process.write(b"a b c d\n" * 3_000_000)  # most of which it has read then
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
        assert process.returncode == 130
        assert "Stopped" in errors
        assert "Traceback" not in errors
        assert file.read_bytes() == before
        assert sorted(os.listdir(tmp_path)) == ["a.tsv.gz", "corpus.txt"]


class TestLook:
    def test_info(self, file, corpus):
        result = run("dictionary", "info", file)
        assert result.exit_code == 0
        for expected in ("of 5 words", str(corpus), "tokens counted", "folded"):
            assert expected in result.output

    def test_top(self, file):
        lines = run("dictionary", "top", file, "-k", 2, "--n", 4).output.split("\n")
        rows = [line for line in lines if "12" in line]
        assert len(rows) == 2
        assert all(len(row.split()) == 5 for row in rows)

    def test_top_by_pmi(self, file):
        output = run("dictionary", "top", file, "--by", "pmi").output
        assert "PMI (bits)" in output
        best, score = NgramDictionary.from_disk(file).ranked("pmi")[0]
        assert best in output
        assert f"{score:.2f}" in output

    def test_diff(self, file, tmp_path):
        NgramDictionary({"new york": 2, "a b": 1}).to_disk(tmp_path / "b.tsv.gz")
        output = run("dictionary", "diff", file, tmp_path / "b.tsv.gz").output
        rows = [line.rsplit(maxsplit=1) for line in output.splitlines() if line]
        counts = {key.strip(): value for key, value in rows if value[0].isdigit()}
        assert counts["in both"] == "1"
        assert counts[f"only in {tmp_path / 'b.tsv.gz'}"] == "1"
        assert output.rstrip().endswith("a b")

    @pytest.mark.parametrize("command", ["info", "top"])
    def test_no_dictionary(self, command, tmp_path):
        result = run("dictionary", command, tmp_path / "missing.tsv.gz")
        assert result.exit_code == 1
        assert "There is no file" in result.stderr


def test_outputs_are_checked_before_the_work(corpus, tmp_path, monkeypatch):
    """They fail for their output, not for what they would have done."""
    (tmp_path / "a.txt").write_text("text\tlabel\na b\tx\n")
    output = tmp_path / "a.txt" / "x.spacy"
    for args in (
        ["dictionary", "build", "--output", output, "--min-count", 0, corpus],
        ["segment", "--html", output, "--model", "none", "a"],
        ["convert", "none.tsv", output],
        ["add", "none.cfg", output],
        ["compare", "none", "--data", "none.spacy", "--output", output],
        ["matrix", "no.yml", "-c", "no", "-d", "none", "--output", output],
        ["pretrain", "--model", "none", "--text", corpus, "--output", output],
    ):
        result = run(*args)
        assert result.exit_code == 1, args
        assert "a.txt' is a file" in result.stderr, args


@pytest.mark.parametrize("ending", ["csv", "TSV", "jsonl", "ndjson", "csv.gz"])
def test_tables_are_no_texts(ending, tmp_path):
    """Their headers and labels would be parts of the texts."""
    path = tmp_path / f"reviews.{ending}"
    path.write_text("text,label\ngood,a\n")
    for args in (["segment"], ["explain", "none"], ["phrases", "none"]):
        result = run(*args, "--file", path)
        assert result.exit_code == 1
        assert f"reviews.{ending}' is a table" in result.stderr


def test_a_page_replaces_pages_alone(tmp_path):
    path, page = tmp_path / "reviews.csv", tmp_path / "page.HTML"
    for one in (path, page):
        one.write_text("text\n")
    for args in (["segment", "a"], ["explain", "none", "a"]):
        result = run(*args, "--html", path)
        assert result.exit_code == 1
        assert "is not overwritten by a page" in result.stderr
    assert path.read_text() == "text\n"
    assert not run("segment", "New York", "--html", page).exit_code
    assert "<mark" in page.read_text("utf8")


class TestSegment:
    def test_brackets_where_there_is_no_colour(self):
        result = run("segment", "He lives in New York City.", "x")
        assert "[New York City]." in result.output
        assert "\nx\n" in result.output
        assert "2 texts, on average" in result.output

    def test_standard_input_as_json(self, file):
        text = "the New York Times\n\n naïve 🙂\n"
        result = run("segment", "--jsonl", "-d", file, stdin=text)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        assert [line["text"] for line in lines] == ["the New York Times", " naïve 🙂"]
        span = lines[0]["spans"][0]
        assert span["text"] == lines[0]["text"][span["start_char"] : span["end_char"]]
        assert (span["start"], span["end"], span["label"]) == (0, 4, "")
        assert "2 texts, on average 0.5 spans" in result.stderr

    def test_file(self, tmp_path):
        (tmp_path / "c.txt").write_text("New York\r\nLondon\n")
        result = run("segment", "--file", tmp_path / "c.txt")
        assert result.output.startswith("[New York]\nLondon\n2 texts")

    def test_page(self, tmp_path):
        page = tmp_path / "page.html"
        result = run("segment", "New York & <b>", "--html", page)
        assert result.exit_code == 0
        html = page.read_text(encoding="utf8")
        assert html.startswith("<!DOCTYPE html>")
        assert "<mark" in html
        assert "<b>" not in html
        assert "&amp; &lt;b&gt;" in html

    def test_page_and_json(self, tmp_path):
        page = tmp_path / "page.html"
        result = run("segment", "New York", "b", "--html", page, "--jsonl")
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        assert [line["text"] for line in lines] == ["New York", "b"]
        assert "<mark" in page.read_text(encoding="utf8")
        assert "2 texts" in result.stderr

    def test_no_page_without_texts(self, tmp_path):
        result = run("segment", "--html", tmp_path / "page.html", stdin="\n")
        assert result.exit_code == 1
        assert not (tmp_path / "page.html").exists()

    def test_random(self):
        one = run("segment", "a b c d e f g h i j k l", "-s", "random").output
        assert "[" in one
        assert one == run("segment", "a b c d e f g h i j k l", "-s", "random").output

    def test_model(self, tmp_path, dictionary):
        import spacy

        nlp = spacy.blank("en")
        component = nlp.add_pipe("span_segmenter", config={"spans_key": "mine"})
        component.initialize(nlp=nlp, dictionary=dictionary)
        nlp.to_disk(tmp_path / "model")
        result = run("segment", "is new york", "--model", tmp_path / "model")
        assert "is [new york]" in result.output
        # The whole pipeline runs, not the segmenter alone.
        nlp.add_pipe("merge_entities", first=True)
        ruler = nlp.add_pipe("entity_ruler", first=True)
        ruler.add_patterns([{"label": "GPE", "pattern": "new york"}])
        nlp.to_disk(tmp_path / "merging")
        result = run("segment", "is new york", "--model", tmp_path / "merging")
        assert "is new york\n" in result.output
        nlp.remove_pipe("span_segmenter")
        nlp.to_disk(tmp_path / "other")
        result = run("segment", "is new york", "--model", tmp_path / "other")
        assert "has no span_segmenter" in result.stderr

    def test_model_that_needs_code(self, tmp_path):
        import spacy

        from spacy_spanft.segmenters import registry

        name = "test.cli_code.v1"
        code = (
            "from spacy_spanft.segmenters import registry\n"
            f"@registry.segmenters({name!r})\n"
            "def make():\n"
            "    return lambda docs: [[(0, 2)] for _ in docs]\n"
        )
        (tmp_path / "code.py").write_text(code)
        registry.segmenters(name, func=lambda: lambda docs: [[] for _ in docs])
        nlp = spacy.blank("en")
        nlp.add_pipe("span_segmenter", config={"segmenter": {"@segmenters": name}})
        nlp.to_disk(tmp_path / "model")
        command = ("segment", "a b c", "--model", tmp_path / "model")
        done = spawn(*command)
        assert done.returncode == 1
        assert "cannot be loaded" in done.stderr
        assert "Traceback" not in done.stderr
        assert "[a b] c" in spawn(*command, "--code", tmp_path / "code.py").stdout

    def test_replacing_bad_bytes(self, tmp_path):
        (tmp_path / "c.txt").write_bytes(b"New York na\xefve")
        args = ("segment", "--file", tmp_path / "c.txt")
        assert "--errors replace" in run(*args).stderr
        assert "[New York]" in run(*args, "--errors", "replace").output

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (("x", "--model", "missing"), "pipeline 'missing' cannot be loaded"),
            (("x", "--lang", "klingon"), "'klingon' is not the code of a language"),
            (
                ("x", "-s", "random", "-d", "missing"),
                "--dictionary is for the n-gram segmenter. Remove it, or use --segm",
            ),
            (("x", "-d", "missing"), "There is no file 'missing'"),
            (("--file", "missing"), "There is no file 'missing'"),
            (("x", "--file", "missing"), "not both"),
            (("x", "--model", "m", "--lang", "zh"), "leave out --lang"),
            ((), "There is no text. Give it as arguments"),
            (("--file", "-"), "There is no text in '-': it is empty, or all white"),
        ],
    )
    def test_errors(self, args, message):
        result = run("segment", *args, stdin="")
        assert result.exit_code == 1
        assert message in result.stderr

    def test_reader_that_has_had_enough(self):
        process = interpreter.Interpreter("-m", "spacy", "spanft", "segment")
        process.close_stdout()
        _, errors = process.communicate(b"new york\n" * 10_000)
        assert "Traceback" not in errors
        assert "Exception" not in errors


def test_colour_in_a_terminal(monkeypatch, nlp, dictionary):
    from spacy_spanft.cli.rendering import to_terminal
    from spacy_spanft.segmenters.writing import write_spans

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    doc = nlp("in New York today")
    write_spans(doc, [(1, 3)], key="x", writer="me")
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in to_terminal(doc, "x")
    monkeypatch.setenv("NO_COLOR", "1")
    assert to_terminal(doc, "x") == "in [New York] today"
