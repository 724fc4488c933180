"""Tables and CoNLL's columns in spaCy's own format: what its commands then read."""

import gzip
import json
import random
import re

import pytest
import spacy
from spacy.cli._util import app
from spacy.tokens import DocBin
from spacy.training import Corpus, Example
from typer.testing import CliRunner

import spacy_spanft.cli  # noqa: F401
from spacy_spanft.ml.pairs import split_pair
from spacy_spanft.training.readers.classification import table_corpus
from spacy_spanft.training.readers.conll import conll_corpus

from .. import commands

CSV = 'text,label\n"good, very good",x\nbad,y\nso  good ,x\n'
PAIRS = "a\tb\tpoints\none text\tanother\t2.5\n so so\tso\t5\n"
CONLL = (
    "-DOCSTART- O\n\nNew B-LOC\nYork I-LOC\n\n-DOCSTART- O\n\nI O\nlike O\nBonn B-LOC\n"
)


@pytest.fixture(scope="module")
def pair_nlp():
    tokenizer = {"@tokenizers": "spacy-spanft.PairTokenizer.v1", "separator": "<>"}
    return spacy.blank("en", config={"nlp": {"tokenizer": tokenizer}})


def convert(*args):
    """Run the command, and give the one line that it ends with."""
    done = CliRunner().invoke(app, ["spanft", "convert", *map(str, args)])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert not done.stdout
    return done.stderr.strip().removeprefix("✔ ")


def told(examples):
    """Say all that matters of Examples."""
    found = []
    for example in examples:
        doc = example.reference
        spans = {key: [str(s) for s in group] for key, group in doc.spans.items()}
        ents = [(ent.start, ent.end, ent.label_) for ent in doc.ents]
        tags = [token.tag_ for token in doc]
        predicted = [token.text for token in example.predicted]
        found.append((doc.text, doc.cats, ents, spans, tags, predicted))
    return found


@pytest.mark.parametrize(
    ("name", "text", "options", "settings", "summary"),
    [
        ("x.csv", CSV, "", {}, "3 docs: 2 x, 1 y"),
        ("x.csv.gz", CSV, "", {}, "3 docs: 2 x, 1 y"),
        (
            "x.txt",
            CSV,
            "--format csv --limit 1",
            {"format": "csv", "limit": 1},
            "1 doc: 1 ",
        ),
        (
            "x.csv",
            CSV,
            "--labels x=good,y=not=good",
            {"labels": {"x": "good", "y": "not=good"}},
            "3 docs: 2 good, 1 not=good",
        ),
        (
            "x.csv",
            CSV,
            '--labels {"x":"a,b","y":"c"}',
            {"labels": {"x": "a,b", "y": "c"}},
            "3 docs: 2 a,b, 1 c",
        ),
        ("x.csv", CSV, "--no-label", {"label": None}, "3 docs: no label"),
        (
            "x.tsv",
            "1\ta b\n0\tc\nbroken\n",
            "--header gold,words --text words --label gold --incomplete skip",
            {
                "header": ["gold", "words"],
                "text": "words",
                "label": "gold",
                "incomplete": "skip",
            },
            "2 docs: 1 1, 1 0",
        ),
        (
            "x.tsv",
            PAIRS,
            "--text a --text-pair b --score points --separator <>",
            {"text": "a", "text_pair": "b", "score": "points", "separator": "<>"},
            "2 docs: scores from 2.5 to 5",
        ),
        (
            "x.jsonl",
            '{"text": "a", "label": ["x", "y"]}\n{"text": "b", "label": []}\n',
            "",
            {},
            "2 docs: 1 x, 1 y",
        ),
        (
            "x.jsonl",
            "".join(json.dumps({"text": "a", "label": i}) + "\n" for i in range(12)),
            "",
            {},
            "1 8, 1 9 and 2 more labels",
        ),
        (
            "x.tsv",
            b"text\tlabel\ncaf\xe9\tx\n",
            "--errors replace",
            {"errors": "replace"},
            "1 doc: 1 x",
        ),
    ],
)
def test_tables(pair_nlp, tmp_path, name, text, options, settings, summary):
    """What spaCy reads is what our own corpus reads."""
    data = text if isinstance(text, bytes) else text.encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    last = convert(path, tmp_path / "out.spacy", *options.split())
    assert summary in last
    assert last.startswith(f"{tmp_path / 'out.spacy'}: ")
    expected = told(table_corpus(path, **settings)(pair_nlp))
    assert told(Corpus(tmp_path / "out.spacy")(pair_nlp)) == expected
    again = {k: settings[k] for k in ("text_pair", "separator") if k in settings}
    found = table_corpus(tmp_path / "out.spacy", **again)(pair_nlp)
    assert told(found) == expected


@pytest.mark.parametrize("name", ["x.conll", "x.IOB.gz", "x"])
@pytest.mark.parametrize("gold_tokens", [True, False])
def test_conll(nlp, tmp_path, name, gold_tokens):
    path = tmp_path / name
    text = CONLL.replace("I O", "don't O").encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    options = ["--spans-key", "sc", *(["--format", "conll"] if name == "x" else [])]
    if not gold_tokens:
        options.append("--no-gold-tokens")
    last = convert(path, tmp_path / "out.spacy", *options)
    assert last.endswith("2 docs: 2 LOC")
    found = told(Corpus(tmp_path / "out.spacy")(nlp))
    corpus = conll_corpus(path, spans_key="sc", gold_tokens=gold_tokens)
    assert found == told(corpus(nlp))
    assert ("don't" in found[1][-1]) == gold_tokens
    path = tmp_path / "y"
    path.write_bytes(b"-DOCSTART- O\n\na O\n\nb O\n\n-DOCSTART- O\n\nc O\n")
    by_document = (path, tmp_path / "out.spacy", "--unit", "document")
    assert convert(*by_document, "--format", "conll").endswith("2 docs: no label")


def test_annotated_json_lines(nlp, tmp_path):
    """The file is detected by its spans; options of tables read it as a table."""
    rows = [
        {"text": "In New York.", "spans": [{"start": 3, "end": 11, "label": "LOC"}]},
        {"text": "Nowhere.", "spans": [], "kind": "x"},
    ]
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    last = convert(path, tmp_path / "out.spacy", "--spans-key", "sc")
    assert last.endswith("2 docs: 1 LOC")
    expected = told(conll_corpus(path, spans_key="sc")(nlp))
    assert told(Corpus(tmp_path / "out.spacy")(nlp)) == expected
    assert expected[0][2] == [(1, 3, "LOC")]
    last = convert(path, tmp_path / "out.spacy", "--no-label")
    assert last.endswith("2 docs: no label")


def test_spacys_own_commands_read_it(nlp, tmp_path):
    """As evaluate does, which finds nothing at all in a CSV file."""
    (tmp_path / "x.csv").write_text(CSV)
    convert(tmp_path / "x.csv", tmp_path / "x.spacy")
    model = spacy.blank("en")
    model.add_pipe("textcat")
    examples = list(table_corpus(tmp_path / "x.csv")(model))
    optimizer = model.initialize(lambda: examples)
    for _ in range(20):
        model.update(examples, sgd=optimizer)
    model.to_disk(tmp_path / "model")
    commands.run(
        "evaluate",
        tmp_path / "model",
        tmp_path / "x.spacy",
        "--output",
        tmp_path / "scores.json",
    )
    scores = json.loads((tmp_path / "scores.json").read_text())
    expected = model.evaluate(list(table_corpus(tmp_path / "x.csv")(model)))
    assert scores["cats_score"] == expected["cats_score"] == 1.0
    assert len(list(Corpus(tmp_path / "x.spacy")(nlp))) == 3


def test_pairs_come_back_exactly(pair_nlp, tmp_path):
    """Whatever stands in them: white space at both ends, and the separator."""
    chance = random.Random(0)
    parts = ["a", "b.", " ", "  ", "\t", "\n", "é", "don't", "[SEP]", "\u3000"]
    rows = []
    for _ in range(200):
        first = "".join(chance.choices(parts, k=6))
        second = "".join(chance.choices([*parts, " <> "], k=6))
        rows.append({"a": f"{first}x", "b": f"{second}x"})
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "x.jsonl").write_text(text)
    options = ["--text", "a", "--text-pair", "b", "--separator", "<>", "--no-label"]
    convert(tmp_path / "x.jsonl", tmp_path / "x.spacy", *options)
    found = [
        split_pair(example.predicted, "<>")[:2]
        for example in Corpus(tmp_path / "x.spacy")(pair_nlp)
    ]
    assert found == [(row["a"], row["b"]) for row in rows]


@pytest.mark.filterwarnings("default")
def test_texts_with_nothing_in_them(nlp, tmp_path):
    (tmp_path / "x.tsv").write_text("text\tlabel\na\tx\n\ty\n \ty\n")
    first, last = convert(tmp_path / "x.tsv", tmp_path / "x.spacy").split("\n")
    assert re.match(r"⚠ 2 of 3 rows of .*x\.tsv' have no text .* is line 3\.", first)
    assert last.endswith("2 docs: 1 x, 1 y; 1 empty texts left out")
    docs = list(DocBin().from_disk(tmp_path / "x.spacy").get_docs(nlp.vocab))
    assert [doc.text for doc in docs] == ["a", " "]
    assert all(set(doc.cats) == {"x", "y"} for doc in docs)


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("x.csv", "--text words", "There is no column 'words'"),
        ("x.csv", "--unit document", "read as a table, so --unit would do nothing"),
        ("x.csv", "--no-label --labels a=b --score s", "remove --labels, --score"),
        ("x.csv", "--score text --label label", "remove --label or --score"),
        ("x.csv", "--text label", "column 'label' is named twice"),
        ("x.csv", "--text-pair text", "is named twice"),
        ("x.csv", "--no-label --text a --text-pair a", "column 'a' is named twice"),
        ("x.csv", "--score text", "column 'text' is named twice"),
        ("x.txt", "", r'Rename it, or set format = "tsv" \(--format tsv, where'),
        ("x.csv", "--separator <>", "'<>' stands between two texts, but"),
        ("x.csv", "--labels good", "must be like 0=bad,1=good, or a JSON object"),
        ("x.csv", "--labels {", "--labels is not JSON: Expecting property name"),
        ("x.csv", "--header [1", "--header is not JSON"),
        ("x.csv", "--lang qq", "'qq' is not the code of a language"),
        ("x.csv", "--format jsonl", "Line 1 of .* is not a JSON object"),
        (
            "x.conll",
            "--text words --no-label",
            "so --text, --no-label would do nothing",
        ),
        ("x.conll", "", "Line 1 of .* must be a token and its tag"),
        ("x.spacy", "", "is in spaCy's format already"),
        ("none.csv", "", "no file"),
    ],
)
@pytest.mark.filterwarnings("ignore:2 of 2 rows")
def test_errors_leave_the_file_as_it_was(tmp_path, name, options, expected):
    for there in ("x.csv", "x.conll", "x.txt"):
        (tmp_path / there).write_text(CSV)
    (tmp_path / "empty.tsv").write_text("text\tlabel\n\tx\n\ty\n")
    (tmp_path / "old.spacy").write_text("old")
    last = convert(tmp_path / name, tmp_path / "old.spacy", *options.split())
    assert re.search(f"✘ .*{expected}", last)
    assert "\n" not in last
    assert (tmp_path / "old.spacy").read_text() == "old"


def test_long_labels_are_cut(tmp_path):
    """They are texts, where another column was meant."""
    (tmp_path / "x.tsv").write_text(f"text\tlabel\na\t{'y' * 99}\nb\tn\n")
    last = convert(tmp_path / "x.tsv", tmp_path / "x.spacy")
    assert last.endswith(f"2 docs: 1 {'y' * 30}..., 1 n")


def test_outputs_that_cannot_be_meant(tmp_path):
    (tmp_path / "x.csv").write_text(CSV)
    assert "does not end in .spacy" in convert(tmp_path / "x.csv", tmp_path / "x.bin")
    (tmp_path / "y.spacy").mkdir()
    assert "is a folder" in convert(tmp_path / "x.csv", tmp_path / "y.spacy")


def test_examples_of_a_corpus_of_ones_own(nlp):
    from spacy_spanft.training.readers.docbins import convert

    doc = nlp.make_doc("a b")
    doc.cats = {"x": 1.0}
    converted = convert([Example(nlp.make_doc("a b"), doc)])
    assert converted.summary == "1 doc: 1 x"
