"""The records of benchmarks, and the page that is made from them."""

from benchmarks import scaling, speed
from benchmarks.claims import CLAIMS
from benchmarks.matrix import read_done


def test_the_page_is_that_of_the_records():
    """If it is not: python -m benchmarks.speed page."""
    page = speed.PAGE.read_text("utf8")
    assert speed.filled(page, speed.TABLES) == page
    for name in speed.TABLES:
        assert f"<!-- table: {name} -->" in page
    commands = {record["command"] for record in read_done(speed.RECORDS)}
    assert {claim.command for claim in CLAIMS} <= commands


def test_the_page_of_scaling_is_made_of_its_records():
    expected = speed.filled(scaling.TEMPLATE.read_text("utf8"), scaling.TABLES)
    assert scaling.PAGE.read_text("utf8") == expected
