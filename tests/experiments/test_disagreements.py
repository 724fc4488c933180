"""Texts on which arms disagree, and why the last one answers as it does."""

import re
from concurrent.futures.process import BrokenProcessPool

import numpy as np
import pytest
import spacy
from spacy.tokens import DocBin
from spacy.util import escape_html

from spacy_spanft import NgramDictionary
from spacy_spanft.errors import SpanftError
from spacy_spanft.experiments.comparison import comparing
from spacy_spanft.experiments.comparison.measure import measure
from spacy_spanft.experiments.metrics.choice import metric_of
from spacy_spanft.experiments.metrics.scoring import f_score
from spacy_spanft.experiments.report import disagreements as module
from spacy_spanft.experiments.report.disagreements import (
    Why,
    disagreements,
    reasons,
    reasons_in_subprocess,
)
from spacy_spanft.experiments.report.html_page import to_html
from spacy_spanft.explanation import explain

from ..commands import run
from ..explanation.test_explanation import MODELS, shake
from ..ml.test_textcat import TOKENS, examples_for, make, train
from ..tiny import save_bert
from .measured import Page, against, labeled, scored

TEXTS = ["this film is very good .", "new york city is a bad city", "good"]


def numbers(sides):
    return [[example.number for example in side.examples] for side in sides]


def test_disagreements_are_counted_and_ordered_by_rule(monkeypatch):
    #         last better: 0, 1, 3, 4 ; first better: 2 ; half of the runs: 5
    base = [[0, 0, 1, 0, 0, 0], [0, 1, 1, 0, 0, 1], [0, 0, 1, 0, 1, 0]]
    last = [[1, 1, 0, 1, 1, 1], [1, 1, 0, 1, 1, 0], [0, 1, 0, 1, 1, 0]]
    rights = {"base": base, "middle": [[0] * 6], "last": last}
    arms = {name: [labeled(r) for r in runs] for name, runs in rights.items()}
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
    assert '<mark class="odd">text</mark> number 0' in example.marked
    # An even number of runs, half of which are right, is on nobody's side.
    few = {name: runs[:2] for name, runs in arms.items() if name != "middle"}
    assert numbers(disagreements(against(few, monkeypatch))) == [[1, 4, 5], [3]]
    assert disagreements(against({"base": arms["base"]}, monkeypatch)) == []


def test_disagreements_of_scores_and_of_spans(monkeypatch):
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
    expected = "Where last is nearer and base is further off: 2 of 4"
    assert expected in Page(to_html({"": both})).text
    arms = {}
    for name, second in (("base", [1, 1, 0]), ("last", [1, 0, 0])):
        rows = np.array([[1, 0, 0], second])
        wrong = rows[:, 1:].any(axis=1)
        values = {"rows": rows, "score": f_score(rows), "wrong": wrong}
        measured = labeled([1, 1])._replace(metric="ents_f", score_of=f_score, **values)
        arms[name] = [measured]
    assert numbers(disagreements(against(arms, monkeypatch))) == [[2], []]


def test_long_texts_are_cut_odd_spans_left_out_and_texts_escaped(monkeypatch):
    text = '<b onclick="x">&amp;\n' * 100
    spans = [(0, 9), (5, 14), (10, 14), (590, 605), (1000, 1004)]
    arms = {
        "base": [labeled([0], [text], spans=[[]])],
        "last": [labeled([1], [text], spans=[spans])],
    }
    marked = disagreements(against(arms, monkeypatch))[0].examples[0].marked
    page = Page(str(marked).replace("<br>", "\n"))
    assert page.text.strip() == f"{text[:600]}…"
    # One overlaps another, one goes over the end, one is behind it.
    kinds = [(tag, attrs.get("class")) for tag, attrs in page.elements]
    assert kinds == [("div", "entities"), ("mark", "odd"), ("mark", "even")]
    assert f">{escape_html(text[10:14])}</mark>" in marked


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A pipeline over spans, another that answers otherwise, and test data."""
    folder = tmp_path_factory.mktemp("reasons")
    nlp = make(save_bert(folder / "bert"), MODELS["cnn-cnn"], window=12)
    train(nlp, examples_for(nlp), steps=8, rate=0.01)
    shake(nlp.get_pipe("textcat").model)
    nlp.to_disk(folder / "spans")
    store = DocBin()
    for doc in nlp.pipe(TEXTS):
        best = max(doc.cats, key=doc.cats.get)
        bare = nlp.make_doc(doc.text)
        bare.cats = {label: float(label == best) for label in doc.cats}
        store.add(bare)
    store.to_disk(folder / "test.spacy")
    output = nlp.get_pipe("textcat").model.get_ref("output_layer")
    output.set_param("W", -output.get_param("W"))
    output.set_param("b", -output.get_param("b"))
    nlp.to_disk(folder / "turned")
    return folder


def test_reasons_add_up_to_the_difference_from_the_right_label(folder):
    nlp = spacy.load(folder / "spans")
    texts = list(zip(TEXTS, ["B", "A", "neither"], strict=True))
    whys = reasons(str(folder / "spans"), "textcat", texts)
    for why, text in zip(whys, TEXTS, strict=True):
        explanation = explain(nlp, text)
        assert why.label == explanation.label
        assert {why.label, why.against} == {"A", "B"}
        expected = explanation.of(why.label, why.against).total
        assert why.total == pytest.approx(expected, abs=1e-5)
        added = [value for _, value in why.phrases]
        assert sum(added) + why.rest == pytest.approx(why.total, abs=1e-5)
        assert added == sorted(added, key=lambda value: -abs(value))
        assert len(added) <= 5


def test_only_labels_of_texts_are_explained(tmp_path):
    nlp = spacy.blank("en")
    nlp.to_disk(tmp_path / "blank")
    texts = [("good", "A")]
    assert reasons(str(tmp_path / "blank"), "textcat", texts) == []
    nlp.add_pipe("bilou_ner").add_label("GPE")
    nlp.initialize()
    nlp.to_disk(tmp_path / "entities")
    assert reasons(str(tmp_path / "entities"), "bilou_ner", texts) == []
    assert reasons_in_subprocess("predictions.jsonl", "textcat", texts) == []


@pytest.mark.parametrize("error", [BrokenProcessPool("died"), SpanftError("gone")])
def test_a_page_without_reasons_is_better_than_none(monkeypatch, error):
    def fail(*args):
        raise error

    monkeypatch.setattr(module, "run_in_subprocess", fail)
    with pytest.warns(UserWarning, match=f"'model'.*{error}"):
        assert reasons_in_subprocess("model", "textcat", [("good", "A")]) == []


def test_the_measured_component_is_explained_by_its_wrong_label(tmp_path):
    nlp = spacy.blank("en")
    ngrams = NgramDictionary({"new york": 2})
    nlp.add_pipe("span_segmenter").initialize(dictionary=ngrams)
    for name, labels in (("textcat", "AB"), ("textcat_multilabel", "XY")):
        settings = {"tok2vec": TOKENS, "exclusive_classes": name == "textcat"}
        pipe = nlp.add_pipe(name, config={"model": {**MODELS["cnn-cnn"], **settings}})
        for label in labels:
            pipe.add_label(label)
    nlp.initialize()
    shake(pipe.model)
    assert metric_of(nlp, "cats_macro_f").component == "textcat_multilabel"
    assert metric_of(nlp, "cats_accuracy").component == "textcat"
    nlp.to_disk(tmp_path / "both")
    logits = explain(nlp, "good", component="textcat_multilabel").logits
    given = {label for label in logits if logits[label] > 0}
    for gold in ("X", "Y", "X, Y", "nothing"):
        (why,) = reasons(str(tmp_path / "both"), pipe.name, [("good", gold)])
        assert why.against is None
        assert why.total == pytest.approx(logits[why.label], abs=1e-5)
        if given != {*gold.split(", ")} - {"nothing"}:
            assert (why.label in given) != (why.label in gold.split(", "))
    (why,) = reasons(str(tmp_path / "both"), "textcat", [("good", "A")])
    assert why.label in "AB"


def test_a_comparison_explains_its_last_arm(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(comparing, "measure_in_subprocess", measure)
    monkeypatch.setattr(module, "run_in_subprocess", lambda call, *args: call(*args))
    arms = [f"{name}={folder / name}" for name in ("turned", "spans")]
    data = ("--data", folder / "test.spacy", "--n-resamples", 9)
    run("spanft", "compare", *arms, *data, "--output", tmp_path)
    text = Page((tmp_path / "comparison.html").read_text("utf8")).text
    totals = re.findall(r"Why \w and not \w \(([+\d.]+) in all, in the first", text)
    nlp = spacy.load(folder / "spans")
    docs = DocBin().from_disk(folder / "test.spacy").get_docs(nlp.vocab)
    texts = [(doc.text, max(doc.cats, key=doc.cats.get)) for doc in docs]
    expected = [w.total for w in reasons(str(folder / "spans"), "textcat", texts)]
    assert sorted(map(float, totals)) == pytest.approx(sorted(expected), abs=0.006)


def test_phrases_are_text_in_the_page(monkeypatch):
    evil = "<script>alert(1)</script>"
    arms = {"base": [labeled([0, 1])], "last": [labeled([1, 1])]}
    both = against(arms, monkeypatch)

    def explain_texts(component, texts):
        assert texts == [("text number 0", "yes")]
        return [Why(evil, None, -0.5, [(evil, 0.004), (evil, -0.504)], 0.0)]

    html = to_html({"task": both}, explain={"task": explain_texts})
    assert evil not in html
    text = " ".join(Page(html).text.split())
    assert f"Why {evil} (−0.50 in all" in text
    assert f"{evil} 0.00, {evil} −0.50, all else 0.00" in text
