"""What a comparison found, in words: headlines, and texts on which arms disagree."""

import numpy as np
import pytest

from spacy_spanft.experiments.comparison.comparing import Arm, Comparison
from spacy_spanft.experiments.metrics.scoring import f_score
from spacy_spanft.experiments.report.disagreement import disagreements
from spacy_spanft.experiments.report.headline import caveats, headline
from spacy_spanft.experiments.report.markdown import to_markdown
from spacy_spanft.experiments.report.page import to_html
from spacy_spanft.experiments.statistics.methods import MethodDifference
from spacy_spanft.experiments.statistics.significance import Difference, holm_adjusted

from .measured import Page, against, labeled, scored


def told(method, scores=(0.8, 0.9), std=0.0, n_others=1, models_p=0.01):
    """Tell of arms whose runs have these scores, with a difference made up."""
    runs = [[labeled([1])._replace(score=s + d) for d in (-std, std)] for s in scores]
    models = Difference(method.mean, method.low, method.high, models_p)
    others = [
        Arm(f"other{i}", runs[1], models, method._replace(p=method.p + 0.9 * (i > 0)))
        for i in range(n_others)
    ]
    return Comparison("cats_accuracy", "test", 5000, [Arm("base", runs[0]), *others])


def said(mean=0.1, low=0.05, high=0.15, p=0.01, **more):
    usual = {"is_paired": True, "runs_needed": 3, "epsilon": None}
    return MethodDifference(mean, low, high, p, **{**usual, **more})


@pytest.mark.parametrize(
    ("comparison", "expected"),
    [
        (
            told(said()),
            "other0 scores highest, 90.0 ± 0.0 against 80.0 ± 0.0 of base: 10.0 points "
            "more (95% interval +5.0 to +15.0), which is significant (p = 0.010).",
        ),
        (
            told(said(p=0.2)),
            "which may be chance: it is not significant (p = ",
        ),
        (
            told(said(), n_others=2),
            "which is significant (p = 0.010; p = 0.020 after Holm’s correction for 2 "
            "comparisons)",
        ),
        (
            told(said(p=0.03), n_others=2),
            "which is not significant once corrected (p = 0.030; p = 0.060",
        ),
        (
            told(said(-0.1, -0.15, -0.05), (0.9, 0.8)),
            "No arm scores higher than base, 90.0 ± 0.0; other0 comes nearest, 10.0 "
            "points lower (95% interval −15.0 to −5.0), which is significant",
        ),
        (told(said(0.0004)), ": less than 0.1 points more"),
        (told(said(0.0, 0.0, 0.0, 1.0)), "80.0 ± 0.0; other0 is equal."),
        (told(said(), n_others=0), "base scores 80.0 ± 0.0; there is no other arm to"),
    ],
)
def test_headlines_are_honest(comparison, expected):
    assert expected in headline(comparison).replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("comparison", "expected"),
    [
        (told(said()), []),
        (
            told(said(p=0.2, runs_needed=7)),
            [
                "These very models do differ",
                "If the difference is as large as that, 7 ",
            ],
        ),
        (
            told(said(p=0.03, runs_needed=7), n_others=2, models_p=0.2),
            ["If the difference is as large as that, 7 runs of each arm would show it"],
        ),
        (
            told(said(p=0.2, runs_needed=None), models_p=0.2),
            ["If the difference is as large as that, 5,000 texts are too few"],
        ),
        (
            told(said(epsilon=0.123)),
            ["Almost stochastic order: ε ≤ 0.12 (below 0.5 the scores of other0 are"],
        ),
        (told(said(-0.1, -0.2, -0.05, epsilon=0.9), (0.9, 0.8)), []),
        (told(said(), n_others=0), []),
    ],
)
def test_caveats(comparison, expected):
    found = caveats(comparison)
    assert len(found) == len(expected)
    for sentence, begin in zip(found, expected, strict=True):
        assert sentence.startswith(begin)


def test_a_single_run_says_nothing_of_the_method(monkeypatch):
    arms = {"base": [labeled([0] * 20)], "last": [labeled([1] * 20)]}
    found = against(arms, monkeypatch)
    assert found.arms[1].method is None
    sentence = "Is the method better? That cannot be said of arms with one run"
    assert sentence in headline(found)
    assert sentence in to_markdown(found)
    assert sentence in Page(to_html({"": found})).text
    assert "significant" not in headline(found)


def test_holm():
    assert holm_adjusted([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm_adjusted([0.5, 0.001]) == pytest.approx([0.5, 0.002])
    assert holm_adjusted([0.9, 0.8]) == [1.0, 1.0]
    assert holm_adjusted([]) == []


def test_disagreements_are_counted_and_chosen_by_rule(monkeypatch):
    #         last better: 0, 1, 3, 4 ; first better: 2 ; half of the runs: 5
    base = [[0, 0, 1, 0, 0, 0], [0, 1, 1, 0, 0, 1], [0, 0, 1, 0, 1, 0]]
    last = [[1, 1, 0, 1, 1, 1], [1, 1, 0, 1, 1, 0], [0, 1, 0, 1, 1, 0]]
    middle = [[0] * 6]
    arms = {"base": base, "middle": middle, "last": last}
    made = {name: [labeled(r) for r in runs] for name, runs in arms.items()}
    found = disagreements(against(made, monkeypatch))
    assert [(side.better, side.worse, side.n) for side in found] == [
        ("last", "base", 4),
        ("base", "last", 1),
    ]
    # Text 4 is the one on which all six runs differ.
    assert [one.number for one in found[0].shown] == [4, 1, 2, 5]
    assert [one.number for one in found[1].shown] == [3]
    shown = found[0].shown[1]
    assert shown.gold == "yes"
    assert [tuple(answer) for answer in shown.answers] == [
        ("base", "no", False, "right in 0 of 3 runs"),
        ("middle", "no", False, "wrong"),
        ("last", "yes", True, "right in 2 of 3 runs"),
    ]
    assert [tuple(piece) for piece in shown.pieces] == [
        ("text", 0),
        (" number 0", None),
    ]
    few = disagreements(against(made, monkeypatch), n_shown=2)
    assert [[one.number for one in side.shown] for side in few] == [[4], [3]]
    assert [side.n for side in few] == [4, 1]
    # An even number of runs, half of which are right, is on nobody's side.
    made = {name: runs[:2] for name, runs in made.items() if name != "middle"}
    found = disagreements(against(made, monkeypatch))
    assert [[one.number for one in side.shown] for side in found] == [[1, 4, 5], [3]]
    assert disagreements(against({"base": made["base"]}, monkeypatch)) == []


def test_disagreements_of_scores_and_of_spans(monkeypatch):
    gold = [1.0, 2.0, 3.0, 4.0]
    arms = {
        "base": [scored(gold, [1.0, 3.0, 3.0, 4.5])],
        "last": [scored(gold, [1.5, 2.0, 3.0, 4.25])],
    }
    both = against(arms, monkeypatch)
    found = disagreements(both)
    assert [[one.number for one in side.shown] for side in found] == [[2, 4], [1]]
    answers = found[0].shown[0].answers
    assert [(a.words, a.is_right, a.remark) for a in answers] == [
        ("3.00", None, "off by 1.00"),
        ("2.00", None, "off by 0.00"),
    ]
    assert (
        "Where last is nearer and base is further off: 2 of 4"
        in Page(to_html({"": both})).text
    )
    rows = [np.array([[1, 0, 0], [1, 1, 0]]), np.array([[1, 0, 0], [1, 0, 0]])]
    arms = {
        name: [
            labeled([1, 1])._replace(
                metric="ents_f",
                rows=r,
                score_of=f_score,
                score=f_score(r),
                wrong=r[:, 1:].any(axis=1),
            )
        ]
        for name, r in zip(("base", "last"), rows, strict=True)
    }
    found = disagreements(against(arms, monkeypatch))
    assert [[one.number for one in side.shown] for side in found] == [[2], []]


def test_long_texts_are_cut_and_odd_spans_left_out(monkeypatch):
    text = "word " * 400
    spans = [(0, 9), (5, 14), (10, 14), (590, 605), (1000, 1004)]
    arms = {
        "base": [labeled([0], [text], spans=[[]])],
        "last": [labeled([1], [text], spans=[spans])],
    }
    shown = disagreements(against(arms, monkeypatch))[0].shown[0]
    # In front of the last white space that has a place.
    assert "".join(piece.text for piece in shown.pieces) == text[:599]
    assert shown.n_left_out == len(text) - 599
    # One overlaps another, one goes over the end, one is behind it.
    marked = [piece for piece in shown.pieces if piece.span is not None]
    assert [piece.text for piece in marked] == [text[:9], text[10:14]]
