from benchmarks import scaling
from benchmarks.results_page import filled


def test_the_page_is_made_of_what_is_recorded():
    expected = filled(scaling.TEMPLATE.read_text("utf8"), scaling.TABLES)
    assert scaling.PAGE.read_text("utf8") == expected


def test_text_is_cut_at_a_line(tmp_path):
    source = tmp_path / "a.txt"
    source.write_text("a b c\nd e\nf\n")
    target = scaling.cut(source, tmp_path / "b.txt", 4)
    assert target.read_text() == "a b c\nd e\n"
