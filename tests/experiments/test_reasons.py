"""Why an arm answers as it does, on the page of a comparison."""

import re
from concurrent.futures.process import BrokenProcessPool

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_spanft import NgramDictionary
from spacy_spanft.errors import SpanftError
from spacy_spanft.experiments.comparison import comparing
from spacy_spanft.experiments.comparison.measure import measure
from spacy_spanft.experiments.metrics.choice import metric_of
from spacy_spanft.experiments.report import reasons as why
from spacy_spanft.experiments.report.page import to_html
from spacy_spanft.experiments.report.reasons import Why, reasons, reasons_in_subprocess
from spacy_spanft.explanation import explain

from ..commands import run
from ..explanation.test_explanation import MODELS, shake
from ..ml.test_textcat import TOKENS, examples_for, make, train
from ..tiny import save_bert
from .measured import Page, against, labeled

TEXTS = ["this film is very good .", "new york city is a bad city", "good"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A pipeline over spans, another that answers otherwise, and test data."""
    folder = tmp_path_factory.mktemp("reasons")
    nlp = make(save_bert(folder / "bert"), MODELS["cnn-cnn"], window=12)
    train(nlp, examples_for(nlp), steps=8, rate=0.01)
    shake(nlp.get_pipe("textcat").model)
    nlp.to_disk(folder / "spans")
    docs = list(nlp.pipe(TEXTS))
    W = nlp.get_pipe("textcat").model.get_ref("output_layer")
    W.set_param("W", -W.get_param("W"))
    W.set_param("b", -W.get_param("b"))
    nlp.to_disk(folder / "turned")
    for doc in docs:
        best = max(doc.cats, key=doc.cats.get)
        doc.cats = {label: float(label == best) for label in doc.cats}
    store = DocBin()
    for doc in docs:
        bare = nlp.make_doc(doc.text)
        bare.cats = doc.cats
        store.add(bare)
    store.to_disk(folder / "test.spacy")
    return folder


def test_why_not_the_right_label(folder):
    nlp = spacy.load(folder / "spans")
    golds = ["B", "A", "neither"]
    found = reasons(
        str(folder / "spans"), "textcat", list(zip(TEXTS, golds, strict=True))
    )
    for told, text in zip(found, TEXTS, strict=True):
        expected = explain(nlp, text)
        assert told.label == expected.label
        assert {told.label, told.against} == {"A", "B"}
        of = expected.of(told.label, told.against)
        assert told.total == pytest.approx(of.total, abs=1e-5)
        total = sum(added for _, added in told.phrases) + told.rest
        assert total == pytest.approx(told.total, abs=1e-5)
        sizes = [abs(added) for _, added in told.phrases]
        assert sizes == sorted(sizes, reverse=True)
        assert len(sizes) <= 5


def test_what_cannot_be_explained(folder, tmp_path):
    nlp = spacy.blank("en")
    nlp.to_disk(tmp_path / "blank")
    assert reasons(str(tmp_path / "blank"), "textcat", [("good", "A")]) == []
    # Explanations of entities are no reasons for the label of a text.
    nlp.add_pipe("bilou_ner").add_label("GPE")
    nlp.initialize()
    nlp.to_disk(tmp_path / "entities")
    assert reasons(str(tmp_path / "entities"), "bilou_ner", [("good", "A")]) == []
    asked = "textcat", [("good", "A")]
    assert reasons_in_subprocess("predictions.jsonl", *asked) == []
    assert reasons_in_subprocess("nowhere", "textcat", []) == []


@pytest.mark.parametrize("error", [BrokenProcessPool("died"), SpanftError("gone")])
def test_a_page_without_reasons_is_better_than_none(monkeypatch, error):
    def fail(*args):
        raise error

    monkeypatch.setattr(why, "run_in_subprocess", fail)
    with pytest.warns(UserWarning, match=f"'model'.*{error}"):
        assert reasons_in_subprocess("model", "textcat", [("good", "A")]) == []


def test_the_component_that_was_measured(tmp_path):
    """Of two classifiers that whose metric it is; of its labels one that is wrong."""
    nlp = spacy.blank("en")
    ngrams = NgramDictionary({"new york": 2})
    nlp.add_pipe("span_segmenter").initialize(dictionary=ngrams)
    for name, labels in (("textcat", "AB"), ("textcat_multilabel", "XY")):
        own = {"tok2vec": TOKENS, "exclusive_classes": name == "textcat"}
        model = {**MODELS["cnn-cnn"], **own}
        other = nlp.add_pipe(name, config={"model": model})
        for label in labels:
            other.add_label(label)
    nlp.initialize()
    shake(other.model)
    assert metric_of(nlp, "cats_macro_f").component == "textcat_multilabel"
    assert metric_of(nlp, "cats_accuracy").component == "textcat"
    nlp.to_disk(tmp_path / "both")
    logits = explain(nlp, "good", component="textcat_multilabel").logits
    given = [label for label in logits if logits[label] > 0]
    for gold in ("X", "Y", "X, Y", "nothing"):
        (told,) = reasons(str(tmp_path / "both"), other.name, [("good", gold)])
        assert told.against is None
        assert told.total == pytest.approx(logits[told.label], abs=1e-5)
        if {*given} != {*gold.split(", ")} - {"nothing"}:
            assert (told.label in given) != (told.label in gold.split(", "))
    (told,) = reasons(str(tmp_path / "both"), "textcat", [("good", "A")])
    assert told.label in "AB"


def test_a_comparison_explains_its_last_arm(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(comparing, "measure_in_subprocess", measure)
    monkeypatch.setattr(
        why, "run_in_subprocess", lambda function, *args: function(*args)
    )
    arms = [f"{name}={folder / name}" for name in ("turned", "spans")]
    data = ("--data", folder / "test.spacy", "--n-resamples", 9)
    run("spanft", "compare", *arms, *data, "--output", tmp_path)
    text = Page((tmp_path / "comparison.html").read_text("utf8")).text
    said = re.findall(r"Why (\w) and not (\w) \(([+\d.]+) in all, in the first", text)
    assert len(said) == len(TEXTS)
    expected = [
        why.total for why in reasons(str(folder / "spans"), "textcat", _golds(folder))
    ]
    shown = sorted(float(total) for _, _, total in said)
    assert shown == pytest.approx(sorted(expected), abs=0.006)


def _golds(folder):
    nlp = spacy.load(folder / "spans")
    docs = DocBin().from_disk(folder / "test.spacy").get_docs(nlp.vocab)
    return [(doc.text, max(doc.cats, key=doc.cats.get)) for doc in docs]


def test_phrases_are_text_in_the_page(monkeypatch):
    evil = "<script>alert(1)</script>"
    both = {"base": [labeled([0, 1])], "last": [labeled([1, 1])]}
    found = against(both, monkeypatch)
    asked = []

    def explain_texts(texts):
        asked.extend(texts)
        return [Why(evil, None, -0.5, [(evil, 0.004), (evil, -0.504)], 0.0)]

    html = to_html({"task": found}, explain={"task": explain_texts})
    assert asked == [("text number 0", found.arms[1].runs[0].gold[0])]
    assert evil not in html
    page = " ".join(Page(html).text.split())
    assert f"Why {evil} (−0.50 in all" in page
    assert f"{evil} 0.00, {evil} −0.50, all else 0.00" in page
