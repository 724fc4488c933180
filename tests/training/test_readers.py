"""Corpora from tables and datasets, their errors, and what is held out of them."""

import gzip
import json
from collections import Counter

import datasets
import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from spacy_spanft.errors import SpanftError
from spacy_spanft.training.checks import check_config
from spacy_spanft.training.gold import PLACE
from spacy_spanft.training.readers.classification import dataset_corpus, table_corpus
from spacy_spanft.training.readers.held_out import held_out_corpus
from spacy_spanft.util.tables import columns_of, read_table

from ..tiny import make_pipeline

TEXTS = ['He said "yes', "It's, well, no", "Perhaps"]
TABLES = {
    "x.tsv": "text\tlabel\nHe said \"yes\t1\nIt's, well, no\t0\nPerhaps\t1\n",
    "x.csv": 'text,label\n"He said ""yes",1\n"It\'s, well, no",0\nPerhaps,1\n',
    "x.jsonl": "".join(
        json.dumps({"text": text, "label": label}) + "\n"
        for text, label in zip(TEXTS, "101", strict=True)
    ),
}
TABLES |= {"x.tsv.gz": TABLES["x.tsv"], "X.TSV": TABLES["x.tsv"]}
NLP = spacy.blank("en")
COLA = {"header": ["source", "label", "star", "text"]}
COLA["labels"] = {"1": "good", "0": "bad"}
XYZ = datasets.Sequence(datasets.ClassLabel(names=["x", "y", "z"]))
PAIRS = "a\tb\tlabel\none text\tanother\t2.5\nsame\tsame\t5\n"


@pytest.fixture(scope="module")
def pair_nlp():
    return make_pipeline({}, separator="[SEP]")


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        data = text.encode()
        data = gzip.compress(data) if name.endswith(".gz") else data
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return write


@pytest.fixture
def save(tmp_path):
    def save(rows, **features):
        dataset = datasets.Dataset.from_list(rows)
        for column, feature in features.items():
            dataset = dataset.cast_column(column, feature)
        datasets.DatasetDict({"train": dataset}).save_to_disk(tmp_path / "saved")
        return str(tmp_path / "saved")

    return save


def read(corpus, nlp):
    return [(eg.reference.text, eg.reference.cats) for eg in corpus(nlp)]


@pytest.mark.parametrize("name", TABLES)
def test_formats(nlp, write, name):
    examples = list(table_corpus(write(name, TABLES[name]))(nlp))
    assert [eg.reference.text for eg in examples] == TEXTS
    good, bad = {"0": 0.0, "1": 1.0}, {"0": 1.0, "1": 0.0}
    assert [eg.reference.cats for eg in examples] == [good, bad, good]
    # What is to be predicted does not know the answer.
    assert not any(eg.predicted.cats for eg in examples)


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
def test_strings_stay_strings_whatever_ends_the_lines(nlp, write, end):
    text = "\ufefftext\tlabel\nNA\t001\n\n1.0\tNA\nnull\t1e3\n".replace("\n", end)
    path = write("x.tsv", text)
    assert columns_of(path) == ["text", "label"]
    examples = read(table_corpus(path), nlp)
    assert [text for text, _ in examples] == ["NA", "1.0", "null"]
    assert examples[0][1] == {"001": 1.0, "1e3": 0.0, "NA": 0.0}


def test_cells_of_csv_may_hold_lines_and_be_long(nlp, write):
    long = "long " * 40_000
    path = write("x.csv", f'text,"a, b"\n"two\nlines",a\n"{long}",b\nc,b\n')
    assert columns_of(path) == ["text", "a, b"]
    texts = [text for text, _ in read(table_corpus(path, label="a, b"), nlp)]
    assert texts == ["two\nlines", long, "c"]
    places = ["Line 2", "Line 4", "Line 5"]
    assert [row.place for row in read_table(path)] == places
    examples = table_corpus(path, label="a, b")(nlp)
    assert [example.reference.user_data[PLACE] for example in examples] == places
    assert columns_of(write("x.jsonl", '\n{"a": 1, "b": 2}\n{"c": 3}\n')) == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "rows", "settings", "expected"),
    [
        (
            "cola.tsv",
            "gj04\t1\t\tA text.\nr-67\t0\t*\tText a.\n",
            COLA,
            [("A text.", {"good": 1, "bad": 0}), ("Text a.", {"good": 0, "bad": 1})],
        ),
        (
            "x.jsonl",
            '{"text": "a", "label": ["x", "y"]}\n{"text": "b", "label": []}\n',
            {},
            [("a", {"x": 1, "y": 1}), ("b", {"x": 0, "y": 0})],
        ),
        (
            "x.tsv",
            "text\tlabel\na\tx\nonly one\nb\t\nc\t-\nd\ty\te\n \tx\nf\ty\n",
            {"incomplete": "skip", "limit": 2},
            [("a", {"x": 1, "y": 0}), ("f", {"x": 0, "y": 1})],
        ),
        (
            "x.tsv",
            "text\tlabel\na\tx/y\nb\t\n\tx\n",
            {"incomplete": "skip", "label_separator": "/", "limit": 2},
            [("a", {"x": 1, "y": 1}), ("b", {"x": 0, "y": 0})],
        ),
    ],
)
def test_settings(nlp, write, name, rows, settings, expected):
    examples = read(table_corpus(write(name, rows), **settings), nlp)
    assert examples == expected
    assert [list(cats) for _, cats in examples] == [list(cats) for _, cats in expected]


def test_rejected_rows_are_left_out_unless_that_is_the_label(nlp, write):
    answers = ("accept", "reject", "ignore")
    text = "".join(f'{{"text": "a", "label": "x", "answer": "{x}"}}\n' for x in answers)
    path = write("x.jsonl", text)
    with pytest.warns(UserWarning, match="left out: 2"):
        assert read(table_corpus(path), nlp) == [("a", {"x": 1.0})]
    learned = read(table_corpus(path, label="answer"), nlp)
    assert [max(cats, key=cats.get) for _, cats in learned] == [*answers]


def test_folders_of_spacys_files(nlp, tmp_path, monkeypatch):
    for name, texts in {"a": "ab", "deep/c": "c"}.items():
        docs = [nlp.make_doc(text) for text in texts]
        for doc in docs:
            doc.cats = {"x": 1.0}
        path = tmp_path / f"{name}.spacy"
        path.parent.mkdir(exist_ok=True)
        DocBin(docs=docs).to_disk(path)
    (tmp_path / ".hidden").write_text("")
    assert read(table_corpus(tmp_path), nlp) == [(text, {"x": 1.0}) for text in "abc"]
    assert len(read(table_corpus(tmp_path, limit=1), nlp)) == 1
    (tmp_path / "a.spacy").write_bytes(b"nothing")
    with pytest.raises(SpanftError, match=r"a\.spacy' cannot be read: it is no DocBin"):
        list(table_corpus(tmp_path)(nlp))
    monkeypatch.setattr(nlp, "max_length", 0)
    with pytest.raises(SpanftError, match=r"c\.spacy' cannot be read: \[E088\]"):
        list(table_corpus(tmp_path / "deep/c.spacy")(nlp))
    with pytest.raises(SpanftError, match=r"--paths\.train"):
        table_corpus(None)


@pytest.mark.parametrize(
    ("labels", "names", "expected"),
    [
        ([1], datasets.ClassLabel(names=["bad", "good"]), [{"good": 1}]),
        ([[0, 2], []], XYZ, [{"x": 1, "z": 1}, {"x": 0, "z": 0}]),
    ],
)
def test_labels_of_datasets(nlp, save, labels, names, expected):
    data = [{"sentence": "a", "label": label} for label in labels]
    name = save(data, label=names)
    examples = read(dataset_corpus(name, text="sentence"), nlp)
    assert examples == [("a", cats) for cats in expected]


def test_scores_and_secret_labels_of_datasets(nlp, pair_nlp, save):
    name = save([{"a": "x", "b": "y", "label": 3.0}])
    corpus = dataset_corpus(name, text="a", text_pair="b", score="label")
    assert read(corpus, pair_nlp) == [("x [SEP] y", {"score": 3.0})]
    name = save([{"text": "a", "label": -1}], label=datasets.ClassLabel(names=["x"]))
    with pytest.raises(SpanftError, match=r"Row 1 of split 'train' .* no label"):
        read(dataset_corpus(name), nlp)
    assert read(dataset_corpus(name, label=None), nlp) == [("a", {})]


@pytest.mark.parametrize(
    ("name", "text", "settings", "expected"),
    [
        ("x.tsv", "text\tb\n1\t2\n", {"label": "gold"}, "no column 'gold'.* label = "),
        ("x.tsv", "text\tlabel\n1\t2\n", {"labels": {"1": "x"}}, "Line 2 .* label '2'"),
        ("x.tsv", "text\tlabel\na\t3,5\n", {"score": "label"}, "Line 2 .* such as 3.5"),
        ("x.tsv", "text\tlabel\na\tnan\n", {}, "Line 2 .* no label: .* holds 'nan'"),
        ("x.csv", "text,label\na,b,c\n", {}, 'must be quoted: "one, two".$'),
        ("x.csv", "text,text\na,b\n", {}, "has 'text' twice"),
        ("x.tsv", "", {}, "no rows in"),
        ("x.csv", 'text,label\na,b\n"open\n', {}, "Line 3 .* never closed"),
        ("x.jsonl", '{"text": 3, "label": "x"}', {}, "has 3 .* not a text"),
        ("x.jsonl", '{"text": "a", "label": ["x", null]}', {}, "None for a label"),
        ("x.jsonl", '{"text": "a"}\n' + 100_000 * "[", {}, "Line 2 .* not a JSON"),
        ("x.jsonl", '{"text": "a", "n": NaN}', {"score": "n"}, "Line 1 .* column 'n'"),
        ("x.csv", f"text,label\n{'long ' * 9},1\n", {}, "Line 2 .* 45 characters, but"),
        ("x.txt", "text\tlabel\n", {}, 'format = "tsv"'),
    ],
)
def test_errors_name_the_row_and_the_value(
    nlp, monkeypatch, write, name, text, settings, expected
):
    monkeypatch.setattr(nlp, "max_length", 44)
    with pytest.raises(SpanftError, match=expected):
        read(table_corpus(write(name, text), **settings), nlp)


def test_separators_that_cannot_be_told_apart(nlp, pair_nlp, write):
    path = write("x.tsv", "a\tb\tlabel\nx [SEP] y\tz\t1\n")
    corpus = table_corpus(path, text="a", text_pair="b")
    with pytest.raises(SpanftError, match=r"Line 2 .* contains the separator"):
        read(corpus, pair_nlp)
    corpus = table_corpus(write("y.tsv", PAIRS), text="a", text_pair="b")
    with pytest.raises(SpanftError, match=r"PairTokenizer\.v1"):
        read(corpus, nlp)


def of_labels(labels):
    examples = []
    for i, label in enumerate(labels):
        doc = NLP(f"text {i}")
        doc.cats = {other: float(other == label) for other in set(labels)}
        examples.append(Example(NLP(doc.text), doc))
    return examples


def parts(examples, **settings):
    corpora = [
        held_out_corpus(lambda nlp: iter(examples), part, **settings)
        for part in ("train", "dev")
    ]
    return [[example.reference.text for example in read(NLP)] for read in corpora]


def test_each_label_is_in_both_parts():
    labels = "a" * 70 + "b" * 25 + "c" * 5
    examples = of_labels(labels)
    train, dev = parts(examples)
    assert [len(train), len(dev)] == [80, 20]
    assert not {*train} & {*dev}
    counts = Counter(labels[int(text.split()[1])] for text in dev)
    assert counts == {"a": 14, "b": 5, "c": 1}
    assert parts(examples) == [train, dev]
    assert parts(examples, seed=1)[1] != dev
    train, dev = parts(of_labels("aaab" + "cc"))
    assert len(dev) == 2
    assert "text 3" in train  # the only one of its label
    assert len(parts(of_labels("abc"))[1]) == 1


def test_what_is_there_often_is_left_to_training():
    examples = of_labels("a" * 30 + "b" * 30)
    often = NLP("again")
    often.cats = {"a": 1.0, "b": 0.0}
    examples += [Example(NLP(often.text), often)] * 40
    for seed in range(5):
        train, dev = parts(examples, seed=seed)
        assert (train.count("again"), len(train), len(dev)) == (40, 80, 20)
    # Pairs of rows are held out together, as near to the share as they can be.
    train, dev = parts([example for example in of_labels("a" * 23) for _ in range(2)])
    assert not {*train} & {*dev}
    assert len(dev) in (8, 10)


def test_entities_are_held_out_by_the_rarest():
    examples = []
    for i in range(20):
        doc = Doc(NLP.vocab, ["in", "Paris", f"{i}"])
        doc.ents = [Span(doc, 1, 2, "LOC")]
        if i < 5:
            doc.ents = [*doc.ents, Span(doc, 0, 1, "RARE")]
        examples.append(Example(doc.copy(), doc))
    _, dev = parts(examples)
    assert len(dev) == 4
    assert sum(int(text.split()[2]) < 5 for text in dev) == 1


def test_parts_that_overlap():
    reader = "spacy-spanft.HeldOutCorpus.v1"
    corpora = {part: {"@readers": reader, "part": part} for part in ("train", "dev")}
    check_config(NLP, {"corpora": corpora})
    for change in ({"part": "train"}, {"share": 0.5}, {"seed": 5}):
        changed = {**corpora, "dev": {**corpora["dev"], **change}}
        with pytest.raises(SpanftError, match="and the same other settings"):
            check_config(NLP, {"corpora": changed})


def test_parts_that_cannot_be():
    with pytest.raises(SpanftError, match="held out of 1 text"):
        parts(of_labels("a") * 3)
