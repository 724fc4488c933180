"""The tables and figures of the results page are those of the recorded scores."""

from html import escape

import pytest

from benchmarks import results_page
from benchmarks.fewlabels.figures import Figure


def test_no_table_is_stale():
    """If it is: python -m benchmarks.results_page."""
    pages = [
        path.read_text("utf8") for path in (results_page.PAGE, results_page.README)
    ]
    for page in pages:
        assert results_page.filled(page) == page
    for name in results_page.TABLES:
        assert f"<!-- table: {name} -->" in "".join(pages)


def test_no_figure_is_stale():
    """If one is: python -m benchmarks.results_page."""
    page = results_page.PAGE.read_text("utf8")
    figures = {name: draw() for name, draw in results_page.FIGURES.items()}
    assert results_page.illustrated(page, figures) == page
    for name, figure in figures.items():
        assert f"<!-- figure: {name} -->" in page
        # Other versions of matplotlib draw the same with other bytes.
        svg = results_page.PAGE.with_name(f"{name}.svg").read_text("utf8")
        assert f"<desc>{escape(figure.alt)}</desc>" in svg


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<!-- table: nerx -->\n<!-- end of table -->", "nerx --> is none of textcat"),
        ("<!-- table: ner -->\n<!-- end of tables -->", "has no <!-- end of table"),
        ("<!-- figure: scaling -->\n<!-- end of figure -->", "scaling --> is none of"),
        (
            "<!-- table: ner -->\n<!-- table: costs -->\n<!-- end of table -->",
            "ner --> has no <!-- end of table -->",
        ),
    ],
)
def test_marks_that_nothing_would_fill(page, expected, tmp_path):
    (tmp_path / "page.md").write_text(page, "utf8")
    with pytest.raises(SystemExit, match=expected):
        results_page.check_marks(tmp_path / "page.md")


def test_a_figure_that_another_matplotlib_drew_stays(tmp_path):
    path = tmp_path / "x.svg"
    svg = "<svg>Matplotlib v3.10.9 <desc>1 &lt; 2</desc></svg>"
    same = Figure(svg, "1 < 2")
    assert not results_page.is_drawn(path, same)
    path.write_text(svg, "utf8")
    # What the same version drew may be another one whose description is alike.
    assert not results_page.is_drawn(path, same)
    newer = svg.replace("3.10.9", "3.11.2")
    assert results_page.is_drawn(path, Figure(newer, "1 < 2"))
    assert not results_page.is_drawn(path, Figure(newer, "1 < 3"))


def test_a_gain_is_as_uncertain_as_its_seeds():
    base = {0: 80.0, 1: 82.0, 2: 81.0}
    ours = {0: 81.0, 1: 82.0, 2: 83.0, 3: 99.0}
    # Differences 1, 0 and 2: 1 ± 4.303 * 1 / sqrt(3), as t tables have it.
    low, high = (1 - 4.303 / 3**0.5, 1 + 4.303 / 3**0.5)
    expected = f"−{-low:.1f} to +{high:.1f}"
    assert results_page.gain(ours, base) == expected
    assert results_page.gain({0: 1.0}, base) == "-"


@pytest.mark.parametrize(
    ("values", "expected"), [([80.0, 82.0], "81.0 ± 1.4"), ([80.0], "-")]
)
def test_spreads(values, expected):
    assert results_page.spread(values) == expected
