"""The metrics of comparisons: against spaCy's Scorer, and which one is the default."""

import pickle

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_spanft.errors import ComparisonError
from spacy_spanft.experiments.metrics import metric_of

CATS = [f"cats_{average}_{end}" for average in ("micro", "macro") for end in "prf"]
CATS.append("cats_score")
SCORER = {"@scorers": "spacy-spanft.classification_scorer.v1"}


def make(factory, labels, **config):
    """Make a pipeline of one component with these labels."""
    nlp = spacy.blank("en")
    component = nlp.add_pipe(factory, config=config)
    for label in labels:
        component.add_label(label)
    return nlp, component


def check(nlp, component, examples, names):
    """Compare each metric with the component's own scorer, for some choices of Docs."""
    expected = component.score(examples)
    drawn = np.random.default_rng(1).integers(0, len(examples), (3, len(examples)))
    again = [component.score([examples[i] for i in docs]) for docs in drawn]
    for name in names:
        metric = metric_of(nlp, name)
        rows = metric.rows(examples)
        score = pickle.loads(pickle.dumps(metric.score))
        # Since Python 3.12, sum() rounds floats better than scikit-learn's code does.
        assert score(rows) == pytest.approx(expected[name], abs=1e-12), name
        for docs, values in zip(drawn, again, strict=True):
            assert score(rows[docs]) == pytest.approx(values[name], abs=1e-12), name


def random_cats(labels, is_exclusive, n=80):
    """Make examples; some have no gold label, a new one, or an unknown one."""
    random = np.random.default_rng(0)
    nlp = spacy.blank("en")
    made = []
    for i in range(n):
        gold = dict.fromkeys(labels, 0.0)
        if is_exclusive:
            gold[str(random.choice(labels))] = 1.0
        else:
            gold = {k: float(random.random() < 0.4) for k in labels}
            gold.pop(labels[i % len(labels)]) if i % 3 == 0 else None
        if i % 10 == 0:
            gold = [{}, {**gold, "new": 2.0}][i % 20 == 0]
        # Few values, so that some are equal.
        guess = {k: round(random.random(), 1) for k in labels}
        docs = [nlp.make_doc("a b"), nlp.make_doc("a b")]
        docs[0].cats, docs[1].cats = guess, gold
        made.append(Example(*docs))
    return made


@pytest.mark.parametrize("labels", [["A", "B", "C", "D", "E"], ["A", "B"]])
@pytest.mark.parametrize("positive", [None, "A"])
def test_exclusive_labels(labels, positive):
    config = {"scorer": {**SCORER, "positive_label": positive}}
    nlp, component = make("textcat", labels, **config)
    names = (
        *CATS,
        "cats_accuracy",
        "cats_matthews",
        *(["cats_f1"] if positive else []),
    )
    examples = random_cats(labels, True)
    check(nlp, component, examples, names)
    meaning = "F (A)" if positive and len(labels) == 2 else "macro F"
    assert (metric_of(nlp).name, metric_of(nlp).meaning) == ("cats_score", meaning)


def test_exclusive_labels_of_spacys_own_scorer():
    nlp, component = make("textcat", ["A", "B"])
    component.cfg["positive_label"] = "B"
    check(nlp, component, random_cats(["A", "B"], True), CATS)
    for args, meaning in (
        (["cats_score"], "F (B)"),
        (["cats_score", "A"], "F (B)"),
        (["cats_f1"], "F1 (B)"),
        (["cats_f1", "A"], "F1 (A)"),
    ):
        assert metric_of(nlp, *args).meaning == meaning


@pytest.mark.parametrize("threshold", [0.5, 0.3, 0.0])
def test_several_labels(threshold):
    labels = ["A", "B", "C", "never"]
    nlp, component = make("textcat_multilabel", labels, threshold=threshold)
    examples = random_cats(labels[:3], False)
    check(nlp, component, examples, [*CATS, "cats_macro_auc"])
    metric = metric_of(nlp)
    assert (metric.name, metric.meaning) == ("cats_score", "macro AUC")


def random_spans(n=60):
    """Make examples with other tokens, unknown tokens, and Docs without annotation."""
    random = np.random.default_rng(0)
    vocab = spacy.blank("en").vocab
    made = []
    for i in range(n):
        both = []
        for words in (["a", "b", "cd", "e", "f"], ["a", "b", "c", "d", "ef"]):
            spaces = [w in "abd" or w == "cd" for w in words]
            doc = Doc(vocab, words=words, spaces=spaces)
            ends = sorted(random.choice(6, 4, replace=False).tolist())
            pairs = [ends[:2], ends[2:]]
            spans = [Span(doc, a, b, str(random.choice(["X", "Y"]))) for a, b in pairs]
            is_gold = bool(both)
            rest = "missing" if is_gold and i % 4 == 0 else "outside"
            if not (is_gold and i % 7 == 0):
                doc.set_ents(spans, default=rest)
            if not (i % 5 == 0 and is_gold == (i % 2 == 0)):
                doc.spans["sc"] = [*spans, Span(doc, 0, 2, "X")]
            both.append(doc)
        made.append(Example(*both))
    return made


@pytest.mark.parametrize(
    ("factory", "prefix"),
    [("ner", "ents"), ("bilou_ner", "ents"), ("spancat", "spans_sc")],
)
def test_spans(factory, prefix):
    nlp, component = make(factory, "XY")
    names = [f"{prefix}_{end}" for end in "fpr"]
    check(nlp, component, random_spans(), names)
    assert metric_of(nlp).name == names[0]


def test_scores():
    nlp, component = make("text_regressor", [])
    examples = random_cats(["score"], True)
    random = np.random.default_rng(2)
    for each in examples:
        score = each.predicted.cats["score"] + random.random()
        each.reference.cats = {"score": score}
    examples[3].reference.cats = {}
    check(nlp, component, examples, ["cats_pearson", "cats_spearman"])


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ({"cats_score": 0.2, "cats_macro_r": 0.8, "cats_accuracy": None}, "macro_r"),
        # Of those with the same weight, one that is known.
        ({"tag_acc": 0.5, "cats_score": 0.5}, "score"),
    ],
)
def test_the_metric_with_the_highest_weight_is_taken(weights, expected):
    nlp, _ = make("textcat", "AB")
    nlp.config["training"]["score_weights"] = weights
    assert metric_of(nlp).name == f"cats_{expected}"
    assert metric_of(nlp, "cats_accuracy").name == "cats_accuracy"


@pytest.mark.parametrize(
    ("factory", "weights", "expected"),
    [
        (
            "textcat",
            {"tag_acc": 0.6, "cats_score": 0.4},
            "metric 'tag_acc' .*: cats",
        ),
        ("textcat", {"cats_score": None}, "'here' has no metric ''"),
        ("sentencizer", {}, "--metric, one of: nothing"),
    ],
)
def test_an_unknown_metric_is_refused(factory, weights, expected):
    nlp, _ = make(factory, "AB" if factory == "textcat" else "")
    nlp.config["training"]["score_weights"] = weights
    with pytest.raises(ComparisonError, match=expected):
        metric_of(nlp, path="here")


def example(nlp, **both):
    """Make an example of what is right and what is predicted."""
    docs = []
    for cats, spans in both.values():
        doc = nlp.make_doc("a b c d")
        doc.cats = cats
        doc.ents = [Span(doc, *span) for span in spans]
        doc.spans["sc"] = list(doc.ents)[::-1]
        docs.append(doc)
    return Example(docs[1], docs[0])


@pytest.mark.parametrize(
    ("factory", "config", "expected"),
    [
        ("textcat", {}, ("X", "Y")),
        ("textcat_multilabel", {"threshold": 0.4}, ("X, Z", "X, Y")),
        ("text_regressor", {"label": "X"}, ("1.00", "0.46")),
        ("ner", {}, ("a b (X), d (Y)", "a (X)")),
        ("spancat", {}, ("a b (X), d (Y)", "a (X)")),
    ],
)
def test_answers_in_words(factory, config, expected):
    name = "cats_pearson" if factory == "text_regressor" else None
    nlp, _ = make(factory, "XYZ" if factory != "text_regressor" else "", **config)
    gold = ({"X": 1.0, "Y": 0.0, "Z": 1.0}, [(0, 2, "X"), (3, 4, "Y")])
    guess = ({"X": 0.456, "Y": 0.5, "Z": 0.1}, [(0, 1, "X")])
    answers = metric_of(nlp, name).answers
    assert answers(example(nlp, gold=gold, guess=guess)) == expected
    empty = {"gold": ({}, []), "guess": ({}, [])}
    assert answers(example(nlp, **empty)) == ("nothing", "nothing")
