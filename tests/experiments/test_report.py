"""The report of a comparison: its sentences, tables and figures, all text escaped."""

import re
from html import unescape

import numpy as np
import pytest

from spacy_spanft.errors import visible
from spacy_spanft.experiments.report import score_figure, to_html
from spacy_spanft.experiments.result_tables import (
    confusions,
    label_rows,
    rows_of,
    to_markdown,
)
from spacy_spanft.experiments.significance import holm_adjusted

from .measured import Page, against, labeled

EVIL = "<script>alert('x')</script> & \"q\" </p><img src=x onerror=y> $x^2$ 🎉\x0b\x00"
HOSTILE = [
    EVIL,
    "a|b||c\\|d\\",
    "two\nlines\r\n| x | y |\n|---|---|",
    "\x1b[31mred\x1b[0m\x07\x9b2J \u202etxt.exe \udcff \u2028line",
    "**bold** _em_ snake_case `code` ~~no~~ $x$ # ## heading #",
    "[link](javascript:alert(1)) ![](http://x) &lt;b&gt; &amp;",
    *("<!--", "-->", "]]>", "</td></tr></table>", "- item", "{{ 7 * 7 }}{% raw %}"),
]
SECONDS = {"base": [60.0, 180.0], EVIL: [4000.0]}


@pytest.fixture
def both(monkeypatch):
    """A baseline, and an arm with spans that is right where the other is wrong."""
    texts = [EVIL, *(f"text number {i}" for i in range(39))]
    rights = [np.arange(40) % k != 0 for k in (2, 4)]
    ours = [labeled(np.ones(40), texts, seed=seed) for seed in (0, 1)]
    arms = {"base": [labeled(right, texts) for right in rights]}
    arms[EVIL] = [
        run._replace(words_per_second=1000 * (run.seed + 1), n_parameters=1_031_000)
        for run in ours
    ]
    return against(arms, monkeypatch)._replace(seconds=SECONDS)


def test_the_table_holds_the_numbers(both):
    arm = both.arms[1]
    method, models = (
        f"{100 * each.low:+.1f} to {100 * each.high:+.1f}".replace("-", "−")
        for each in (arm.method, arm.models)
    )
    empty = dict.fromkeys(["Difference", "p", "These checkpoints"], "")
    base = {
        **{"Arm": "base", "Runs": "2", "Score": "62.5 ± 17.7", **empty},
        **{"Weights": "1.00M", "Words/s": "1,234", "Memory": "567 MB"},
        "Training time": "2.0 min",
    }
    ours = {
        **{"Arm": EVIL, "Runs": "2", "Score": "100.0 ± 0.0"},
        "Difference": f"+37.5 · not significant ({method})",
        **{"p": f"{arm.method.p:.3f}", "These checkpoints": models, "Weights": "1.03M"},
        **{"Words/s": "1,500", "Memory": "567 MB", "Training time": "66.7 min"},
    }
    assert rows_of(both) == [base, ours]
    texts = Page(to_html({"a": both._replace(notes={"base": "a note"})})).texts
    assert {"Note on base: a note", *filter(None, base.values())} <= {*texts}


def test_ps_are_corrected_and_called_not_significant(monkeypatch):
    assert holm_adjusted([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm_adjusted([0.9, 0.8]) == [1.0, 1.0]
    rows = np.arange(40)
    arms = {"base": rows % 2, "good": rows % 40, "same": rows % 3, "c": rows % 20}
    runs = {k: [labeled(v > 0, seed=s) for s in range(3)] for k, v in arms.items()}
    many = against(runs, monkeypatch)
    ps = holm_adjusted([arm.method.p for arm in many.arms[1:]])
    expected = ["", *(f"{p:.3f}" if p >= 0.001 else "< 0.001" for p in ps)]
    table = rows_of(many)
    assert [row["p"] for row in table] == expected
    difference = r"\+\d+\.\d"
    _, good, same, _ = (row["Difference"] for row in table)
    assert re.fullmatch(rf"{difference} \(\+.* to \+.*\)", good)
    assert re.fullmatch(rf"{difference} · not significant \(−.* to \+.*\)", same)
    runs["c"] = runs["c"][:1]
    assert "One run per arm cannot tell" in to_markdown(against(runs, monkeypatch))


def split(row):
    """Cut a row of a table at the bars that no backslash stands before."""
    cells = re.findall(r"\|((?:[^\\|]|\\.)*)(?=\|)", row)
    return [cell.strip() for cell in cells]


def unescaped(cell):
    """Read a cell as Markdown does: signs with a backslash, then entities."""
    cell = re.sub(r"\\([!-/:-@\[-`{-~])", lambda sign: f"&#{ord(sign[1])};", cell)
    assert not re.search(r"[<>|*`~$\[\]]", cell), cell
    return unescape(cell)


@pytest.fixture
def hostile(monkeypatch):
    arms = {name: [labeled([1, 0])] for name in HOSTILE}
    added = {"missing": {f"{EVIL}/1": EVIL}, "notes": dict.fromkeys(HOSTILE, EVIL)}
    return against(arms, monkeypatch, data=EVIL)._replace(**added)


def test_hostile_names_stay_text_in_markdown(hostile):
    text = to_markdown(hostile)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e\ud800-\udfff]", text)
    lines = text.split("\n")
    cells = [split(line) for line in lines if line.startswith("|")]
    assert {len(row) for row in cells} == {7}
    assert [unescaped(row[0]) for row in cells[2:]] == [visible(n) for n in HOSTILE]
    # Whatever is not a row begins with words of our own.
    known = ("|", "Missing", "One run", "cats_", "Difference", "These checkpoints")
    assert all(line.startswith((*known, "Note on ")) for line in lines if line)


def test_hostile_names_and_texts_stay_text_in_the_page(both, hostile):
    html = to_html({EVIL: both._replace(data=EVIL, notes={EVIL: EVIL}), "x": hostile})
    page = Page(html)
    kinds = {tag for tag, _ in page.elements}
    assert not kinds & {"script", "link", "iframe", "object", "svg", "img"}
    assert not [key for _, attrs in page.elements for key in attrs if key[:2] == "on"]
    assert {" ".join(name.split()) for name in HOSTILE} <= {*page.texts}


def test_the_page_needs_nothing_else_and_its_links_lead_somewhere(both):
    html = to_html({"task": both, "again": both._replace(seconds={})})
    assert not re.findall(r"https?://|@import", html)
    links = [attrs for _, attrs in Page(html).elements]
    ids = [attrs["id"] for attrs in links if "id" in attrs]
    assert len(ids) == len(set(ids))
    targets = {attrs["href"].removeprefix("#") for attrs in links if "href" in attrs}
    assert len(targets) == 2
    assert targets <= set(ids)


def test_the_figure_places_runs_means_and_intervals(both):
    figure, (first, last) = score_figure(both), both.arms
    (zero, start), (one, end) = figure.ticks[0], figure.ticks[-1]
    slope = (one - zero) / (float(end) - float(start))

    def place(value):
        return pytest.approx(zero + slope * (100 * value - float(start)))

    base, ours = figure.arms
    assert figure.line == place(first.mean)
    assert base["dots"] == [place(score) for score in first.scores]
    assert (base["mean"], base["bar"]) == (place(first.mean), [])
    ends = last.method.low, last.method.high
    assert ours["bar"] == [place(first.mean + x) for x in ends]


def test_labels_and_confusions_count_the_answers(monkeypatch):
    """The mean of the labels' F-scores is the macro F of scikit-learn's definition."""
    labels = ("no", "yes")
    base = [labeled(np.arange(10) % 5 > 0, labels=labels)] * 2  # 8 of 10 "yes"
    last = labeled(np.ones(10), labels=labels)
    last = last._replace(answers=["yes"] * 10, gold=["no", *["yes"] * 9])
    gold = ["no", *["yes"] * 9]
    base = [run._replace(gold=gold) for run in base]
    both = against({"base": base, "last": [last]}, monkeypatch)
    # base: "no" is 1 of 2 right and 1 of 1 found: 2/3; "yes": 8 of 8, and of 9: 16/17
    assert label_rows(both) == [
        ["no", "1", "66.7 ± 0.0", "0.0"],
        ["yes", "9", "94.1 ± 0.0", "94.7"],
    ]
    first, second = confusions(both)
    assert first.counts == [["1", "0"], ["1", "8"]]
    assert first.shares == pytest.approx(np.array([[1, 0], [1 / 9, 8 / 9]]))
    assert second.counts == [["0", "1"], ["0", "9"]]
    # With several labels of a text there is no matrix, but each label has its score.
    several = last._replace(gold=["no, yes"] * 10, answers=["nothing"] * 10)
    arms = {"base": [several], "last": [several._replace(answers=several.gold)]}
    joint = against(arms, monkeypatch)
    assert confusions(joint) == []
    assert label_rows(joint)[0] == ["no", "10", "0.0", "100.0"]
    commas = several._replace(labels=("no, never", "yes"), gold=["no, never, yes"] * 10)
    arms = {"base": [commas], "last": [commas._replace(answers=commas.gold)]}
    row = label_rows(against(arms, monkeypatch))[0]
    assert row == ["no, never", "10", "0.0", "100.0"]
