"""What would spoil a comparison is said before the trainings that it compares."""

import re
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_spanft.errors import ComparisonError, SpanftError
from spacy_spanft.experiments.data_check import check_test_data
from spacy_spanft.experiments.matrix.data import find_data

from .matrix_place import plan


@pytest.fixture
def table(place):
    """A task of tables, whose test data are still missing."""
    folder = place / "data" / "table"
    folder.mkdir()
    for part in ("train", "dev"):
        (folder / f"{part}.csv").write_text(rows("A", "B"))
    return folder


def rows(*labels):
    return "text,label\n" + "".join(f"a film,{label}\n" for label in labels * 3)


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
        ("words,label\na,A\n", "there is no such column in"),
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
