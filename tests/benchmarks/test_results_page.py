"""The pages of benchmarks, their tables and figures are those of the records."""

import re
from html import escape

import pytest

from benchmarks import results_page, speed
from benchmarks.claims import CLAIMS
from benchmarks.figures import FIGURES
from benchmarks.matrix import read_done


@pytest.fixture(scope="module")
def page():
    return results_page.PAGE.read_text("utf8")


def test_no_table_is_stale(page):
    """If one is: python -m benchmarks.results_page."""
    for text in (page, results_page.README.read_text("utf8")):
        assert results_page.filled(text) == text


def test_no_figure_is_stale(page):
    figures = {name: draw() for name, draw in FIGURES.items()}
    assert results_page.illustrated(page, figures) == page
    for name, figure in figures.items():
        # Other versions of matplotlib draw the same with other bytes.
        svg = results_page.PAGE.with_name(f"{name}.svg").read_text("utf8")
        assert f"<desc>{escape(figure.alt)}</desc>" in svg


def test_every_score_is_in_a_table(page):
    """Numbers with a decimal in the prose would not follow the records."""
    prose = re.sub(r"<!-- (table|figure): .*?<!-- end of \1 -->", "", page, flags=re.S)
    assert re.findall(r"[+−]?\d+\.\d+", prose) == []
    assert len(page.split()) <= 3000


def test_every_table_can_be_printed(page, capsys):
    named = set(re.findall(r"`([\w-]+)`", page.partition("## What was tried")[2]))
    on_page = set(re.findall(r"<!-- table: ([\w-]+) -->", page))
    rest = {*results_page.TABLES} - on_page - {"in-short"}
    assert rest <= named
    for name in rest:
        results_page.main(table=name)
        assert len(capsys.readouterr().out.splitlines()) > 3
    with pytest.raises(SystemExit, match="'nerx' is none of gains"):
        results_page.main(table="nerx")


def test_the_page_is_that_of_the_records():
    """If it is not: python -m benchmarks.speed page."""
    page = speed.PAGE.read_text("utf8")
    assert speed.filled(page, speed.TABLES) == page
    for name in speed.TABLES:
        assert f"<!-- table: {name} -->" in page
    commands = {record["command"] for record in read_done(speed.RECORDS)}
    assert {claim.command for claim in CLAIMS} <= commands
