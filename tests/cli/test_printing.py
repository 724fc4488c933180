"""What files and texts say is shown, and never obeyed."""

import pytest
import spacy

from spacy_spanft import NgramDictionary, Provenance
from spacy_spanft.cli.rendering import to_html, to_terminal
from spacy_spanft.errors import visible
from spacy_spanft.segmenters.writing import write_spans

from ..commands import run

HOSTILE = "a\x1b[31m b\x07"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "d\x1b[2J.tsv.gz"
    origin = Provenance(
        sources=("x\x1b]0;title\x07", "caf\udce9"), tokenizer="t\x9b", made_with="\0"
    )
    NgramDictionary({HOSTILE: 3, "c \u202ed": 2}, provenance=origin).to_disk(path)
    return path


def test_visible():
    assert visible("a\x1bb\x00\x7f\x9b\n") == r"a\x1bb\x00\x7f\x9b\n"
    assert visible("\ud800\u202e\u2028") == r"\ud800\u202e\u2028"
    assert visible("a\n\tb\r", keep="\n\t") == "a\n\tb\\r"
    fine = "übers 中文 🙂 \u200d e\u0301"
    assert visible(fine) == fine


@pytest.mark.parametrize("command", ["info", "top", "diff", "diff of others"])
def test_commands_for_dictionaries(file, tmp_path, command):
    other = tmp_path / "other.tsv.gz"
    NgramDictionary({"e f": 1}).to_disk(other)
    args = [file, other] if command == "diff" else [file]
    if command == "diff of others":
        args = [other, file]
    said = run("spanft", "dictionary", command.split()[0], *args).stdout
    assert r"a\x1b[31m b\x07" in said
    assert all(c == "\n" or c.isprintable() for c in said)


def test_errors_name_files(tmp_path):
    path = tmp_path / "d\x1b[2J.tsv.gz"
    path.write_bytes(b"junk")
    said = run("spanft", "dictionary", "info", path, ok=False).stderr
    assert r"d\x1b[2J.tsv.gz is not an n-gram dictionary" in said
    assert "\x1b" not in said


def doc_of(text, label=""):
    doc = spacy.blank("en")(text)
    spans = [(0, 2, label)] if label else [(0, 2)]
    write_spans(doc, spans, key="ngrams", writer="me")
    return doc


def test_texts_in_a_terminal():
    said = to_terminal(doc_of("He \x1b[31m\nlives\x07"), "ngrams")
    assert r"\x1b[" in said
    assert r"\x07" in said
    assert all(c == "\n" or c.isprintable() for c in said)


def test_labels_in_a_page():
    label = "<img src=x onerror=alert(1)>"
    page = to_html([doc_of("New <b>York</b>", label)], "ngrams")
    assert "<img" not in page
    assert "&lt;img src=x" in page
    assert "<b>" not in page
