"""The report of a comparison: its sentences, tables and figures, all text escaped."""

import json
import re
from html import unescape

import numpy as np
import pytest

from spacy_spanft.errors import visible
from spacy_spanft.experiments.figures import clean, score_figure
from spacy_spanft.experiments.label_tables import confusions, label_rows
from spacy_spanft.experiments.report import report, to_html
from spacy_spanft.experiments.result_tables import rows_of, to_markdown
from spacy_spanft.experiments.run_folder import Training
from spacy_spanft.experiments.significance import holm_adjusted

from .measured import Page, against, labeled

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
    Training("base", 0, 60.0),
    Training("base", 1, 180.0),
    Training(EVIL, 0, 4000.0),
]


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
    return against(arms, monkeypatch)._replace(trainings=TRAININGS)


def test_the_table_holds_the_numbers(both):
    page = Page(to_html({"a": both._replace(notes={"base": "a note"})}))
    header, *rows = (
        [*scores, *costs[1:]]
        for scores, costs in zip(page.rows(0), page.rows(1), strict=True)
    )
    arm = both.arms[1]
    method, models = (
        f"{100 * each.low:+.1f} to {100 * each.high:+.1f}".replace("-", "−")
        for each in (arm.method, arm.models)
    )
    base, ours = (dict(zip(header[1:], row[1:], strict=True)) for row in rows)
    empty = dict.fromkeys(["Difference", "p", "These checkpoints"], "–")
    assert base == {
        **{"Runs": "2", "Score": "62.5 ± 17.7", **empty, "Weights": "1.00M"},
        **{"Words/s": "1,234", "Memory": "567 MB", "Training time": "2.0 min"},
    }
    assert ours == {
        **{"Runs": "2", "Score": "100.0 ± 0.0"},
        "Difference": f"+37.5 · not significant ({method})",
        **{"p": f"{arm.method.p:.3f}", "These checkpoints": models, "Weights": "1.03M"},
        **{"Words/s": "1,500", "Memory": "567 MB", "Training time": "66.7 min"},
    }
    assert "Note on base: a note" in page.text
    assert "40 texts of test.spacy" in page.text
    assert "One run per arm" not in page.text


def test_ps_are_corrected(monkeypatch):
    assert holm_adjusted([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm_adjusted([0.5, 0.001]) == pytest.approx([0.5, 0.002])
    assert holm_adjusted([0.9, 0.8]) == [1.0, 1.0]
    assert holm_adjusted([]) == []
    rows = np.arange(40)
    arms = {"base": rows % 2, "good": rows % 40, "same": rows % 2, "c": rows % 20}
    runs = {k: [labeled(v, seed=s) for s in range(3)] for k, v in arms.items()}
    many = against(runs, monkeypatch)
    ps = holm_adjusted([arm.method.p for arm in many.arms[1:]])
    expected = ["", *(f"{p:.3f}" if p >= 0.001 else "< 0.001" for p in ps)]
    assert [row["p"] for row in rows_of(many)] == expected
    runs["c"] = runs["c"][:1]
    assert "One run per arm cannot tell" in to_markdown(against(runs, monkeypatch))


def test_three_files_are_written(both, tmp_path):
    text = report({"a": both, "b": both}, tmp_path / "out")
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == [f"comparison.{end}" for end in ("html", "json", "md")]
    assert (tmp_path / "out" / "comparison.md").read_text("utf8") == text
    assert [line for line in text.splitlines() if line[:2] == "##"] == ["## a", "## b"]
    values = json.loads((tmp_path / "out" / "comparison.json").read_text("utf8"))
    assert values["tasks"]["b"]["arms"][0]["scores"] == both.arms[0].scores


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
    assert {len(row) for row in cells} == {7}
    assert [unescaped(row[0]) for row in cells[2:]] == [visible(n) for n in HOSTILE]
    # Whatever is not a row begins with words of our own.
    known = ("|", "Missing", "One run", "cats_", "Difference", "These checkpoints")
    assert all(line.startswith((*known, "Note on ")) for line in lines if line)
    assert sum(line.startswith("Note on ") for line in lines) == len(HOSTILE)


def test_hostile_names_and_texts_stay_text_in_the_page(both, monkeypatch):
    arms = {name: [labeled([1, 0])] for name in HOSTILE}
    hostile = {"missing": {f"{EVIL}/1": EVIL}, "notes": {EVIL: EVIL}}
    many = against(arms, monkeypatch, data=EVIL)._replace(**hostile)
    html = to_html({EVIL: both._replace(data=EVIL, notes={EVIL: EVIL}), "x": many})
    page = Page(html)
    kinds = {tag for tag, _ in page.elements}
    assert not kinds & {"script", "link", "iframe", "object", "svg", "img"}
    assert not [key for _, attrs in page.elements for key in attrs if key[:2] == "on"]
    assert page.text.count(clean(EVIL)) > 12
    assert "\x00" not in page.text
    html.encode()
    tables = [[row[0] for row in page.rows(i)] for i in range(len(page.tables))]
    assert ["Arm", *(" ".join(clean(name).split()) for name in HOSTILE)] in tables
    assert f"Missing {clean(EVIL)}/1: " in page.text


def test_the_page_needs_nothing_else_and_describes_its_figures(both):
    html = to_html({"task": both, "again": both._replace(trainings=[])})
    assert not re.findall(r"https?://|@import", html)
    page = Page(html)
    assert page.all("html")[0]["lang"] == "en"
    figures = [a["aria-label"] for a in page.all("div") if a.get("role") == "img"]
    assert len(figures) == 2
    assert "base 62.5 ± 17.7" in figures[0]
    assert len(page.all("caption")) == len(page.tables) > 2
    assert all("scope" in cell for cell in page.all("th"))
    targets = [attrs["href"] for attrs in page.all("a")]
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    named = [a["aria-labelledby"] for _, a in page.elements if "aria-labelledby" in a]
    assert {*named, *(target.removeprefix("#") for target in targets)} <= set(ids)


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
    places = [*base["dots"], *ours["dots"], *ours["bar"]]
    assert 0 < min(places) < max(places) < 100
    assert 2 <= len(figure.ticks) <= 6


def test_an_uncertain_difference_is_called_not_significant(monkeypatch):
    rows = np.arange(40)
    runs = {"base": rows % 2, "same": rows % 3 > 0, "good": np.ones(40)}
    arms = {
        name: [labeled(right, seed=seed) for seed in range(2)]
        for name, right in runs.items()
    }
    _, same, good = rows_of(against(arms, monkeypatch))
    assert re.fullmatch(
        r"\+15\.0 · not significant \(−.* to \+.*\)", same["Difference"]
    )
    assert re.fullmatch(r"\+50\.0 \(\+.* to \+.*\)", good["Difference"])


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
    page = Page(to_html({"task": both}))
    assert ["yes", "1", "8"] in [row for i in range(6) for row in page.rows(i)]
    # With several labels of a text there is no matrix, but each label has its score.
    several = last._replace(gold=["no, yes"] * 10, answers=["nothing"] * 10)
    arms = {"base": [several], "last": [several._replace(answers=several.gold)]}
    joint = against(arms, monkeypatch)
    assert confusions(joint) == []
    assert label_rows(joint)[0] == ["no", "10", "0.0", "100.0"]
