"""What would spoil a comparison is said before the trainings that it compares."""

import re
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_spanft.errors import ComparisonError, SpanftError
from spacy_spanft.experiments.data_check import check_test_data
from spacy_spanft.experiments.matrix.task_data import find_data

from .matrix_place import plan


@pytest.fixture
def table(place):
    """A task of tables, whose test data are still missing."""
    folder = place / "data" / "table"
    folder.mkdir()
    for part in ("train", "dev"):
        (folder / f"{part}.csv").write_text(rows("A", "B", text=part))
    return folder


def rows(*labels, text="a film"):
    return "text,label\n" + "".join(f"{text},{label}\n" for label in labels * 3)


def check(folder):
    runs = plan(str(folder), seeds=[0, 1])
    check_test_data(find_data(folder), runs)


def test_what_fits_is_silent(table, capsys):
    (table / "test.csv").write_text(rows("B"))
    (table / "test_other.csv").write_text(rows("A", "B"))
    check(table)
    assert "⚠" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "There is no test data in"),
        (rows("C", "D"), r"has the labels 'C', 'D', and the training .*: 'A', 'B'"),
        ("words,label\na,A\n", "There is no column"),
        ("text,label\na film,A,B\n", "Line 2"),
        ("text,label\n", "There are no rows in"),
    ],
)
def test_what_does_not_fit(table, text, message):
    if text is not None:
        (table / "test.csv").write_text(text)
    with pytest.raises(SpanftError, match=message):
        check(table)


def test_labels_that_nobody_learns(table, capsys):
    (table / "test.csv").write_text(rows("A", "C"))
    check(table)
    said = capsys.readouterr().err
    assert re.search(r"test\.csv that are not in the training data: 'C'\.", said)
    assert said.count("⚠") == 1  # not once for each arm, nor for each seed


def test_docs_without_labels(place):
    folder = place / "data" / "one"
    DocBin(docs=[spacy.blank("en")("a film")]).to_disk(folder / "test.spacy")
    with pytest.raises(ComparisonError, match=r"No text of .* has a label"):
        check(folder)


def test_a_table_that_would_not_be_read(place):
    """The pipelines read DocBins: they cannot tell the columns of a table."""
    folder = place / "data" / "one"
    Path(folder / "test.csv").write_text(rows("A"))
    with pytest.raises(ComparisonError, match=r"test\.csv"):
        check(folder)


def test_texts_that_were_trained_on(table, capsys):
    (table / "test.csv").write_text(rows("A", text="train"))
    check(table)
    said = capsys.readouterr().err
    expected = f"Texts of {table / 'test.csv'} that also occur in the training data: 1."
    assert expected in said
    assert said.count("⚠") == 1


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ('{"metric": "accuracy"}', r"task\.json' has no metric 'accuracy'.*cats_score"),
        ('{"metric": "ents_f"}', "has no metric 'ents_f'"),
        ('{"positive_label": "yes"}', "'yes'"),
    ],
)
def test_a_metric_that_no_pipeline_has(table, facts, message):
    (table / "test.csv").write_text(rows("A"))
    (table / "task.json").write_text(facts)
    with pytest.raises(ComparisonError, match=message):
        check(table)


def test_a_metric_that_there_is(table):
    (table / "test.csv").write_text(rows("A"))
    (table / "task.json").write_text('{"metric": "cats_f1", "positive_label": "A"}')
    check(table)


@pytest.mark.parametrize("part", ["train", "test"])
def test_which_file_is_meant(table, part):
    (table / "test.csv").write_text(rows("A"))
    (table / f"{part}.tsv").write_text("text\tlabel\na\tA\n")
    with pytest.raises(SpanftError, match=rf"Both {part}\.csv and {part}\.tsv are in"):
        check(table)


def test_tables_do_not_hold_entities(table):
    with pytest.raises(SpanftError, match=r"train\.csv' cannot be read for ner"):
        plan(str(table), configs=None, pipeline="ner")
