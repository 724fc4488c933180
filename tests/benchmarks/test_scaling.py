import pytest

from benchmarks import scaling
from benchmarks.results_page import filled


def test_the_page_is_made_of_what_is_recorded():
    expected = filled(scaling.TEMPLATE.read_text("utf8"), scaling.TABLES)
    assert scaling.PAGE.read_text("utf8") == expected


def test_text_starts_over_with_other_words(tmp_path):
    source, target = tmp_path / "a.txt", tmp_path / "b.txt"
    vocabulary = [f"w{chr(97 + i)}" for i in range(20)]
    source.write_text(" ".join(vocabulary[:10]) + "\n" + " ".join(vocabulary[10:]))
    scaling.grow(source, target, 35)
    lines = [line.split() for line in target.read_text().splitlines()]
    assert [len(line) for line in lines] == [10] * 4
    assert lines[0] + lines[1] == vocabulary
    salted = lines[2] + lines[3]
    changed = [new for old, new in zip(vocabulary, salted, strict=True) if old != new]
    assert 0 < len(changed) < 20
    assert all(word.endswith("a") for word in changed)


def test_slope():
    sizes = [1.0, 10.0, 1000.0]
    assert scaling.slope(sizes, [3 * size**1.5 for size in sizes]) == pytest.approx(1.5)


def test_files_are_added_up(tmp_path):
    source = tmp_path / "a.txt"
    source.write_text("the united states of america\n" * 50)
    found = scaling.add_up_files(source, 200, tmp_path / "b.txt")
    assert found["n_tokens"] == 200
    names = " ".join(scaling.FILES).split()
    assert set(names) - {"raw"} <= set(found["files"])
    assert all(found["files"][name] > 0 for name in names if name != "raw")
