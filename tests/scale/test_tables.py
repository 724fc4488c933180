"""One way to treat a table: the same rows in all commands, or one line of why not."""

import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
import spacy
from confection import Config
from pyarrow import parquet
from spacy.tokens import DocBin

from spacy_spanft import NgramDictionary
from spacy_spanft.configs import config_for_data
from spacy_spanft.configs.sources import table_columns
from spacy_spanft.errors import SpanftError
from spacy_spanft.experiments.task_data import read_examples
from spacy_spanft.util.columns import find_columns
from spacy_spanft.util.tables import read_table

from ..commands import run
from .conftest import texts, write

ROWS = [
    {"id": str(n), "question": text, "kind": ("good", "bad")[n % 2]}
    for n, text in enumerate(texts(8))
]
GUESS = "ℹ text: question"
SKIP = ("--incomplete", "skip")
BUILD = ("--min-count", 1, "--n-process", 1, "-q")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def labeled(labels, name="x.csv"):
    rows = [{"text": f"text {n}", "kind": label} for n, label in enumerate(labels)]
    return write(name, rows)


@pytest.mark.parametrize("name", ["t.parquet", "t.tsv", "t.jsonl"])
def test_all_formats_have_the_same_rows(name):
    assert [row.cells for row in read_table(write(name, ROWS))] == ROWS


def test_each_command_reads_the_same_rows_and_says_which(model):
    name = write("semicolons.csv", ROWS, delimiter=";")
    assert [row.cells for row in read_table(name)] == ROWS
    done = run("spanft", "init", "x.cfg", "--train", name, "--transformer", "x/y")
    assert f"{GUESS}, label: kind\n" in done.stderr
    assert "good: 4 (50%), bad: 4 (50%)" in done.stderr
    done = run("spanft", "convert", name, "x.spacy")
    assert done.stderr.startswith(f"{GUESS}, label: kind\n✔ x.spacy: 8 texts")
    done = run("spanft", "evaluate", model, name, "--output", "scores.json")
    assert done.stderr.startswith(f"{GUESS}, label: kind\n")
    scores = json.loads(Path("scores.json").read_text())
    assert scores["n_texts"] == 8
    assert {x: v["n"] for x, v in scores["labels"].items()} == {"good": 4, "bad": 4}
    done = run("spanft", "predict", model, name, "x.csv")
    assert done.stderr.startswith(f"{GUESS}\n")
    predicted = [row.cells for row in read_table("x.csv")]
    assert [row["question"] for row in predicted] == [row["question"] for row in ROWS]
    done = run("spanft", "segment", "--file", name, "--jsonl")
    assert done.stderr == f"{GUESS}\n"
    read = [json.loads(line)["text"] for line in done.stdout.splitlines()]
    assert read == [row["question"] for row in ROWS]
    run("spanft", "dictionary", "build", name, "-o", "x.tsv.gz", *BUILD)
    expected = dict(NgramDictionary.from_texts(read, min_count=1))
    assert dict(NgramDictionary.from_disk("x.tsv.gz")) == expected


def test_rows_are_skipped_and_bytes_replaced_in_each_command(model):
    rows = [*ROWS, {"id": "x", "question": "Caf\xe9", "kind": ""}]
    command = "evaluate", model, write("t.csv", rows, "latin-1")
    error = run("spanft", *command, ok=False).stderr
    assert "(line 10). If it is text, name its encoding (--encoding cp1252, la" in error
    command += "--errors", "replace"
    assert "--incomplete skip" in run("spanft", *command, ok=False).stderr
    done = run("spanft", *command, *SKIP)
    assert re.search(r"Texts +8\n", done.stdout)
    command = "init", "x.cfg", "--train", "t.csv", "--errors", "replace"
    done = run("spanft", *command, ok=False)
    assert "Line 10 of 't.csv' has no label" in done.stderr
    done = run("spanft", *command, *SKIP)
    assert "lack a text or a label, and are left out: 1 of 9" in done.stderr
    latin = ("--encoding", "latin-1")
    run("spanft", "convert", "t.csv", "t.spacy", *latin, *SKIP)
    run("spanft", "dictionary", "build", "t.csv", "-o", "x.tsv.gz", *BUILD, *latin)
    assert "new york" in NgramDictionary.from_disk("x.tsv.gz")
    (Path("t.conll")).write_text("a O\n")
    for args, expected in (
        (("evaluate", model, "t.spacy", *SKIP), "--incomplete cannot be used with"),
        (("evaluate", model, "t.conll"), "No text of 't.conll' is"),
        (("init", "y.cfg", "--train", "t.spacy", *SKIP), "with textcat, t.spacy"),
    ):
        assert expected in run("spanft", *args, ok=False).stderr


def test_a_table_without_a_header_is_refused_though_only_texts_are_read():
    rows = [{"A film": f"Film {i}", "good": ["good", "bad"][i % 2]} for i in range(4)]
    write("t.jsonl", rows)
    with pytest.raises(SpanftError, match="not a header but data: 'good'"):
        find_columns("t.jsonl")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([{"text": "a", "x": 0.5}, {"text": "b", "x": 1}], {"score": "x"}),
        ([{"sentence1": "a", "sentence2": "b", "y": 1}], {"text_pair": "sentence2"}),
        ([{"title": "One two", "body": "Of four"}], "'title', 'body'.*--text-pair"),
        ([{"text": "a", "x": n, "y": -n} for n in (1, 2, 1, 2)], "label: 'x', 'y'"),
        ([{"text": "a"}], "no column for the label, only texts"),
        ([{"One text": "Two texts", "good": "good"}], "not a header but data: 'good'"),
    ],
)
def test_columns_are_guessed_where_one_choice_is_sensible(rows, expected):
    write("t.jsonl", rows)
    if isinstance(expected, str):
        with pytest.raises(SpanftError, match=expected):
            find_columns("t.jsonl", answer="either")
    else:
        assert expected.items() <= find_columns("t.jsonl", answer="either").items()


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        ("text,label\nt,a\nu,b\n", {"text": "label", "label": "label"}, "must differ"),
        ('{"text": "\\ud800", "label": "a"}\n', {}, "surrogates not allowed"),
        ("text,score\nt,3\nu,3\n", {}, "has the same score"),
        ("text,label\nt,a\nu,a\n", {}, "Every text of 'x.csv' has the label 'a'"),
        ("label\na\nb\n", {}, "holds the text: 'label'"),
    ],
)
def test_tables_that_are_refused(content, columns, message):
    path = Path("x.jsonl" if content.startswith("{") else "x.csv")
    path.write_text(content)
    with pytest.raises(SpanftError, match=message):
        config_for_data(str(path), columns=columns)
    parquet.write_table(pa.table([["t"], ["u"]], names=["a", "a"]), "x.parquet")
    with pytest.raises(SpanftError, match=r"x\.parquet' has 'a' twice"):
        next(read_table("x.parquet"))


def test_a_column_without_a_name_is_neither_a_text_nor_twice_there():
    Path("x.csv").write_text(",text,kind,,\n0,One a,x,,\n1,One b,y,,\n2,One c,x,,\n")
    assert [*next(read_table("x.csv")).cells] == ["", "text", "kind"]
    Path("y.csv").write_text(",,text\n0,1,One a\n")
    with pytest.raises(SpanftError, match="has '' twice"):
        next(read_table("y.csv"))
    expected = {"text": "text", "label": "kind"}
    usual = {"text_pair": ""}  # of a pair, whose columns are not known
    assert find_columns("x.csv", usual=usual, answer="label") == expected


def test_no_two_rows_need_the_same_several_labels():
    several = ["a,b,c", "a,b,d", "a,c,d", "b,c,d", "a,b,e"]
    labeled(several)
    with pytest.raises(SpanftError, match=r'of its own.* add --label-separator ","'):
        config_for_data("x.csv")
    made = [config_for_data("x.csv", columns={"label_separator": ","})]
    made.append(config_for_data(labeled([x.split(",") for x in several], "x.jsonl")))
    for config in made:
        assert config.task == "textcat_multilabel"
        assert config.data["train"].labels["a"] == 4


def test_an_empty_cell_holds_none_of_several_labels():
    labeled(["a", "a,b", "b", ""])
    data = config_for_data("x.csv", columns={"label_separator": ","}).data["train"]
    assert (data.labels, len(data.n_words)) == ({"a": 2, "b": 2}, 4)
    with pytest.raises(SpanftError, match=r"Line 5 of .* has no label"):
        config_for_data("x.csv")


def test_a_file_with_columns_of_predictions_gets_a_prefix(model):
    write("t.csv", [{"text": "New York", "label": "x", "error": "y"}, {"text": "a"}])
    done = run("spanft", "predict", model, "t.csv", "o.csv")
    assert "new ones begin with predicted_" in done.stderr
    names = [*next(read_table("o.csv")).cells]
    assert names[:4] == ["text", "label", "error", "predicted_label"]
    assert names[-2:] == ["predicted_cats.bad", "predicted_cats.good"]


def test_columns_are_checked_before_a_pipeline_is_loaded(tmp_path, model):
    (tmp_path / "broken").mkdir()
    for name in ("meta.json", "config.cfg"):
        (tmp_path / "broken" / name).write_bytes((model / name).read_bytes())
    write("t.csv", [{"title": "One two", "body": "Three four", "label": "x"}])
    commands = ("predict", "broken", "t.csv", "o.csv"), ("evaluate", "broken", "t.csv")
    for args in (*commands, ("explain", "broken", "--file", "t.csv")):
        done = run("spanft", *args, ok=False)
        assert "Which column of 't.csv' holds the text: 'title', 'body'?" in done.stderr


def test_texts_that_are_empty_or_have_several_labels_are_counted(model):
    rows = [{"text": "a", "label": ["good", "bad"]}, {"text": "", "label": []}]
    write("t.jsonl", rows)
    done = run("spanft", "evaluate", model, "t.jsonl")
    assert "several labels, of which textcat predicts one: 1" in done.stderr
    done = run("spanft", "segment", "--file", "t.jsonl")
    assert "Empty texts of 't.jsonl', which are left out: 1" in done.stderr


def test_a_label_of_no_text_of_a_table_is_wrong_wherever_it_is_predicted():
    nlp = spacy.blank("en")
    textcat = nlp.add_pipe("textcat_multilabel")
    for label in "abc":
        textcat.add_label(label)
    write("t.jsonl", [{"text": "one", "label": ["a"]}, {"text": "two", "label": ["b"]}])
    (first, _) = read_examples(nlp, "t.jsonl")
    assert first.reference.cats == {"a": 1.0, "b": 0.0, "c": 0.0}
    write("t.jsonl", [{"text": "one", "label": []}, {"text": "two", "label": []}])
    (first, _) = read_examples(nlp, "t.jsonl")
    assert first.reference.cats == {"a": 0.0, "b": 0.0, "c": 0.0}
    doc = nlp.make_doc("one")
    doc.cats = {"a": 1.0, "c": 0.0}
    DocBin(docs=[doc]).to_disk("t.spacy")
    with pytest.warns(UserWarning, match=r"'t\.spacy' says nothing of .*: 'b'\."):
        (only,) = read_examples(nlp, "t.spacy")
    assert only.reference.cats == doc.cats


def test_columns_of_a_config_with_scores_are_those_that_it_reads():
    write("t.jsonl", [{"text": "one", "score": 1.5}])
    block = {"@readers": "spacy-spanft.TableCorpus.v1", "path": None, "text": "text"}
    corpora = {"dev": {**block, "label": "label", "score": "score"}}
    config = Config({"corpora": corpora, "components": {}})
    columns = table_columns(config)
    assert columns == {"text": "text", "score": "score"}
    (example,) = read_examples(spacy.blank("en"), "t.jsonl", config, columns=columns)
    assert example.reference.cats == {"score": 1.5}


def test_empty_texts_are_never_right(model):
    for label in ("good", "bad"):
        write("t.jsonl", [{"text": "", "label": label}, {"text": "a", "label": label}])
        done = run("spanft", "evaluate", model, "t.jsonl", "--output", "scores.json")
        assert "Empty texts of 't.jsonl', which have no prediction: 1" in done.stderr
        scores = json.loads(Path("scores.json").read_text())["scores"]
        assert scores["cats_accuracy"] <= 0.5
