"""The records of benchmarks, and the page that is made from them."""

import pytest

from benchmarks import scaling, speed
from benchmarks.claims import CLAIMS, Claim
from benchmarks.matrix import read_done
from benchmarks.report import RECORD_TO, report

CLAIM = Claim(
    "count", "count {data}/x --n 2", ("time", "memory"), {"slow": "a `Counter`"}
)
TIMES = {"ours": [1.0, 2.0, 1.5], "slow": [3.0, 4.0, 6.0], "broken": []}


@pytest.fixture
def recorded(tmp_path, monkeypatch, capsys):
    """Return the records of a benchmark with two tables."""
    path = tmp_path / "records.jsonl"
    monkeypatch.setenv(RECORD_TO, str(path))
    report("time", "s", TIMES, "ours", ["missing"])
    report("memory", "MB", {"ours": [10.0], "slow": [2500.0]}, "ours")
    return read_done(path)


def test_the_page_is_that_of_the_records():
    """If it is not: python -m benchmarks.speed page."""
    page = speed.PAGE.read_text("utf8")
    assert speed.filled(page, speed.TABLES) == page
    for name in speed.TABLES:
        assert f"<!-- table: {name} -->" in page
    commands = {record["command"] for record in read_done(speed.RECORDS)}
    assert {claim.command for claim in CLAIMS} <= commands


def test_rows_of_the_page(recorded, tmp_path, monkeypatch):
    monkeypatch.setattr(speed, "CLAIMS", [CLAIM])
    path = tmp_path / "kept.jsonl"
    speed._keep(path, CLAIM.command, recorded)
    speed._keep(path, "another", recorded[:1])
    speed._keep(path, CLAIM.command, recorded)  # replaces the first ones
    assert len(read_done(path)) == 3
    _, row = speed.rows(path)
    peer = "a `Counter`: 4.0 s, 2,500 MB"
    assert row == ("count", "1.5 s, 10 MB", peer, "3.00 (2.00 to 4.00)")


def test_the_page_of_scaling_is_made_of_its_records():
    expected = speed.filled(scaling.TEMPLATE.read_text("utf8"), scaling.TABLES)
    assert scaling.PAGE.read_text("utf8") == expected
