"""Corpora from tables and datasets, and their errors."""

import gzip
import json

import datasets
import pytest
import spacy
from spacy.tokens import DocBin

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.pairs import split_pair
from spacy_spanft.training.readers.classification import dataset_corpus, table_corpus
from spacy_spanft.training.readers.rows import columns_of, rows_from_file

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
PAIRS = "a\tb\tlabel\none text\tanother\t2.5\nsame\tsame\t5\n"
PAIR_TOKENIZER = {"@tokenizers": "spacy-spanft.PairTokenizer.v1"}


@pytest.fixture
def pair_nlp():
    return spacy.blank("en", config={"nlp": {"tokenizer": PAIR_TOKENIZER}})


@pytest.fixture
def write(tmp_path):
    """Write a text to a file, compressed if its ending says so."""

    def write(name, text):
        data = text.encode()
        data = gzip.compress(data) if name.endswith(".gz") else data
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return write


@pytest.fixture
def save(tmp_path):
    """Save a dataset, of which some columns are class labels."""

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


def test_strings_stay_strings(nlp, write):
    path = write("x.csv", "text,label\nNA,001\n1.0,NA\nnull,1e3\n")
    examples = read(table_corpus(path), nlp)
    assert [text for text, _ in examples] == ["NA", "1.0", "null"]
    assert list(examples[0][1]) == ["001", "1e3", "NA"]


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
def test_line_ends_byte_order_mark_and_empty_lines(nlp, write, end):
    path = write("x.tsv", "\ufefftext\tlabel\na b\tx\n\nc\ty\n".replace("\n", end))
    assert read(table_corpus(path), nlp) == [
        ("a b", {"x": 1.0, "y": 0.0}),
        ("c", {"x": 0.0, "y": 1.0}),
    ]


def test_cells_of_csv_may_hold_lines_and_be_long(nlp, write):
    long = "long " * 40_000
    path = write("x.csv", f'text,label\n"two\nlines",a\n"{long}",b\nc,b\n')
    texts = [text for text, _ in read(table_corpus(path), nlp)]
    assert texts == ["two\nlines", long, "c"]
    assert [row.place for row in rows_from_file(path)] == ["Line 2", "Line 4", "Line 5"]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("x.tsv", "\ufeffa b\tc\r\n1\t2\n", ["a b", "c"]),
        ("x.csv", '"a, b",c\n1,2\n', ["a, b", "c"]),
        ("x.jsonl", '\n{"a": 1, "b": 2}\n{"c": 3}\n', ["a", "b"]),
        ("x.tsv", "", []),
    ],
)
def test_columns_of_files(write, name, text, expected):
    assert columns_of(write(name, text)) == expected


@pytest.mark.parametrize(
    ("name", "rows", "settings", "expected"),
    [
        (
            "cola.tsv",
            "gj04\t1\t\tA text.\nr-67\t0\t*\tText a.\n",
            {"header": ["source", "label", "star", "text"]},
            [("A text.", {"0": 0, "1": 1}), ("Text a.", {"0": 1, "1": 0})],
        ),
        (
            *("x.tsv", "text\tlabel\na\t0\nb\t1\n"),
            {"labels": {"1": "good", "0": "bad"}},
            [("a", {"good": 0, "bad": 1}), ("b", {"good": 1, "bad": 0})],
        ),
        (
            "x.jsonl",
            '{"text": "a", "label": ["x", "y"]}\n{"text": "b", "label": []}\n',
            {},
            [("a", {"x": 1, "y": 1}), ("b", {"x": 0, "y": 0})],
        ),
        (*("x.tsv", "text\na\nb\n"), {"label": None, "limit": 1}, [("a", {})]),
        (
            "x.tsv",
            "text\tlabel\na\tx\nonly one\nb\t\nc\t-\nd\ty\te\nf\ty\n",
            {"incomplete": "skip", "limit": 2},
            [("a", {"x": 1, "y": 0}), ("f", {"x": 0, "y": 1})],
        ),
        (
            "x.jsonl",
            '{"text": "a", "n": null}\n{"text": "b", "n": 2}\n',
            {"score": "n", "incomplete": "skip"},
            [("b", {"score": 2.0})],
        ),
    ],
    ids=["header", "new names", "several labels", "no labels", "gaps", "scores"],
)
def test_settings(nlp, write, name, rows, settings, expected):
    examples = read(table_corpus(write(name, rows), **settings), nlp)
    assert examples == expected
    assert [list(cats) for _, cats in examples] == [list(cats) for _, cats in expected]


def test_pairs_and_scores_through_the_registry(pair_nlp, write):
    config = {"@readers": "spacy-spanft.TableCorpus.v1", "text": "a", "text_pair": "b"}
    config |= {"path": str(write("x.tsv", PAIRS)), "score": "label"}
    corpus = spacy.registry.resolve({"train": config})["train"]
    assert read(corpus, pair_nlp) == [
        ("one text [SEP] another", {"score": 2.5}),
        ("same [SEP] same", {"score": 5.0}),
    ]


def test_rows_without_text_are_warned_about(nlp, pair_nlp, write):
    path = write("x.tsv", "text\tlabel\na\tx\n\tx\n \u3000\ty\n")
    expected = r"2 of 3 rows have no text in column 'text': Line 3 of .*x\.tsv' is the"
    with pytest.warns(UserWarning, match=expected):
        examples = read(table_corpus(path), nlp)
    assert [text for text, _ in examples] == ["a", "", " \u3000"]
    path = write("y.tsv", "a\tb\tlabel\nx\t\t1\ny\tz\t2\n")
    with pytest.warns(UserWarning, match="column 'b': Line 2 of .* is the first"):
        examples = list(table_corpus(path, text="a", text_pair="b")(pair_nlp))
    pairs = [split_pair(example.reference)[:2] for example in examples]
    assert pairs == [("x", ""), ("y", "z")]


def test_folders_of_spacys_files(nlp, tmp_path):
    for name, texts in {"a": "ab", "deep/c": "c"}.items():
        docs = [nlp.make_doc(text) for text in texts]
        for doc in docs:
            doc.cats = {"x": 1.0}
        path = tmp_path / f"{name}.spacy"
        path.parent.mkdir(exist_ok=True)
        DocBin(docs=docs).to_disk(path)
    (tmp_path / ".hidden").write_text("")
    assert read(table_corpus(tmp_path), nlp) == [(text, {"x": 1.0}) for text in "abc"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(SpanftError, match=r"is a folder without \.spacy files"):
        table_corpus(tmp_path / "empty")


class TestDatasets:
    """Local folders in the format of the hub's datasets."""

    @pytest.mark.parametrize(
        ("rows", "names", "expected"),
        [
            ([("a", 1)], datasets.ClassLabel(names=["bad", "good"]), [{"good": 1}]),
            (
                [("a", [0, 2]), ("b", [])],
                datasets.Sequence(datasets.ClassLabel(names=["x", "y", "z"])),
                [{"x": 1, "z": 1}, {"x": 0, "z": 0}],
            ),
            ([("a", 0), ("b", 2)], None, [{"0": 1, "2": 0}, {"0": 0, "2": 1}]),
        ],
        ids=["class label", "list of class labels", "numbers"],
    )
    def test_labels(self, nlp, save, rows, names, expected):
        data = [{"sentence": text, "label": label} for text, label in rows]
        name = save(data, **({"label": names} if names else {}))
        examples = read(dataset_corpus(name, text="sentence"), nlp)
        assert [cats for _, cats in examples] == expected

    def test_scores_of_pairs(self, pair_nlp, save):
        name = save([{"a": "x", "b": "y", "label": 3.0}])
        corpus = dataset_corpus(name, text="a", text_pair="b", score="label")
        assert read(corpus, pair_nlp) == [("x [SEP] y", {"score": 3.0})]

    def test_secret_labels(self, nlp, save):
        names = datasets.ClassLabel(names=["x"])
        name = save([{"text": "a", "label": -1}], label=names)
        with pytest.raises(SpanftError, match=r"Row 0 of split 'train' .* no label"):
            read(dataset_corpus(name), nlp)
        assert read(dataset_corpus(name, label=None), nlp) == [("a", {})]

    def test_wrong_split(self, nlp, save):
        name = save([{"sentence": "a", "label": 1}])
        with pytest.raises(SpanftError, match="no split 'dev'"):
            read(dataset_corpus(name, split="dev"), nlp)


@pytest.mark.parametrize(
    ("name", "text", "settings", "expected"),
    [
        (
            "x.tsv",
            "a\tb\n1\t2\n",
            {},
            r"'text' in line 2 of .*x\.tsv'\. It has: 'a', 'b'",
        ),
        ("x.tsv", "text\tb\n1\t2\n", {"label": "gold"}, "no column 'gold'.* label = "),
        ("x.tsv", "text\tlabel\n1\t2\n", {"labels": {"1": "x"}}, "Line 2 .* label '2'"),
        ("x.tsv", "text\tlabel\n1\ta\n", {"score": "label"}, "not a finite number"),
        ("x.tsv", "text\tlabel\n1\ta\n", {"text": "label"}, "'label' is named twice"),
        ("x.tsv", "text\tlabel\na\tb\tc\n", {}, "Line 2 .* 3 cells, .* has 2 columns"),
        ("x.csv", "text,label\na,b,c\n", {}, 'must be quoted: "one, two".$'),
        ("x.tsv", "\ntext\tlabel\n", {}, "no rows in"),
        ("x.tsv", "", {}, "no rows in"),
        ("x.tsv", "text\ttext\na\tb\n", {}, "header of .* 'text' twice"),
        ("x.tsv", "text\tlabel\na\t \n", {}, "Line 2 .* no label: .* holds ' '"),
        ("x.csv", 'text,label\na,b\n"open\n', {}, "Line 3 .* never closed"),
        ("x.csv", 'text,label\n"open,b\n"c",d\n', {}, "Line 2 .* is not valid CSV"),
        ("x.jsonl", '{"text": "a"}\n{', {}, "Line 2 .* is not a JSON"),
        ("x.jsonl", "[1]\n", {}, r"it is \[1\]"),
        ("x.jsonl", '{"text": 3, "label": "x"}', {}, "has 3 .* not a text"),
        ("x.jsonl", '{"text": "a", "label": null}', {}, "has no label"),
        ("x.jsonl", '{"text": "a", "label": ["x", null]}', {}, "None for a label"),
        ("x.jsonl", '{"text": "a"}\n' + 100_000 * "[", {}, "Line 2 .* not a JSON"),
        (
            "x.jsonl",
            '{"text": "a", "label": 1}\n{"label": 1}',
            {},
            "in line 2 of",
        ),
        ("x.txt", "text\tlabel\n", {}, 'format = "tsv"'),
        ("x.csv", "text,label\na,b\n", {"format": "jsonl"}, "Line 1 .* not a JSON obj"),
    ],
)
def test_errors_name_the_row_and_the_value(nlp, write, name, text, settings, expected):
    with pytest.raises(SpanftError, match=expected):
        read(table_corpus(write(name, text), **settings), nlp)


def test_no_path_or_file(nlp):
    with pytest.raises(SpanftError, match=r"--paths\.train"):
        table_corpus(None)
    with pytest.raises(SpanftError, match="no file"):
        read(table_corpus("nowhere.tsv"), nlp)


def test_not_utf8(nlp, tmp_path):
    path = tmp_path / "x.tsv"
    path.write_bytes(b"text\tlabel\ncaf\xe9\tx\n")
    with pytest.raises(SpanftError, match="not valid UTF-8"):
        read(table_corpus(path), nlp)
    examples = read(table_corpus(path, errors="replace"), nlp)
    assert examples == [("caf\ufffd", {"x": 1.0})]


def test_a_text_that_is_too_long_for_the_pipeline(write):
    path = write("x.csv", TABLES["x.csv"] + 9 * "long " + ",1\n")
    nlp = spacy.blank("en")
    nlp.max_length = 44
    with pytest.raises(SpanftError, match=r"Line 5 .* 45 characters of text"):
        read(table_corpus(path), nlp)


@pytest.mark.parametrize("value", ["true", '"x"', "null", "NaN", 400 * "9"])
def test_no_number(nlp, write, value):
    path = write("x.jsonl", f'{{"text": "a", "points": {value}}}\n')
    with pytest.raises(SpanftError, match=r"Line 1 .* column 'points'"):
        read(table_corpus(path, score="points"), nlp)


def test_separators_that_cannot_be_told_apart(nlp, pair_nlp, write):
    with pytest.raises(SpanftError, match="without white space"):
        table_corpus("x.tsv", text_pair="b", separator="")
    path = write("x.tsv", "a\tb\tlabel\nx [SEP] y\tz\t1\n")
    corpus = table_corpus(path, text="a", text_pair="b")
    with pytest.raises(SpanftError, match=r"Line 2 .* contains the separator"):
        read(corpus, pair_nlp)
    corpus = table_corpus(write("y.tsv", PAIRS), text="a", text_pair="b")
    with pytest.raises(SpanftError, match=r"PairTokenizer\.v1"):
        read(corpus, nlp)
    pair_nlp.add_pipe("span_segmenter", config={"separator": "</s>"})
    with pytest.raises(SpanftError, match="'span_segmenter' has separator = '</s>"):
        read(corpus, pair_nlp)
