"""Corpora from tables and datasets, their errors, scorers and scores."""

import gzip
import json

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import DocBin
from spacy.training import Example
from thinc.api import ConfigValidationError

from spacy_spanft.errors import CorpusError, PairError, ReaderError, SpanftError
from spacy_spanft.ml.pairs import split_pair
from spacy_spanft.pipeline.scorers import (
    classification_scores,
    make_classification_scorer,
    make_regression_scorer,
    regression_scores,
)
from spacy_spanft.training.readers.tables import rows_from_file
from spacy_spanft.training.readers.textcat import dataset_corpus, table_corpus

ROWS = [
    {"sentence": 'He said "yes', "label": "1"},
    {"sentence": "It's, well, no", "label": "0"},
    {"sentence": "Perhaps", "label": "1"},
]
PAIRS = [
    {"a": "one text", "b": "another", "label": "2.5"},
    {"a": "same", "b": "same", "label": "5"},
]


@pytest.fixture(scope="module")
def pair_nlp():
    tokenizer = {"@tokenizers": "spacy-spanft.PairTokenizer.v1"}
    return spacy.blank("en", config={"nlp": {"tokenizer": tokenizer}})


def write(path, rows):
    """Write rows in the format of the file's ending."""
    name = path.name.removesuffix(".gz")
    if name.endswith(".jsonl"):
        lines = [json.dumps(row) for row in rows]
    elif name.endswith(".csv"):
        cells = [list(rows[0]), *(list(row.values()) for row in rows)]
        quoted = [[cell.replace('"', '""') for cell in row] for row in cells]
        lines = [",".join(f'"{cell}"' for cell in row) for row in quoted]
    else:
        lines = ["\t".join(row) for row in [rows[0], *(r.values() for r in rows)]]
    data = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def read(corpus, nlp):
    return [(eg.reference.text, eg.reference.cats) for eg in corpus(nlp)]


@pytest.mark.parametrize("name", ["x.tsv", "x.csv", "x.jsonl", "x.tsv.gz", "X.TSV"])
def test_formats(nlp, tmp_path, name):
    path = write(tmp_path / name, ROWS)
    examples = list(table_corpus(path, text="sentence")(nlp))
    assert [eg.reference.text for eg in examples] == [r["sentence"] for r in ROWS]
    assert [eg.reference.cats["1"] for eg in examples] == [1.0, 0.0, 1.0]
    assert all(set(eg.reference.cats) == {"0", "1"} for eg in examples)
    # What is to be predicted does not know the answer.
    assert not any(eg.predicted.cats for eg in examples)
    assert [eg.predicted.text for eg in examples] == [r["sentence"] for r in ROWS]


def test_windows_line_ends_byte_order_mark_and_empty_lines(nlp, tmp_path):
    path = tmp_path / "x.tsv"
    path.write_bytes("\ufefftext\tlabel\r\na b\tx\r\n\r\nc\ty\r\n".encode())
    assert read(table_corpus(path), nlp) == [
        ("a b", {"x": 1.0, "y": 0.0}),
        ("c", {"x": 0.0, "y": 1.0}),
    ]


def test_cells_of_csv_may_hold_lines_and_be_long(nlp, tmp_path):
    path = tmp_path / "x.csv"
    long = "long " * 40_000
    path.write_text(f'text,label\n"two\nlines",a\n"{long}",b\n')
    texts = [text for text, _ in read(table_corpus(path), nlp)]
    assert texts == ["two\nlines", long]


def test_a_table_without_header(nlp, tmp_path):
    path = tmp_path / "cola.tsv"
    path.write_text("gj04\t1\t\tA text.\nr-67\t0\t*\tText a.\n")
    corpus = table_corpus(path, header=["source", "label", "star", "text"])
    assert read(corpus, nlp)[1] == ("Text a.", {"0": 1.0, "1": 0.0})


def test_labels_are_named(nlp, tmp_path):
    path = write(tmp_path / "x.tsv", ROWS)
    labels = {"1": "good", "0": "bad"}
    found = read(table_corpus(path, text="sentence", labels=labels), nlp)
    assert [list(cats) for _, cats in found] == [["good", "bad"]] * 3
    assert found[1][1] == {"good": 0.0, "bad": 1.0}


def test_several_labels(nlp, tmp_path):
    rows = [{"text": "a", "label": ["x", "y"]}, {"text": "b", "label": []}]
    found = read(table_corpus(write(tmp_path / "x.jsonl", rows)), nlp)
    assert [cats for _, cats in found] == [{"x": 1.0, "y": 1.0}, {"x": 0.0, "y": 0.0}]


def test_texts_alone(nlp, tmp_path):
    path = write(tmp_path / "x.tsv", ROWS)
    found = read(table_corpus(path, text="sentence", label=None, limit=2), nlp)
    assert found == [(row["sentence"], {}) for row in ROWS[:2]]


def test_pairs_and_scores(pair_nlp, tmp_path):
    path = write(tmp_path / "x.tsv", PAIRS)
    corpus = table_corpus(path, text="a", text_pair="b", score="label")
    assert read(corpus, pair_nlp) == [
        ("one text [SEP] another", {"score": 2.5}),
        ("same [SEP] same", {"score": 5.0}),
    ]


def test_through_the_registry(pair_nlp, tmp_path):
    path = write(tmp_path / "x.tsv", PAIRS)
    config = {
        "@readers": "spacy-spanft.TableCorpus.v1",
        "path": str(path),
        "text": "a",
        "text_pair": "b",
    }
    corpus = spacy.registry.resolve({"train": config})["train"]
    assert len(list(corpus(pair_nlp))) == 2


class TestDatasets:
    """Local folders of the format that the hub's datasets have."""

    def save(self, folder, rows, **features):
        import datasets

        dataset = datasets.Dataset.from_list(rows)
        for column, names in features.items():
            dataset = dataset.cast_column(column, datasets.ClassLabel(names=names))
        datasets.DatasetDict({"train": dataset}).save_to_disk(folder)
        return str(folder)

    def test_numbers_with_names(self, nlp, tmp_path):
        rows = [{"sentence": "a", "label": 1, "idx": 0}]
        names = ["unacceptable", "acceptable"]
        name = self.save(tmp_path / "cola", rows, label=names)
        found = read(dataset_corpus(name, text="sentence"), nlp)
        assert found == [("a", {"acceptable": 1.0})]
        labels = {"acceptable": "yes", "unacceptable": "no"}
        found = read(dataset_corpus(name, text="sentence", labels=labels), nlp)
        assert found == [("a", {"yes": 1.0, "no": 0.0})]

    def test_scores(self, pair_nlp, tmp_path):
        rows = [{"a": "x", "b": "y", "label": 3.0}]
        corpus = dataset_corpus(
            self.save(tmp_path / "stsb", rows), text="a", text_pair="b", score="label"
        )
        assert read(corpus, pair_nlp) == [("x [SEP] y", {"score": 3.0})]

    def test_lists_of_numbers_with_names(self, nlp, tmp_path):
        import datasets

        names = datasets.ClassLabel(names=["x", "y", "z"])
        features = datasets.Features(
            {"text": datasets.Value("string"), "label": datasets.Sequence(names)}
        )
        rows = [{"text": "a", "label": [0, 2]}, {"text": "b", "label": []}]
        dataset = datasets.Dataset.from_list(rows, features=features)
        dataset.save_to_disk(tmp_path / "several")
        found = read(dataset_corpus(str(tmp_path / "several")), nlp)
        assert [cats for _, cats in found] == [{"x": 1, "z": 1}, {"x": 0, "z": 0}]

    def test_plain_numbers(self, nlp, tmp_path):
        rows = [{"text": "x", "label": i} for i in (0, 2)]
        found = read(dataset_corpus(self.save(tmp_path / "plain", rows)), nlp)
        assert found[1] == ("x", {"0": 0.0, "2": 1.0})

    def test_secret_labels(self, nlp, tmp_path):
        name = self.save(tmp_path / "test", [{"text": "a", "label": -1}], label=["x"])
        with pytest.raises(ReaderError, match=r"Row 0 .* has no label"):
            read(dataset_corpus(name), nlp)
        assert read(dataset_corpus(name, label=None), nlp) == [("a", {})]

    def test_wrong_column_and_split(self, nlp, tmp_path):
        name = self.save(tmp_path / "cola", [{"sentence": "a", "label": 1}])
        with pytest.raises(ReaderError, match="It has: 'sentence', 'label'"):
            read(dataset_corpus(name), nlp)
        with pytest.raises(CorpusError, match="no split 'dev'"):
            read(dataset_corpus(name, split="dev"), nlp)


class TestBlankTexts:
    """Rows without text are read, and never silently."""

    def test_single(self, nlp, tmp_path):
        rows = [("a", "x"), ("", "x"), (" \u3000", "y")]
        rows = [dict(zip(("text", "label"), row, strict=True)) for row in rows]
        path = write(tmp_path / "x.tsv", rows)
        expected = (
            r"2 of 3 rows of .*x\.tsv' have no text in column 'text', .* is line 3"
        )
        with pytest.warns(UserWarning, match=expected):
            found = read(table_corpus(path), nlp)
        assert [text for text, _ in found] == ["a", "", " \u3000"]

    def test_of_a_pair(self, pair_nlp, tmp_path):
        rows = [{"a": "x", "b": "", "label": "1"}, {"a": "", "b": "y", "label": "2"}]
        path = write(tmp_path / "x.tsv", rows)
        with pytest.warns(UserWarning, match="have no text in column") as caught:
            examples = list(table_corpus(path, text="a", text_pair="b")(pair_nlp))
        assert "column 'a', the first is line 3" in str(caught[0].message)
        assert "column 'b', the first is line 2" in str(caught[1].message)
        pairs = [split_pair(example.reference)[:2] for example in examples]
        assert pairs == [("x", ""), ("", "y")]

    def test_in_all_rows(self, nlp, pair_nlp, tmp_path):
        rows = [{"a": "", "b": " ", "label": "x"}] * 2
        path = write(tmp_path / "x.tsv", rows)
        expected = (
            r"^\[SF\d+\] No row of .*x\.tsv' has text in column 'a' \(2 read\)\. "
        )
        with pytest.raises(ReaderError, match=expected):
            read(table_corpus(path, text="a"), nlp)
        with pytest.raises(ReaderError, match=r"in column 'a', 'b' \("):
            read(table_corpus(path, text="a", text_pair="b"), pair_nlp)


class TestFolders:
    def save(self, path, nlp, *texts):
        docs = [nlp.make_doc(text) for text in texts]
        for doc in docs:
            doc.cats = {"x": 1.0}
        path.parent.mkdir(parents=True, exist_ok=True)
        DocBin(docs=docs).to_disk(path)

    def test_of_spacys_files_are_read(self, nlp, tmp_path):
        self.save(tmp_path / "a.spacy", nlp, "a", "b")
        self.save(tmp_path / "deep" / "c.spacy", nlp, "c")
        (tmp_path / ".hidden").write_text("")
        found = read(table_corpus(tmp_path), nlp)
        assert found == [(text, {"x": 1.0}) for text in "abc"]

    def test_of_others_are_refused(self, nlp, tmp_path):
        with pytest.raises(ReaderError, match=r"is a folder, .* Files in it: none"):
            table_corpus(tmp_path)
        self.save(tmp_path / "a.spacy", nlp, "a")
        (tmp_path / "b.tsv").write_text("text\tlabel\n")
        with pytest.raises(ReaderError, match=r"Files in it: 'a\.spacy', 'b\.tsv'"):
            table_corpus(tmp_path)


@pytest.mark.parametrize("name", ["x.tsv", "x.csv", "x.jsonl"])
@pytest.mark.parametrize("is_closed", [True, False])
def test_carriage_returns_alone_end_lines(nlp, tmp_path, name, is_closed):
    path = write(tmp_path / name, ROWS)
    data = path.read_bytes().replace(b"\n", b"\r")
    path.write_bytes(data if is_closed else data.rstrip(b"\r"))
    found = read(table_corpus(path, text="sentence"), nlp)
    assert [text for text, _ in found] == [row["sentence"] for row in ROWS]
    assert all(list(cats) == ["0", "1"] for _, cats in found)


class TestErrors:
    """Each says where, what, and what to do."""

    @pytest.mark.parametrize(
        ("settings", "expected"),
        [
            (
                {},
                r"no column 'text' in line 2 of .*x\.tsv'\. It has: 'se",
            ),
            ({"text": "sentence", "label": "gold"}, "no column 'gold' in .* label = "),
            (
                {"text": "sentence", "text_pair": "other"},
                "no column 'other' in .* text_pair = ",
            ),
            ({"text": "sentence", "labels": {"1": "x"}}, "Line 3 .* label '0', but"),
            (
                {"text": "sentence", "score": "points"},
                "no column 'points' in .* score = ",
            ),
            ({"text": "label", "score": "sentence"}, "Line 2 .* or remove the row"),
            (
                {"text": "sentence", "score": "label", "labels": {"1": "x"}},
                "leave one of them out",
            ),
            ({"text": "sentence", "format": "jsonl"}, "Line 1 .* is not a JSON object"),
        ],
    )
    def test_settings(self, nlp, tmp_path, settings, expected):
        path = write(tmp_path / "x.tsv", ROWS)
        with pytest.raises(ReaderError, match=expected):
            read(table_corpus(path, **settings), nlp)

    @pytest.mark.parametrize(
        ("name", "text", "expected"),
        [
            (
                "x.tsv",
                "text\tlabel\na\tb\tc\n",
                "Line 2 .* has 3 cells, but the table has 2",
            ),
            ("x.tsv", "text\tlabel\na\tb\tc\n", "'text', 'label'.$"),
            (
                "x.csv",
                "text,label\na,b,c\n",
                'A cell with commas in it must stand in quotation marks: "one, two".$',
            ),
            ("x.csv", "text,label\na\n", "'text', 'label'.$"),
            (
                "x.tsv",
                "\ntext\tlabel\n",
                "no rows in .* except for line 2, .*: 'text', 'label'",
            ),
            ("x.csv", "text,label", r"except for line 1, .* header = \[\.\.\.\]"),
            ("x.tsv", "", "no rows"),
            ("x.tsv", "text\ttext\na\tb\n", "Line 1 of .* 'text' twice"),
            ("x.tsv", "text\tlabel\na\t \n", "Line 2 .* has no label: .* holds ' '"),
            ("x.csv", 'text,label\na,b\n"open\n', "Line 3 .* is never closed"),
            ("x.csv", 'text,label\n"open,b\n"c",d\n', "Line 2 .* is not valid CSV"),
            ("x.jsonl", '{"text": "a"}\n{', "Line 2 .* is not a JSON"),
            ("x.jsonl", "[1]\n", "it is a list"),
            ("x.jsonl", '{"text": null, "label": "x"}', "has None in column 'text'"),
            ("x.jsonl", '{"text": 3, "label": "x"}', "not a text"),
            ("x.jsonl", '{"text": "a", "label": null}', "has no label"),
            ("x.jsonl", '{"text": "a", "label": ["x", null]}', "None for a label"),
            ("x.jsonl", '{"text": "a", "label": {"x": 1}}', "for a label"),
            ("x.jsonl", '{"text": "a\\ud800", "label": "x"}', "half a character"),
            (
                "x.jsonl",
                '{"text": "a", "label": "x\\ud800"}',
                r"label 'x\\ud800', which",
            ),
            ("x.jsonl", '{"text": "a", "label": [" "]}', "has ' ' for a label"),
            ("x.jsonl", '{"text": "a", "text": "b"}', "has the key 'text' twice"),
            ("x.jsonl", '{"text": "a"}\n' + 100_000 * "[", "Line 2 .* brackets"),
            (
                "x.jsonl",
                '{"text": "a", "label": 1}\n{"label": 1}',
                r"in line 2 of .*x\.jsonl'\. It has: 'label'",
            ),
            ("x.txt", "text\tlabel\n", 'format = "tsv"'),
        ],
    )
    def test_files(self, nlp, tmp_path, name, text, expected):
        path = tmp_path / name
        path.write_text(text)
        with pytest.raises(ReaderError, match=expected):
            read(table_corpus(path), nlp)

    def test_no_path(self):
        with pytest.raises(ReaderError, match=r"--paths\.train"):
            table_corpus(None)

    def test_no_file(self, nlp):
        with pytest.raises(CorpusError, match="no file"):
            read(table_corpus("nowhere.tsv"), nlp)

    def test_not_utf8(self, nlp, tmp_path):
        path = tmp_path / "x.tsv"
        path.write_bytes(b"text\tlabel\ncaf\xe9\tx\n")
        with pytest.raises(CorpusError, match="not valid UTF-8"):
            read(table_corpus(path), nlp)
        found = read(table_corpus(path, errors="replace"), nlp)
        assert found == [("caf\ufffd", {"x": 1.0})]

    def test_bytes_that_are_no_text_are_found_by_their_line(self, nlp, tmp_path):
        for name, byte in (("NUL byte", b"\0"), ("not valid UTF-8", b"\xe9")):
            (tmp_path / "x.csv").write_bytes(b"text,label\na,x\ncaf" + byte + b",x\n")
            with pytest.raises(CorpusError, match=rf"{name} at byte 18 \(line 3"):
                read(table_corpus(tmp_path / "x.csv"), nlp)

    def test_a_text_that_the_pipeline_takes_for_too_long(self, tmp_path):
        path = write(
            tmp_path / "x.csv", [*ROWS, {"sentence": 9 * "long ", "label": ""}]
        )
        nlp = spacy.blank("en")
        nlp.max_length = 44
        expected = r"Line 5 .* 45 characters of text, .* takes 44 "
        with pytest.raises(ReaderError, match=expected):
            read(table_corpus(path, text="sentence", label=None), nlp)

    @pytest.mark.parametrize(
        ("text", "settings"),
        [
            (
                json.dumps({"text": "a", "label": 5_000_000 * "x"}),
                {"labels": {"a": "b"}},
            ),
            (json.dumps({"text": 2_000_000 * ["x"], "label": "a"}), {}),
            (json.dumps({"text": [json.loads(400 * "[" + 400 * "]")]}), {}),
            (json.dumps({str(i): "a" for i in range(20_000)}), {}),
            (json.dumps({"text": "a", "b": 10**6 * "x"}), {"score": "b"}),
            (
                json.dumps({"text": "a [SEP]" + 10**6 * "x", "b": "c"}),
                {"text_pair": "b"},
            ),
            (json.dumps({"text": "a"}), {"text": 10**6 * "x"}),
        ],
    )
    def test_messages_are_short(self, nlp, tmp_path, text, settings):
        (tmp_path / "x.jsonl").write_text(text)
        with pytest.raises(ReaderError) as caught:
            read(table_corpus(tmp_path / "x.jsonl", **settings), nlp)
        assert len(str(caught.value)) < 1000
        assert "Line 1" in str(caught.value) or "line 1" in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_twenty_thousand_columns(self, nlp, tmp_path):
        header = "\t".join(map(str, range(20_000)))
        (tmp_path / "x.tsv").write_text(f"{header}\na\tb\n")
        with pytest.raises(ReaderError, match="'9' and 19,990 more") as caught:
            read(table_corpus(tmp_path / "x.tsv"), nlp)
        assert "has 2 cells, but the table has 20,000 columns: '0', '1', " in str(
            caught.value
        )

    def test_unknown_format(self, tmp_path):
        with pytest.raises(SpanftError, match='is \'xls\', but must be "csv" or "jso'):
            table_corpus(tmp_path / "x.xls", format="xls")
        config = {
            "@readers": "spacy-spanft.TableCorpus.v1",
            "path": "x",
            "format": "xls",
        }
        with pytest.raises(ConfigValidationError, match="format"):
            spacy.registry.resolve({"train": config})

    @pytest.mark.parametrize("name", ["", "x\ud800", 3])
    def test_names_of_labels_that_cannot_be(self, name):
        with pytest.raises(
            SpanftError, match=r"labels is .*, but must be a table of n"
        ):
            table_corpus("x.tsv", labels={"0": "x", "1": name})

    @pytest.mark.parametrize(
        "value", ["true", '"x"', "null", "NaN", '"1_0"', 400 * "9"]
    )
    def test_no_number(self, nlp, tmp_path, value):
        path = tmp_path / "x.jsonl"
        path.write_text(f'{{"text": "a", "points": {value}}}\n')
        with pytest.raises(ReaderError, match=r"Line 1 .* column 'points'"):
            read(table_corpus(path, score="points"), nlp)

    def test_a_component_with_another_separator(self, pair_nlp, tmp_path):
        path = write(tmp_path / "x.tsv", PAIRS)
        nlp = spacy.blank(
            "en", config={"nlp": {"tokenizer": pair_nlp.config["nlp"]["tokenizer"]}}
        )
        nlp.add_pipe("span_segmenter", config={"separator": "</s>"})
        with pytest.raises(PairError, match="'span_segmenter' has separator = '</s>'"):
            read(table_corpus(path, text="a", text_pair="b"), nlp)

    def test_no_separator(self, tmp_path):
        with pytest.raises(PairError, match="without white space"):
            table_corpus("x.tsv", text_pair="b", separator="")

    def test_separator_in_the_first_text(self, pair_nlp, tmp_path):
        rows = [{"a": "x [SEP] y", "b": "z", "label": "1"}]
        path = write(tmp_path / "x.tsv", rows)
        with pytest.raises(ReaderError, match=r"Line 2 .* holds the separator"):
            read(table_corpus(path, text="a", text_pair="b"), pair_nlp)

    def test_tokenizer_without_separator(self, nlp, tmp_path):
        path = write(tmp_path / "x.tsv", PAIRS)
        with pytest.raises(PairError, match=r"Line 2 of [\s\S]*PairTokenizer\.v1"):
            read(table_corpus(path, text="a", text_pair="b"), nlp)


class TestScorers:
    """Against the formulas."""

    labels = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30)

    @given(pairs=labels)
    def test_classification(self, pairs):
        gold, guess = ([str(int(x)) for x in side] for side in zip(*pairs, strict=True))
        tp, tn, fp, fn = (
            sum(pair == kind for pair in pairs)
            for kind in ((1, 1), (0, 0), (0, 1), (1, 0))
        )
        scores = classification_scores(gold, guess, "1")
        assert scores["cats_accuracy"] == pytest.approx((tp + tn) / len(pairs))
        f1 = 2 * tp / (2 * tp + fp + fn) if tp else 0.0
        assert scores["cats_f1"] == pytest.approx(f1)
        product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
        matthews = (tp * tn - fp * fn) / product**0.5 if product else 0.0
        assert scores["cats_matthews"] == pytest.approx(matthews)

    def examples(self, nlp, golds, guesses):
        found = []
        for gold, guess in zip(golds, guesses, strict=True):
            example = Example(nlp.make_doc("a"), nlp.make_doc("a"))
            example.reference.cats, example.predicted.cats = gold, guess
            found.append(example)
        return found

    def test_the_classification_scorer_adds_to_spacys_own(self, nlp):
        examples = self.examples(
            nlp,
            [{"a": 1.0, "b": 0.0}, {"a": 0.0, "b": 1.0}, {}],
            [{"a": 0.9, "b": 0.1}, {"a": 0.8, "b": 0.2}, {"a": 0.5, "b": 0.5}],
        )
        scorer = make_classification_scorer("a")
        scores = scorer(iter(examples), labels=("a", "b"), threshold=0.0)
        assert scores["cats_accuracy"] == 0.5
        assert scores["cats_f1"] == pytest.approx(2 / 3)
        assert scores["cats_score_desc"] == "F (a)"
        assert "cats_f1" not in make_classification_scorer()(
            examples, labels=["a", "b"]
        )
        with pytest.raises(SpanftError, match="the labels are: 'b', 'c'"):
            scorer(examples, labels=("b", "c"))
        nothing = scorer([], labels=("a", "b"))
        assert nothing["cats_accuracy"] is None

    def test_regression(self, nlp):
        random = np.random.default_rng(0)
        gold, guess = random.random(20), random.random(20)
        scores = regression_scores(list(gold), list(guess))
        assert scores["cats_pearson"] == pytest.approx(np.corrcoef(gold, guess)[0, 1])
        ranks = [np.argsort(np.argsort(side)) for side in (gold, guess)]
        assert scores["cats_spearman"] == pytest.approx(np.corrcoef(*ranks)[0, 1])
        examples = self.examples(
            nlp, [{"score": g} for g in gold], [{"score": g} for g in guess]
        )
        assert make_regression_scorer()(examples) == pytest.approx(scores)
        assert make_regression_scorer()(examples[:1]) == {
            "cats_pearson": None,
            "cats_spearman": None,
        }

    def test_the_same_all_over(self):
        scores = regression_scores([0.1, 0.2], [0.5, 0.5])
        assert scores == {"cats_pearson": 0.0, "cats_spearman": 0.0}
        assert np.isfinite(
            list(regression_scores([1, 2], [1, 1 + 1e-15]).values())
        ).all()


class TestRegressor:
    """Scores in their own range."""

    def make(self, **config):
        nlp = spacy.blank("en")
        nlp.add_pipe("text_regressor", config=config)
        return nlp

    def examples(self, nlp, scores):
        return [
            Example.from_dict(nlp.make_doc(text), {"cats": cats})
            for text, cats in scores.items()
        ]

    SCORES = {  # noqa: RUF012
        "very bad": {"score": -10.0},
        "bad": {"score": -5.0},
        "so so": {"score": 0.0},
        "good": {"score": 2.5},
        "very good": {"score": 10.0},
        "unknown": {},
    }

    def test_learns_saves_and_predicts_the_same(self, tmp_path):
        spacy.util.fix_random_seed(0)
        nlp = self.make(low=-10, high=10)
        examples = self.examples(nlp, self.SCORES)
        optimizer = nlp.initialize(lambda: examples)
        for _ in range(400):
            nlp.update(examples, sgd=optimizer)
        for text, cats in self.SCORES.items():
            assert -10 <= nlp(text).cats["score"] <= 10
            for score in cats.values():
                assert nlp(text).cats["score"] == pytest.approx(score, abs=1)
        found = nlp.evaluate(examples)
        assert found["cats_pearson"] > 0.99
        assert found["cats_spearman"] == pytest.approx(1.0)
        nlp.to_disk(tmp_path)
        again = spacy.load(tmp_path)
        assert again("good").cats == nlp("good").cats
        assert again.get_pipe("text_regressor").labels == ("score",)

    def test_gradient_is_taken_in_the_unit_range(self):
        nlp = self.make(low=1, high=5)
        component = nlp.get_pipe("text_regressor")
        cats = {"a": {"score": 1.0}, "b": {"score": 4.0}, "c": {}}
        examples = self.examples(nlp, cats)
        nlp.initialize(lambda: examples)
        guess = np.array([[0.25], [0.5], [0.5]], "f")
        _, gradient = component.get_loss(examples, guess)
        np.testing.assert_allclose(gradient, [[0.25], [-0.25], [0.0]])

    def test_out_of_range(self):
        nlp = self.make(low=0, high=5)
        examples = self.examples(nlp, {"a": {"score": 3.0}, "b": {"score": 5.5}})
        with pytest.raises(SpanftError, match=r"between low = 0.* found 5.5 at 'b'"):
            nlp.initialize(lambda: examples)

    def test_no_scores(self):
        nlp = self.make()
        examples = self.examples(nlp, {"a": {"points": 1.0}})
        with pytest.raises(SpanftError, match="there are: points"):
            nlp.initialize(lambda: examples)
        other = self.make(label="points")
        other.initialize(lambda: examples)
        assert set(other("a").cats) == {"points"}

    def test_exclusive_classes(self):
        model = {
            "@architectures": "spacy-spanft.ClsTextCat.v1",
            "tok2vec": {"@architectures": "spacy.HashEmbedCNN.v2", "width": 8},
            "exclusive_classes": True,
        }
        model["tok2vec"] |= {"pretrained_vectors": None, "depth": 1, "embed_size": 9}
        model["tok2vec"] |= {"window_size": 1, "maxout_pieces": 2}
        model["tok2vec"]["subword_features"] = True
        with pytest.raises(SpanftError, match="exclusive_classes = false"):
            self.make(model=model)

    @pytest.mark.parametrize(("low", "high"), [(5, 1), (1, 1)])
    def test_bad_range(self, low, high):
        with pytest.raises(SpanftError, match="below the second"):
            self.make(low=low, high=high)


def test_rows_know_their_place(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('text,label\n"a\nb",1\nc,2\n')
    assert [row.place for row in rows_from_file(path)] == ["Line 2", "Line 4"]
