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
from spacy_spanft.training.readers.tables import columns_of, rows_from_file

ROWS = [
    {"sentence": 'He said "yes', "label": "1"},
    {"sentence": "It's, well, no", "label": "0"},
    {"sentence": "Perhaps", "label": "1"},
]
PAIRS = [
    {"a": "one text", "b": "another", "label": "2.5"},
    {"a": "same", "b": "same", "label": "5"},
]
PAIR_TOKENIZER = {"@tokenizers": "spacy-spanft.PairTokenizer.v1"}


@pytest.fixture(scope="module")
def pair_nlp():
    return spacy.blank("en", config={"nlp": {"tokenizer": PAIR_TOKENIZER}})


@pytest.fixture
def write(tmp_path):
    """Write rows, or a text, to a file in the format of its ending."""

    def write(name, rows):
        format = name.removesuffix(".gz").lower()
        if isinstance(rows, str):
            text = rows
        elif format.endswith(".jsonl"):
            text = "".join(json.dumps(row) + "\n" for row in rows)
        else:
            cells = [list(rows[0]), *(list(row.values()) for row in rows)]
            if format.endswith(".csv"):
                quoted = [[c.replace('"', '""') for c in row] for row in cells]
                lines = [",".join(f'"{c}"' for c in row) for row in quoted]
            else:
                lines = ["\t".join(row) for row in cells]
            text = "\n".join(lines) + "\n"
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


@pytest.mark.parametrize("name", ["x.tsv", "x.csv", "x.jsonl", "x.tsv.gz", "X.TSV"])
def test_formats(nlp, write, name):
    examples = list(table_corpus(write(name, ROWS), text="sentence")(nlp))
    assert [eg.reference.text for eg in examples] == [r["sentence"] for r in ROWS]
    assert [eg.reference.cats["1"] for eg in examples] == [1.0, 0.0, 1.0]
    assert all(set(eg.reference.cats) == {"0", "1"} for eg in examples)
    # What is to be predicted does not know the answer.
    assert not any(eg.predicted.cats for eg in examples)


def test_strings_stay_strings(nlp, write):
    path = write("x.csv", "text,label\nNA,001\n1.0,NA\nnull,1e3\n")
    examples = read(table_corpus(path), nlp)
    assert [text for text, _ in examples] == ["NA", "1.0", "null"]
    assert list(examples[0][1]) == ["001", "1e3", "NA"]


def test_line_ends_byte_order_mark_and_empty_lines(nlp, write):
    for end in ("\r\n", "\n", "\r"):
        path = write("x.tsv", "\ufefftext\tlabel\na b\tx\n\nc\ty\n".replace("\n", end))
        assert read(table_corpus(path), nlp) == [
            ("a b", {"x": 1.0, "y": 0.0}),
            ("c", {"x": 0.0, "y": 1.0}),
        ]


def test_cells_of_csv_may_hold_lines_and_be_long(nlp, write):
    long = "long " * 40_000
    path = write("x.csv", f'text,label\n"two\nlines",a\n"{long}",b\nc,b\n')
    assert [text for text, _ in read(table_corpus(path), nlp)][:2] == [
        "two\nlines",
        long,
    ]
    assert [row.place for row in rows_from_file(path)] == ["Line 2", "Line 4", "Line 5"]


def test_a_table_without_header(nlp, write):
    path = write("cola.tsv", "gj04\t1\t\tA text.\nr-67\t0\t*\tText a.\n")
    corpus = table_corpus(path, header=["source", "label", "star", "text"])
    assert read(corpus, nlp)[1] == ("Text a.", {"0": 1.0, "1": 0.0})


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


def test_labels_are_renamed_and_ordered(nlp, write):
    path = write("x.tsv", ROWS)
    labels = {"1": "good", "0": "bad"}
    examples = read(table_corpus(path, text="sentence", labels=labels), nlp)
    assert [list(cats) for _, cats in examples] == [["good", "bad"]] * 3
    assert examples[1][1] == {"good": 0.0, "bad": 1.0}


def test_several_labels(nlp, write):
    rows = [{"text": "a", "label": ["x", "y"]}, {"text": "b", "label": []}]
    examples = read(table_corpus(write("x.jsonl", rows)), nlp)
    assert [cats for _, cats in examples] == [{"x": 1, "y": 1}, {"x": 0, "y": 0}]


def test_texts_alone(nlp, write):
    corpus = table_corpus(write("x.tsv", ROWS), text="sentence", label=None, limit=2)
    assert read(corpus, nlp) == [(row["sentence"], {}) for row in ROWS[:2]]


def test_pairs_and_scores_through_the_registry(pair_nlp, write):
    config = {"@readers": "spacy-spanft.TableCorpus.v1", "text": "a", "text_pair": "b"}
    config |= {"path": str(write("x.tsv", PAIRS)), "score": "label"}
    corpus = spacy.registry.resolve({"train": config})["train"]
    assert read(corpus, pair_nlp) == [
        ("one text [SEP] another", {"score": 2.5}),
        ("same [SEP] same", {"score": 5.0}),
    ]


def test_incomplete_rows_are_skipped(nlp, write):
    path = write("x.tsv", "text\tlabel\na\tx\nonly one\nb\t\nc\t-\nd\ty\te\nf\ty\n")
    assert read(table_corpus(path, incomplete="skip", limit=2), nlp) == [
        ("a", {"x": 1.0, "y": 0.0}),
        ("f", {"x": 0.0, "y": 1.0}),
    ]
    path = write("x.jsonl", [{"text": "a", "n": None}, {"text": "b", "n": 2}])
    scores = read(table_corpus(path, score="n", incomplete="skip"), nlp)
    assert scores == [("b", {"score": 2.0})]


def test_rows_without_text_are_warned_about(nlp, pair_nlp, write):
    path = write("x.tsv", "text\tlabel\na\tx\n\tx\n \u3000\ty\n")
    expected = r"2 of 3 rows of .*x\.tsv' have no text in column 'text', .* is line 3"
    with pytest.warns(UserWarning, match=expected):
        examples = read(table_corpus(path), nlp)
    assert [text for text, _ in examples] == ["a", "", " \u3000"]
    rows = [{"a": "x", "b": "", "label": "1"}, {"a": "y", "b": "z", "label": "2"}]
    with pytest.warns(UserWarning, match="column 'b', the first is line 2"):
        examples = list(
            table_corpus(write("y.tsv", rows), text="a", text_pair="b")(pair_nlp)
        )
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

    def test_class_labels_are_named(self, nlp, save):
        names = datasets.ClassLabel(names=["unacceptable", "acceptable"])
        name = save([{"sentence": "a", "label": 1, "idx": 0}], label=names)
        corpus = dataset_corpus(name, text="sentence")
        assert read(corpus, nlp) == [("a", {"acceptable": 1.0})]

    def test_lists_of_class_labels_are_named(self, nlp, save):
        names = datasets.Sequence(datasets.ClassLabel(names=["x", "y", "z"]))
        rows = [{"text": "a", "label": [0, 2]}, {"text": "b", "label": []}]
        examples = read(dataset_corpus(save(rows, label=names)), nlp)
        assert [cats for _, cats in examples] == [{"x": 1, "z": 1}, {"x": 0, "z": 0}]

    def test_plain_numbers(self, nlp, save):
        rows = [{"text": "x", "label": i} for i in (0, 2)]
        assert read(dataset_corpus(save(rows)), nlp)[1] == ("x", {"0": 0.0, "2": 1.0})

    def test_scores_of_pairs(self, pair_nlp, save):
        name = save([{"a": "x", "b": "y", "label": 3.0}])
        corpus = dataset_corpus(name, text="a", text_pair="b", score="label")
        assert read(corpus, pair_nlp) == [("x [SEP] y", {"score": 3.0})]

    def test_secret_labels(self, nlp, save):
        names = datasets.ClassLabel(names=["x"])
        name = save([{"text": "a", "label": -1}], label=names)
        with pytest.raises(SpanftError, match=r"Row 0 .* has no label"):
            read(dataset_corpus(name), nlp)
        assert read(dataset_corpus(name, label=None), nlp) == [("a", {})]

    def test_wrong_column_and_split(self, nlp, save):
        name = save([{"sentence": "a", "label": 1}])
        with pytest.raises(SpanftError, match="It has: 'sentence', 'label'"):
            read(dataset_corpus(name), nlp)
        with pytest.raises(SpanftError, match="no split 'dev'"):
            read(dataset_corpus(name, split="dev"), nlp)


class TestErrors:
    """Each names the row and the value."""

    @pytest.mark.parametrize(
        ("settings", "expected"),
        [
            ({}, r"no column 'text' in line 2 of .*x\.tsv'\. It has: 'sentence'"),
            ({"text": "sentence", "label": "gold"}, "no column 'gold' in .* label = "),
            ({"text": "sentence", "labels": {"1": "x"}}, "Line 3 .* label '0', but"),
            ({"text": "label", "score": "sentence"}, "Line 2 .* not a finite number"),
            ({"score": "label", "labels": {"1": "x"}}, "Remove one of them"),
            ({"text": "label"}, "column 'label' is named twice"),
            ({"text": "sentence", "format": "jsonl"}, "Line 1 .* is not a JSON object"),
        ],
    )
    def test_settings(self, nlp, write, settings, expected):
        path = write("x.tsv", ROWS)
        with pytest.raises(SpanftError, match=expected):
            read(table_corpus(path, **settings), nlp)

    @pytest.mark.parametrize(
        ("name", "text", "expected"),
        [
            ("x.tsv", "text\tlabel\na\tb\tc\n", "Line 2 .* 3 cells, .* has 2 columns"),
            ("x.csv", "text,label\na,b,c\n", 'must be quoted: "one, two".$'),
            ("x.tsv", "\ntext\tlabel\n", "no rows in"),
            ("x.tsv", "", "no rows in"),
            ("x.tsv", "text\ttext\na\tb\n", "header of .* 'text' twice"),
            ("x.tsv", "text\tlabel\na\t \n", "Line 2 .* has no label: .* holds ' '"),
            ("x.csv", 'text,label\na,b\n"open\n', "Line 3 .* never closed"),
            ("x.csv", 'text,label\n"open,b\n"c",d\n', "Line 2 .* is not valid CSV"),
            ("x.jsonl", '{"text": "a"}\n{', "Line 2 .* is not a JSON"),
            ("x.jsonl", "[1]\n", r"it is \[1\]"),
            ("x.jsonl", '{"text": 3, "label": "x"}', "has 3 .* not a text"),
            ("x.jsonl", '{"text": "a", "label": null}', "has no label"),
            ("x.jsonl", '{"text": "a", "label": ["x", null]}', "None for a label"),
            ("x.jsonl", '{"text": "a"}\n' + 100_000 * "[", "Line 2 .* not a JSON"),
            ("x.jsonl", '{"text": "a", "label": 1}\n{"label": 1}', "in line 2 of"),
            ("x.txt", "text\tlabel\n", 'format = "tsv"'),
        ],
    )
    def test_files(self, nlp, write, name, text, expected):
        with pytest.raises(SpanftError, match=expected):
            read(table_corpus(write(name, text)), nlp)

    def test_no_path_or_file(self, nlp):
        with pytest.raises(SpanftError, match=r"--paths\.train"):
            table_corpus(None)
        with pytest.raises(SpanftError, match="no file"):
            read(table_corpus("nowhere.tsv"), nlp)

    def test_not_utf8(self, nlp, tmp_path):
        path = tmp_path / "x.tsv"
        path.write_bytes(b"text\tlabel\ncaf\xe9\tx\n")
        with pytest.raises(SpanftError, match="not valid UTF-8"):
            read(table_corpus(path), nlp)
        examples = read(table_corpus(path, errors="replace"), nlp)
        assert examples == [("caf\ufffd", {"x": 1.0})]

    def test_a_text_that_is_too_long_for_the_pipeline(self, write):
        path = write("x.csv", [*ROWS, {"sentence": 9 * "long ", "label": ""}])
        nlp = spacy.blank("en")
        nlp.max_length = 44
        with pytest.raises(SpanftError, match=r"Line 5 .* 45 characters of text"):
            read(table_corpus(path, text="sentence", label=None), nlp)

    @pytest.mark.parametrize(
        ("cells", "settings"),
        [
            ({"text": "a", "label": 10**6 * "x"}, {"labels": {"a": "b"}}),
            ({"text": 2_000_000 * ["x"], "label": "a"}, {}),
            ({str(i): "a" for i in range(20_000)}, {}),
            ({"text": "a", "b": 10**6 * "x"}, {"score": "b"}),
            ({"text": "a"}, {"text": 10**6 * "x"}),
        ],
    )
    def test_messages_are_short(self, nlp, write, cells, settings):
        with pytest.raises(SpanftError, match=r"[Ll]ine 1") as caught:
            read(table_corpus(write("x.jsonl", [cells]), **settings), nlp)
        assert len(str(caught.value)) < 1000

    @pytest.mark.parametrize("value", ["true", '"x"', "null", "NaN", 400 * "9"])
    def test_no_number(self, nlp, write, value):
        path = write("x.jsonl", f'{{"text": "a", "points": {value}}}\n')
        with pytest.raises(SpanftError, match=r"Line 1 .* column 'points'"):
            read(table_corpus(path, score="points"), nlp)

    def test_a_component_with_another_separator(self, write):
        nlp = spacy.blank("en", config={"nlp": {"tokenizer": PAIR_TOKENIZER}})
        nlp.add_pipe("span_segmenter", config={"separator": "</s>"})
        corpus = table_corpus(write("x.tsv", PAIRS), text="a", text_pair="b")
        with pytest.raises(SpanftError, match="'span_segmenter' has separator = '</s>"):
            read(corpus, nlp)

    def test_separators_that_cannot_be_told_apart(self, nlp, pair_nlp, write):
        with pytest.raises(SpanftError, match="without white space"):
            table_corpus("x.tsv", text_pair="b", separator="")
        rows = [{"a": "x [SEP] y", "b": "z", "label": "1"}]
        corpus = table_corpus(write("x.tsv", rows), text="a", text_pair="b")
        with pytest.raises(SpanftError, match=r"Line 2 .* contains the separator"):
            read(corpus, pair_nlp)
        corpus = table_corpus(write("y.tsv", PAIRS), text="a", text_pair="b")
        with pytest.raises(SpanftError, match=r"Line 2 of [\s\S]*PairTokenizer\.v1"):
            read(corpus, nlp)
