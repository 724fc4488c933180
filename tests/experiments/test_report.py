"""The report of a comparison: its page and its figures."""

import re
from base64 import b64decode
from html import unescape
from statistics import mean, stdev

import matplotlib
import numpy as np
import pytest

from spacy_spanft.errors.visible import visible
from spacy_spanft.experiments.comparison.runs import Missing, MissingRun, Training
from spacy_spanft.experiments.report import wording
from spacy_spanft.experiments.report.drawing import DARK, clean, looks, spread
from spacy_spanft.experiments.report.figures import curves, dictionary_sizes
from spacy_spanft.experiments.report.markdown import to_markdown_of_tasks
from spacy_spanft.experiments.report.page import to_html
from spacy_spanft.experiments.statistics.significance import holm_adjusted

from .measured import Page, against, labeled

IMAGE = "data:image/svg+xml;base64,"
EVIL = "<script>alert('x')</script> & \"q\" </p><img src=x onerror=y> $x^2$ 🎉\x0b\x00"


HOSTILE = [
    EVIL,
    "a|b||c\\|d\\",
    "two\nlines\r\n| x | y |\n|---|---|",
    "\x1b[31mred\x1b[0m\x07\x9b2J",
    "**bold** _em_ snake_case `code` ~~no~~ $x$",
    "[link](javascript:alert(1)) ![](http://x) &lt;b&gt; &amp;",
    "<!--", "-->", "]]>", "</td></tr></table>", "# ## heading #", "\u202etxt.exe",
    "\udcff lone", "x" * 300, "- item", "1. item", "\u2028line", "{{ 7 * 7 }}{% raw %}",
]  # fmt: skip


def unescaped(cell):
    """Read a cell as Markdown does: signs with a backslash, then entities."""
    cell = re.sub(r"\\([!-/:-@\[-`{-~])", lambda found: f"&#{ord(found[1])};", cell)
    assert not re.search(r"[<>|*`~$\[\]]", cell), cell
    return unescape(cell)


def test_names_in_markdown_stay_what_they_are(monkeypatch):
    arms = {name: [labeled([1, 0])] for name in HOSTILE}
    found = against(arms, monkeypatch, data=EVIL)
    missing = Missing(9, [MissingRun(EVIL, "\x1b", EVIL)], HOSTILE[1:3])
    both = {name: found._replace(missing=missing) for name in HOSTILE[:3]}
    text = to_markdown_of_tasks(both, {HOSTILE[2]: dict.fromkeys(HOSTILE, EVIL)})
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e\ud800-\udfff]", text)
    text.encode()
    lines = text.split("\n")
    rows = [line for line in lines if line.startswith("|")]
    cells = [split(row) for row in rows]
    assert {len(row) for row in cells} == {10}
    shown = [unescaped(row[0]) for row in cells[2 : 2 + len(HOSTILE)]]
    assert shown == [visible(name) for name in HOSTILE]
    heads = [unescaped(line[3:]) for line in lines if line.startswith("## ")]
    assert heads == [visible(name) for name in HOSTILE[:3]]
    # Whatever is not a row or a heading begins with words of our own.
    known = (
        "|",
        "## ",
        "1 of 9",
        "cats_",
        "Differences",
        "Is the",
        "Do these",
        "Missing",
        "Note on ",
    )
    assert all(line.startswith(known) for line in lines if line)
    assert sum(line.startswith("Note on ") for line in lines) == len(HOSTILE)


def split(row):
    """Cut a row of a table at the bars that no backslash stands before."""
    cells = re.findall(r"\|((?:[^\\|]|\\.)*)(?=\|)", row)
    return [cell.strip() for cell in cells]


@pytest.fixture
def one(monkeypatch):
    """A baseline, and an arm with spans that is right where the other is wrong."""
    texts = [EVIL, *(f"text number {i}" for i in range(39))]
    right = [np.arange(40) % k != 0 for k in (2, 4, 3)]
    more = {"texts": texts, "n_parameters": 1_031_000, "n_ngrams": 5000}
    arms = {
        "base": [
            labeled(r, texts, spans=[[]] * 40, spans_per_doc=None) for r in right[:2]
        ],
        EVIL: [
            labeled(np.ones(40), words_per_second=w, seed=w, **more)
            for w in (1000, 2000)
        ],
    }
    return against(arms, monkeypatch)


TRAININGS = [
    Training("base", 0, 60.0, 100.0, 2000.0, [(1, 0.1), (2, 0.5), (3, 0.7)]),
    Training("base", 1, 180.0, 300.0, 3000.0, [(1, 0.2), (3, 0.9), (5, 1.0)]),
    Training(EVIL, 0, 4000.0, 50.0, None, []),
]


def test_the_tables_hold_the_numbers(one):
    page = Page(to_html({"task": one}, {"task": TRAININGS}, notes={"base": "a note"}))
    header, base, ours = page.rows(0)
    assert header[4:] == [
        *("95% interval", "p", "These models: 95% interval", "Spans in a text")
    ]
    scores = [one.arms[0].runs[i].score for i in (0, 1)]
    assert scores == [0.5, 0.75]
    expected = f"{100 * mean(scores):.1f} ± {100 * stdev(scores):.1f}"
    assert base == ["base*", "2", expected, "–", "–", "–", "–", "–"]
    method, models = (
        f"{found.low:+.1%} to {found.high:+.1%}".replace("-", "−").replace("%", "")
        for found in (one.arms[1].method, one.arms[1].models)
    )
    p = f"{one.arms[1].method.p:.3f}"
    expected = ["2", "100.0 ± 0.0", "+37.5", method, p, models, "1.0"]
    assert ours[1:] == expected
    _, header, base, ours = page.rows(1)
    costs = ["Words/s", "Peak memory"]
    assert header[1:4] == ["Weights", "added", "n-grams"]
    assert header[4:] == [*costs, *costs, "Time of a run"]
    assert base[1:6] == ["1.00M", "–", "–", "1,234 (1,234 to 1,234)", "567 MB"]
    assert base[6:] == ["200", "2,500 MB", "2 min"]
    speed = "1,500 (1,000 to 2,000)"
    assert ours[1:6] == ["1.03M", "+3.1%", "5,000", speed, "567 MB"]
    assert ours[6:] == ["50", "–", "1 h 07"]
    assert "* base: a note" in page.text
    assert "40 texts of test.spacy" in page.text
    assert "An arm is right where most of its runs are" in page.text


def test_several_tasks_and_corrected_ps(one, monkeypatch):
    rows = np.arange(40)
    arms = {"base": rows % 2, "good": rows % 40, "same": rows % 2, "c": rows % 20}
    runs = {k: [labeled(v, seed=s) for s in range(3)] for k, v in arms.items()}
    many = against(runs, monkeypatch)
    page = Page(to_html({"first": one, "second": many}))
    header, *rows = page.rows(0)
    assert header == ["Arm", "firstAccuracy", "secondAccuracy"]
    assert [row[1:] for row in rows] == [
        # Two runs that differ by 25 points among themselves show nothing.
        ["62.5 ± 17.7", "50.0 ± 0.0"],
        ["100.0 ± 0.0", "–"],
        ["–", "97.5 ± 0.0†"],
        ["–", "50.0 ± 0.0"],
        ["–", "95.0 ± 0.0†"],
    ]
    found = next(t for t in map(page.rows, range(99)) if "corrected" in str(t[0]))
    assert found[0][5:7] == ["p, corrected (Holm)", "These models: 95% interval"]
    ps = [arm.method.p for arm in many.arms[1:]]
    assert [row[5] for row in found[2:]] == [
        wording.probability(p) for p in holm_adjusted(ps)
    ]
    assert (ps[1], found[3][5]) == (1.0, "1.000")
    assert len([a for a in page.all("section") if a.get("class") == "task"]) == 3


def test_whatever_is_hostile_is_text(one):
    page = Page(
        to_html(
            {EVIL: one._replace(data=EVIL)},
            {EVIL: TRAININGS},
            title=EVIL,
            notes={EVIL: EVIL},
        )
    )
    kinds = {tag for tag, _ in page.elements}
    assert not kinds & {"script", "link", "iframe", "object", "svg"}
    sources = [image["src"] for image in page.all("img")]
    assert all(source.startswith(IMAGE) for source in sources)
    for _, attrs in page.elements:
        assert not [key for key in attrs if key.startswith("on")]
    clean = EVIL.replace("\x0b", "\ufffd").replace("\x00", "\ufffd")
    # The title twice, the headline, the note, the texts, the tables...
    assert page.text.count(clean) > 15
    assert "\x00" not in page.text
    names = [row[0] for row in page.rows(0)]
    assert names[2] == f"{' '.join(clean.split())}*"


def test_hostile_names_are_text_in_the_page(monkeypatch):
    arms = {name: [labeled([1, 0])] for name in HOSTILE}
    found = against(arms, monkeypatch, data=EVIL)
    missing = Missing(9, [MissingRun(EVIL, "\x1b", EVIL)], HOSTILE)
    page = Page(to_html({EVIL: found._replace(missing=missing)}))
    plain = Page(to_html({"task": against({"a": [labeled([1, 0])]}, monkeypatch)}))
    here, there = ({tag for tag, _ in p.elements} for p in (page, plain))
    assert here - there <= {"a", "h3", "ol", "li", "mark"}
    assert not [key for _, attrs in page.elements for key in attrs if key[:2] == "on"]
    names = [row[0] for row in page.rows(0)[1:]]
    assert names == [" ".join(clean(name).split()) for name in HOSTILE]
    assert "1 of 9 runs are missing: " in page.text


def test_the_page_needs_nothing_else(one):
    html = to_html({"task": one, "again": one}, {"task": TRAININGS})
    assert not re.findall(r"https?://", html)
    page = Page(html)
    targets = [v for _, a in page.elements for k, v in a.items() if k.endswith("href")]
    assert targets
    assert all(target.startswith("#") for target in targets)
    sources = [a[k] for _, a in page.elements for k in ("src", "srcset") if k in a]
    assert len(sources) == 2 * 3  # of "task" two figures, of "again" one
    for source in sources:
        assert source.startswith(IMAGE)
        svg = b64decode(source.removeprefix(IMAGE)).decode()
        linked = re.findall(r"(?:href=\"|url\()([^)\"]*)", svg)
        assert linked
        assert all(target.startswith("#") for target in linked)
    assert "@import" not in html
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    named = [a["aria-labelledby"] for _, a in page.elements if "aria-labelledby" in a]
    assert {*named, *(target[1:] for target in targets)} <= set(ids)


def test_it_can_be_read_by_all(one):
    html = to_html({"task": one}, {"task": TRAININGS})
    page = Page(html)
    assert page.all("html")[0]["lang"] == "en"
    drawn = page.all("img")
    assert len(drawn) == 2
    for image in drawn:
        assert re.search(r"base \d\d\.\d", image["alt"])
    assert len(page.all("caption")) == len(page.tables) > 2
    assert all("scope" in cell for cell in page.all("th"))
    ours = dict(re.findall(r"--(\w+): (#\w{6});", html[: html.index("@media")]))
    theirs = dict(re.findall(r"--(\w+): (#\w{6});", html[html.index("scheme: dark") :]))
    for colors, figures in (
        (ours, DARK),
        (theirs, set(DARK.values())),
    ):
        page_color = colors["page"]
        for name in ("ink", "soft", "good", "bad", "link"):
            assert contrast(colors[name], page_color) >= 4.5, name
        for name in ("odd", "even"):
            assert contrast(colors["ink"], colors[name]) >= 4.5, name
        drawn = [f"#{color.lstrip('#')}" for color in figures]
        faint = [color for color in drawn if contrast(color, page_color) < 3]
        assert faint == [colors["rule"]]


def contrast(*colors):
    """Compute the contrast of two colors as WCAG 2 has it."""
    found = []
    for color in colors:
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        parts = [
            x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts
        ]
        found.append(np.dot(parts, [0.2126, 0.7152, 0.0722]) + 0.05)
    return max(found) / min(found)


def test_it_is_always_the_same_and_leaves_the_style_alone(one):
    first = to_html({"task": one}, {"task": TRAININGS})
    with matplotlib.rc_context({"font.size": 40, "axes.spines.bottom": False}):
        assert to_html({"task": one}, {"task": TRAININGS}) == first
        assert matplotlib.rcParams["font.size"] == 40


def test_labels_are_spread_as_little_as_possible():
    assert spread([5.0, 0.0, 5.5], 1.0) == pytest.approx([4.75, 0.0, 5.75])
    assert spread([3.0, 1.0], 1.0) == [3.0, 1.0]
    assert spread([1.0, 1.0, 1.0], 2.0) == pytest.approx([-1.0, 1.0, 3.0])
    assert spread([], 1.0) == []


def test_curves_go_as_far_as_all_runs_do():
    name = "$x_2^2$ & <b>"
    look = looks(["base", name])
    shown = curves([TRAININGS[0]._replace(arm=name)], look)
    assert "$x_2^2$ &amp; &lt;b&gt;</text>" in svg_of(shown)
    look = looks(["base", EVIL])
    found = curves(TRAININGS, look)
    # Both runs know steps 1 and 3: the mean at the end is that of 0.7 and 0.9.
    assert "at the end: base 80.0" in found.image.alt
    assert EVIL[:8] not in svg_of(found)
    assert "band" in found.caption
    assert curves(TRAININGS[2:], look) is None
    assert curves([], look) is None
    late = [Training("base", 0, 1, 1, None, [(i, min(0.8, i / 10)) for i in range(50)])]
    cut = curves(late, look)
    assert "The steep beginning is cut off" in cut.caption
    assert "band" not in cut.caption


def test_a_dark_page_has_colors_of_its_own():
    shown = curves(TRAININGS, looks(["base", "other"]))
    day, night = svg_of(shown), svg_of(shown, "night")
    assert day != night
    for bright, dark in DARK.items():
        assert f": {bright}" not in night
        assert f": {dark}" not in day
        day = day.replace(f": {bright}", f": {dark}")
    assert day == night


def svg_of(figure, kind="day"):
    return b64decode(getattr(figure.image, kind).removeprefix(IMAGE)).decode()


def test_sizes_of_dictionaries(monkeypatch):
    right = np.arange(40)
    arms = {
        "base": [labeled(right % 2, spans_per_doc=None)],
        "random": [labeled(right % 3, spans_per_doc=2.5)],
        "all": [labeled(right % 5, n_ngrams=100_000, spans_per_doc=4.0)],
        "half": [labeled(right % 4, n_ngrams=50_000, spans_per_doc=3.0)],
    }
    both = against(arms, monkeypatch)
    spans, score = dictionary_sizes(both, looks(list(arms)))
    expected = "spans in a text: 50,000 n-grams 3.0; 100,000 n-grams 4.0; random 2.5."
    assert spans.image.alt == expected
    said = score.image.alt
    assert "50,000 n-grams 75.0; 100,000 n-grams 80.0; base 50.0; random " in said
    assert "50k" in svg_of(score)
    del arms["half"]
    assert dictionary_sizes(against(arms, monkeypatch), looks(list(arms))) == []
