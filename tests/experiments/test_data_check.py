"""Test data on which the arms could not be compared: refused before the training."""

import re

import pytest

from spacy_spanft.errors import ComparisonError, SpanftError
from spacy_spanft.experiments.experiment import checked_data

from .matrix_place import plan


def rows(*labels, text="a film"):
    return "text,label\n" + "".join(f"{text},{label}\n" for label in labels * 3)


@pytest.fixture
def table(place):
    """A task of tables, whose test data are still missing."""
    folder = place / "data" / "table"
    folder.mkdir()
    for part in ("train", "dev"):
        (folder / f"{part}.csv").write_text(rows("A", "B", text=part))
    return folder


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


@pytest.mark.parametrize(
    ("test", "other", "expected"),
    [
        (rows("B"), rows("B"), None),
        (rows("B"), rows("A", "C"), r"test_other\.csv that are not .* data: 'C'\."),
        (rows("A", text="train"), rows("B"), r"1 texts of .*test\.csv are also in the"),
    ],
)
def test_what_is_odd_is_warned_of_once(table, capsys, test, other, expected):
    (table / "test.csv").write_text(test)
    (table / "test_other.csv").write_text(other)
    check(table)
    output = capsys.readouterr().err
    assert output.count("⚠") == (expected is not None)
    assert re.search(expected or "", output)


@pytest.mark.parametrize("part", ["train", "test"])
def test_files_that_cannot_be_meant(table, place, part):
    (table / "test.csv").write_text(rows("A"))
    with pytest.raises(SpanftError, match=r"train\.csv' cannot be read for ner"):
        plan(str(table), configs=None, pipeline="ner")
    (table / f"{part}.tsv").write_text("text\tlabel\na\tA\n")
    with pytest.raises(SpanftError, match=rf"Both {part}\.csv and {part}\.tsv are in"):
        check(table)
    # Pipelines that read DocBins cannot tell the columns of a table.
    (place / "data" / "one" / "test.csv").write_text(rows("A"))
    with pytest.raises(ComparisonError, match=r"test\.csv"):
        check(place / "data" / "one")
