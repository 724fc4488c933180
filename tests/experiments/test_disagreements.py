"""Texts on which arms disagree, with the spans of the last one marked."""

from markupsafe import escape

from spacy_spanft.experiments.disagreements import disagreements
from spacy_spanft.experiments.report import to_html

from .measured import against, labeled, scored


def numbers(sides):
    places = [[example.place for example in side.examples] for side in sides]
    return [[int(place.removeprefix("Line ")) - 1 for place in row] for row in places]


def test_disagreements_are_counted_and_ordered_by_rule(monkeypatch):
    #         last better: 0, 1, 3, 4 ; first better: 2 ; half of the runs: 5
    base = [[0, 0, 1, 0, 0, 0], [0, 1, 1, 0, 0, 1], [0, 0, 1, 0, 1, 0]]
    last = [[1, 1, 0, 1, 1, 1], [1, 1, 0, 1, 1, 0], [0, 1, 0, 1, 1, 0]]
    rights = (("base", base), ("middle", [[0] * 6]), ("last", last))
    arms = {name: [labeled(r) for r in runs] for name, runs in rights}
    sides = disagreements(against(arms, monkeypatch))
    assert [side[:3] for side in sides] == [("last", "base", 4), ("base", "last", 1)]
    # Text 4 is the one on which all six runs differ.
    assert numbers(sides) == [[4, 1, 2, 5], [3]]
    example = sides[0].examples[1]
    assert example.gold == "yes"
    assert [tuple(answer) for answer in example.answers] == [
        ("base", "no", False, "right in 0 of 3 runs"),
        ("middle", "no", False, "right in 0 of 1 runs"),
        ("last", "yes", True, "right in 2 of 3 runs"),
    ]
    assert [words for words, mark in example.pieces if mark] == ["text"]
    # An even number of runs, half of which are right, is on nobody's side.
    few = {name: runs[:2] for name, runs in arms.items() if name != "middle"}
    assert numbers(disagreements(against(few, monkeypatch))) == [[1, 4, 5], [3]]


def test_disagreements_of_scores(monkeypatch):
    gold = [1.0, 2.0, 3.0, 4.0]
    arms = {
        "base": [scored(gold, [1.0, 3.0, 3.0, 4.5])],
        "last": [scored(gold, [1.5, 2.0, 3.0, 4.25])],
    }
    both = against(arms, monkeypatch)
    sides = disagreements(both)
    assert numbers(sides) == [[2, 4], [1]]
    assert [tuple(answer)[1:] for answer in sides[0].examples[0].answers] == [
        ("3.00", None, "off by 1.00"),
        ("2.00", None, "off by 0.00"),
    ]


def test_long_texts_are_cut_and_texts_escaped(monkeypatch):
    text = '<b onclick="x">&amp;\n' * 100
    spans = [(0, 9), (10, 14), (590, 605), (1000, 1004)]
    arms = {
        "base": [labeled([0], [text], spans=[[]])],
        "last": [labeled([1], [text], spans=[spans])],
    }
    both = against(arms, monkeypatch)
    pieces = disagreements(both)[0].examples[0].pieces
    assert "".join(words for words, _ in pieces) == f"{text[:600]}…"
    # One goes over the end, one is behind it.
    marks = [(words, mark["kind"]) for words, mark in pieces if mark]
    assert marks == [(text[:9], "odd"), (text[10:14], "even")]
    page = to_html({"": both})
    assert f'<mark class="even">{escape(text[10:14])}</mark>' in page
    assert "<b onclick" not in page
