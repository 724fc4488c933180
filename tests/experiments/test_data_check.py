"""Test data on which the arms could not be compared: refused before the training."""

import re
from pathlib import Path

import pytest

from spacy_spanft.errors import ComparisonError, SpanftError
from spacy_spanft.experiments.experiment import checked_data

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
    checked_data([folder], runs)


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
    (table / "test.csv").write_text(rows("B"))
    check(table)
    assert "⚠" not in capsys.readouterr().err
    (table / "test_other.csv").write_text(rows("A", "C"))
    check(table)
    output = capsys.readouterr().err
    expected = r"test_other\.csv that are not in the training data: 'C'\."
    assert re.search(expected, output)
    assert output.count("⚠") == 1  # not once for each arm, nor for each seed


def test_a_table_that_would_not_be_read(place):
    """The pipelines read DocBins: they cannot tell the columns of a table."""
    folder = place / "data" / "one"
    Path(folder / "test.csv").write_text(rows("A"))
    with pytest.raises(ComparisonError, match=r"test\.csv"):
        check(folder)


def test_texts_that_were_trained_on(table, capsys):
    (table / "test.csv").write_text(rows("A", text="train"))
    check(table)
    output = capsys.readouterr().err
    expected = f"1 texts of {table / 'test.csv'} are also in the training data."
    assert expected in output
    assert output.count("⚠") == 1


@pytest.mark.parametrize("part", ["train", "test"])
def test_which_file_is_meant(table, part):
    (table / "test.csv").write_text(rows("A"))
    (table / f"{part}.tsv").write_text("text\tlabel\na\tA\n")
    with pytest.raises(SpanftError, match=rf"Both {part}\.csv and {part}\.tsv are in"):
        check(table)


def test_tables_do_not_hold_entities(table):
    with pytest.raises(SpanftError, match=r"train\.csv' cannot be read for ner"):
        plan(str(table), configs=None, pipeline="ner")
