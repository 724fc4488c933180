"""The report of a comparison: its sentences, tables and figures, all text escaped."""

import re
from base64 import b64decode
from html import unescape

import matplotlib
import numpy as np
import pytest

from spacy_spanft.errors import visible
from spacy_spanft.experiments.comparison import Arm, Comparison
from spacy_spanft.experiments.figures import clean, curve_figure, looks_of
from spacy_spanft.experiments.report import to_html
from spacy_spanft.experiments.result_tables import headline, to_markdown
from spacy_spanft.experiments.run_folder import Training
from spacy_spanft.experiments.significance import (
    Difference,
    MethodDifference,
    holm_adjusted,
)

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
TRAININGS = [
    Training("base", 0, 60.0, [(1, 0.1), (2, 0.5), (3, 0.7)]),
    Training("base", 1, 180.0, [(1, 0.2), (3, 0.9), (5, 1.0)]),
    Training(EVIL, 0, 4000.0, []),
]


@pytest.fixture
def both(monkeypatch):
    """A baseline, and an arm with spans that is right where the other is wrong."""
    texts = [EVIL, *(f"text number {i}" for i in range(39))]
    rights = [np.arange(40) % k != 0 for k in (2, 4)]
    none = {"spans": [[]] * 40, "spans_per_doc": None}
    more = {"n_parameters": 1_031_000, "n_ngrams": 5000}
    ours = [labeled(np.ones(40), texts, seed=seed, **more) for seed in (0, 1)]
    speeds = [run._replace(words_per_second=1000 * (run.seed + 1)) for run in ours]
    arms = {"base": [labeled(right, texts, **none) for right in rights], EVIL: speeds}
    return against(arms, monkeypatch)._replace(trainings=TRAININGS)


def made_up(mean, p, n_others=1):
    """Return arms whose scores differ by this mean, with this p-value."""
    scores = (0.8, 0.8 + mean)
    runs = [[labeled([1])._replace(score=score)] * 2 for score in scores]
    models = Difference(mean, mean - 0.05, mean + 0.05, 0.01)
    method = MethodDifference(*models[:3], p, True, 7, 0.123)
    others = [Arm(f"other{i}", runs[1], models, method) for i in range(n_others)]
    return Comparison("cats_accuracy", "test", 5000, [Arm("base", runs[0]), *others])


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ((0.1, 0.01), "other0 scores 90.0 ± 0.0, base 80.0 ± 0.0: a difference of +10"),
        ((0.1, 0.01), "It is significant (95% interval +5.0 to +15.0, p 0.010)."),
        ((0.1, 0.2), "It is not significant"),
        ((0.1, 0.03, 2), "p 0.060)."),
        ((-0.1, 0.0001), "−5.0, p < 0.001)."),
        ((0.1, 0.01, 0), "base scores 80.0 ± 0.0."),
    ],
)
def test_the_headline_says_only_what_the_corrected_test_shows(
    monkeypatch, made, expected
):
    assert expected in headline(made_up(*made))
    arms = {"base": [labeled([0] * 20)], "last": [labeled([1] * 20)]}
    single = against(arms, monkeypatch)
    assert single.arms[1].method is None
    assert "One run per arm cannot tell" in headline(single)
    assert "One run per arm cannot tell" in to_markdown(single)
    assert "significant" not in headline(single)


def test_the_tables_hold_the_numbers(both):
    page = Page(to_html({"a": both._replace(notes={"base": "a note"})}))
    header, base, ours = page.rows(0)
    assert base == ["base", "2", "62.5 ± 17.7", "–", "–", "–", "–", "–"]
    arm = both.arms[1]
    method, models = (
        f"{100 * each.low:+.1f} to {100 * each.high:+.1f}".replace("-", "−")
        for each in (arm.method, arm.models)
    )
    values = {
        **{"Runs": "2", "Score": "100.0 ± 0.0", "Difference": f"+37.5 ({method})"},
        **{"p": f"{arm.method.p:.3f}", "These models": models},
        **{"Runs needed": f"{arm.method.runs_needed:,}", "Spans/text": "1.0"},
    }
    assert dict(zip(header[1:], ours[1:], strict=True)) == values
    header, base, ours = page.rows(1)
    costs = {
        **{"Weights": ("1.00M", "1.03M (+3.1%)"), "n-grams": ("–", "5,000")},
        **{"Words/s": ("1,234", "1,500"), "Memory": ("567 MB", "567 MB")},
        **{"Training time": ("2.0 min", "66.7 min")},
    }
    pairs = zip(base[1:], ours[1:], strict=True)
    assert dict(zip(header[1:], pairs, strict=True)) == costs
    assert "Note on base: a note" in page.text
    assert "40 texts of test.spacy" in page.text


def test_several_tasks_and_corrected_ps(both, monkeypatch):
    assert holm_adjusted([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm_adjusted([0.5, 0.001]) == pytest.approx([0.5, 0.002])
    assert holm_adjusted([0.9, 0.8]) == [1.0, 1.0]
    assert holm_adjusted([]) == []
    rows = np.arange(40)
    arms = {"base": rows % 2, "good": rows % 40, "same": rows % 2, "c": rows % 20}
    runs = {k: [labeled(v, seed=s) for s in range(3)] for k, v in arms.items()}
    many = against(runs, monkeypatch)
    page = Page(to_html({"first.task": both, "second": many}))
    header, *rows = page.rows(0)
    assert header == ["Arm", "first.task: cats_accuracy", "second: cats_accuracy"]
    assert [row[1:] for row in rows] == [
        # Two runs that differ by 25 points among themselves show nothing.
        ["62.5 ± 17.7", "50.0 ± 0.0"],
        ["100.0 ± 0.0", "–"],
        ["–", "97.5 ± 0.0†"],
        ["–", "50.0 ± 0.0"],
        ["–", "95.0 ± 0.0†"],
    ]
    tables = [page.rows(i) for i in range(len(page.tables))]
    table = next(t for t in tables if t[0][4:5] == ["p"] and len(t) == 5)
    ps = holm_adjusted([arm.method.p for arm in many.arms[1:]])
    expected = [f"{p:.3f}" if p >= 0.001 else "< 0.001" for p in ps]
    assert [row[4] for row in table[2:]] == expected
    assert [section.get("class") for section in page.all("section")] == ["task"] * 3


def split(row):
    """Cut a row of a table at the bars that no backslash stands before."""
    cells = re.findall(r"\|((?:[^\\|]|\\.)*)(?=\|)", row)
    return [cell.strip() for cell in cells]


def unescaped(cell):
    """Read a cell as Markdown does: signs with a backslash, then entities."""
    cell = re.sub(r"\\([!-/:-@\[-`{-~])", lambda sign: f"&#{ord(sign[1])};", cell)
    assert not re.search(r"[<>|*`~$\[\]]", cell), cell
    return unescape(cell)


def test_hostile_names_stay_text_in_markdown(monkeypatch):
    arms = {name: [labeled([1, 0])] for name in HOSTILE}
    hostile = {"missing": {f"{EVIL}/1": EVIL}, "notes": dict.fromkeys(HOSTILE, EVIL)}
    comparison = against(arms, monkeypatch, data=EVIL)._replace(**hostile)
    text = to_markdown(comparison)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e\ud800-\udfff]", text)
    text.encode()
    lines = text.split("\n")
    cells = [split(line) for line in lines if line.startswith("|")]
    assert {len(row) for row in cells} == {10}
    assert [unescaped(row[0]) for row in cells[2:]] == [visible(n) for n in HOSTILE]
    # Whatever is not a row begins with words of our own.
    known = ("|", "Missing", "The arm", "cats_", "Differences", "Is the", "Do these")
    assert all(line.startswith((*known, "Note on ")) for line in lines if line)
    assert sum(line.startswith("Note on ") for line in lines) == len(HOSTILE)


def test_hostile_names_and_texts_stay_text_in_the_page(both, monkeypatch):
    arms = {name: [labeled([1, 0])] for name in HOSTILE}
    hostile = {"missing": {f"{EVIL}/1": EVIL}, "notes": {EVIL: EVIL}}
    many = against(arms, monkeypatch, data=EVIL)._replace(**hostile)
    html = to_html({EVIL: both._replace(data=EVIL, notes={EVIL: EVIL}), "x": many})
    page = Page(html)
    kinds = {tag for tag, _ in page.elements}
    assert not kinds & {"script", "link", "iframe", "object", "svg"}
    assert all(image["src"].startswith(IMAGE) for image in page.all("img"))
    assert not [key for _, attrs in page.elements for key in attrs if key[:2] == "on"]
    assert page.text.count(clean(EVIL)) > 14
    assert "\x00" not in page.text
    html.encode()
    names = [row[0] for row in page.rows(0)]
    assert names[2:] == [" ".join(clean(name).split()) for name in HOSTILE]
    assert f"Missing {clean(EVIL)}/1: " in page.text


def test_the_page_needs_nothing_else_and_describes_its_figures(both):
    html = to_html({"task": both, "again": both._replace(trainings=[])})
    assert not re.findall(r"https?://|@import", html)
    page = Page(html)
    assert page.all("html")[0]["lang"] == "en"
    alts = [image["alt"] for image in page.all("img")[:2]]
    assert [re.search(r"base (\d\d\.\d)", alt)[1] for alt in alts] == ["62.5", "80.0"]
    assert len(page.all("caption")) == len(page.tables) > 2
    assert all("scope" in cell for cell in page.all("th"))
    targets = [attrs["href"] for attrs in page.all("a")]
    images = [attrs["src"] for attrs in page.all("img")]
    assert len(images) == 3  # of "task" two, of "again" one
    for image in images:
        svg = b64decode(image.removeprefix(IMAGE)).decode()
        linked = re.findall(r"(?:href=\"|url\()([^)\"]*)", svg)
        assert all(target.startswith("#") for target in linked)
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    named = [a["aria-labelledby"] for _, a in page.elements if "aria-labelledby" in a]
    assert {*named, *(target.removeprefix("#") for target in targets)} <= set(ids)


def test_it_is_always_the_same_and_leaves_the_style_alone(both):
    first = to_html({"task": both})
    with matplotlib.rc_context({"font.size": 40, "axes.spines.bottom": False}):
        assert to_html({"task": both}) == first
        assert matplotlib.rcParams["font.size"] == 40


def test_curves_go_as_far_as_all_runs_do():
    name = "$x_2^2$ & <b>"
    figure = curve_figure([TRAININGS[0]._replace(arm=name)], looks_of(["base", name]))
    svg = b64decode(figure.image.removeprefix(IMAGE)).decode()
    assert "$x_2^2$ &amp; &lt;b&gt;</text>" in svg
    looks = looks_of(["base", EVIL])
    # Both runs have steps 1 and 3: the mean at the end is that of 0.7 and 0.9.
    assert curve_figure(TRAININGS, looks).alt.endswith("at the end: base 80.0.")
    assert curve_figure(TRAININGS[2:], looks) is None
