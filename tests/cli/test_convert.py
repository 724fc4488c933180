"""Tables and CoNLL's columns in spaCy's own format: what its commands then read."""

import gzip
import re

import pytest
import spacy
from spacy.tokens import DocBin
from spacy.training import Corpus

from spacy_spanft.training.readers.classification import table_corpus
from spacy_spanft.training.readers.entities import conll_corpus

from .. import commands

CSV = b'text,label\n"good, very good",x\nbad,y\nso  good ,x\n'
GOLD_ROWS = b"1\ta b\n0\tc\nbroken\n"
PAIRS = b"a\tb\tpoints\none text\tanother\t2.5\n so so\tso\t5\n"
CONLL = b"-DOCSTART- O\n\nNew B-LOC\nYork I-LOC\n\n"
CONLL += b"-DOCSTART- O\n\ndon't O\nlike O\nBonn B-LOC\n"


@pytest.fixture(scope="module")
def pair_nlp():
    tokenizer = {"@tokenizers": "spacy-spanft.PairTokenizer.v1", "separator": "<>"}
    return spacy.blank("en", config={"nlp": {"tokenizer": tokenizer}})


def convert(*args, ok=True):
    """Run the command, and return the line that it ends with."""
    done = commands.run("spanft", "convert", *args, ok=ok)
    assert not done.stdout
    return done.stderr.strip()


def contents(examples):
    rows = []
    for example in examples:
        doc = example.reference
        spans = {key: [str(s) for s in group] for key, group in doc.spans.items()}
        ents = [(ent.start, ent.end, ent.label_) for ent in doc.ents]
        tags = [token.tag_ for token in doc]
        predicted = [token.text for token in example.predicted]
        rows.append((doc.text, doc.cats, ents, spans, tags, predicted))
    return rows


def as_options(settings):
    """Write the settings of a corpus as options of the command."""
    for name, value in settings.items():
        if isinstance(value, dict):
            value = [f"{label}={other}" for label, other in value.items()]
        value = ",".join(value) if isinstance(value, list) else str(value)
        yield from (f"--{name.replace('_', '-')}", value)


GOLD = {"header": ["gold", "words"], "text": "words", "label": "gold"}
GOLD["incomplete"] = "skip"
POINTS = {"text": "a", "text_pair": "b", "score": "points", "separator": "<>"}
NAMED = {"labels": {"x": "good", "y": "not=good"}}


@pytest.mark.parametrize(
    ("name", "data", "settings", "summary"),
    [
        ("x.csv.gz", CSV, {}, "3 texts of 1 to 4 words .* x: 2 .67%., y: 1"),
        ("x.csv", CSV, NAMED, "good: 2 .*, not=good: 1"),
        ("x.tsv", GOLD_ROWS, GOLD, "2 texts .* 1: 1 .*, 0: 1"),
        ("x.tsv", PAIRS, POINTS, "2 texts .* scores from 2.5 to 5"),
    ],
)
@pytest.mark.filterwarnings("ignore:Rows of")
def test_tables(pair_nlp, tmp_path, name, data, settings, summary):
    path, output = tmp_path / name, tmp_path / "out.spacy"
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    printed = convert(path, output, *as_options(settings))
    assert re.search(f"✔ {output}: .*{summary}", printed)
    expected = contents(table_corpus(path, **settings)(pair_nlp))
    assert contents(Corpus(output)(pair_nlp)) == expected
    again = {k: settings[k] for k in ("text_pair", "separator") if k in settings}
    assert contents(table_corpus(output, **again)(pair_nlp)) == expected


@pytest.mark.parametrize(("name", "gold_tokens"), [("x.IOB.gz", True), ("x", False)])
def test_conll(nlp, tmp_path, name, gold_tokens):
    path, output = tmp_path / name, tmp_path / "out.spacy"
    path.write_bytes(gzip.compress(CONLL) if path.suffix == ".gz" else CONLL)
    more = [] if gold_tokens else ["--format", "conll", "--no-gold-tokens"]
    printed = convert(path, output, "--spans-key", "sc", *more)
    assert printed.endswith("; LOC: 2 (100%)")
    rows = contents(Corpus(output)(nlp))
    corpus = conll_corpus(path, spans_key="sc", gold_tokens=gold_tokens)
    assert rows == contents(corpus(nlp))
    assert ("don't" in rows[1][-1]) == gold_tokens


def test_texts_with_nothing_in_them_are_left_out(nlp, tmp_path):
    (tmp_path / "x.tsv").write_text("text\tlabel\na\tx\n\ty\n \ty\n")
    printed = convert(tmp_path / "x.tsv", tmp_path / "x.spacy")
    assert "x.tsv', which are left out: 1." in printed
    assert ": 2 texts of 0 to 1 words" in printed
    docs = list(DocBin().from_disk(tmp_path / "x.spacy").get_docs(nlp.vocab))
    assert [doc.text for doc in docs] == ["a", " "]
    assert all(set(doc.cats) == {"x", "y"} for doc in docs)


@pytest.mark.parametrize(
    ("name", "output", "options", "expected"),
    [
        ("x.csv", "old.spacy", "--labels good", "must be like 0=bad,1=good"),
        ("x.csv", "x.bin", "", "does not end in .spacy"),
        ("x.csv", "old.spacy", "--spans-key sc", "--spans-key cannot be used with"),
        ("x.conll", "old.spacy", "--labels a=b", "--labels cannot be used"),
        ("x.txt", "old.spacy", "", r"Rename it, or set format = .*--format tsv"),
    ],
)
def test_errors_leave_the_file_as_it_was(tmp_path, name, output, options, expected):
    for table in ("x.csv", "x.conll", "x.txt"):
        (tmp_path / table).write_bytes(CSV)
    (tmp_path / "old.spacy").write_text("old")
    args = (tmp_path / name, tmp_path / output, *options.split())
    assert re.search(f"✘ .*{expected}", convert(*args, ok=False))
    assert (tmp_path / "old.spacy").read_text() == "old"
