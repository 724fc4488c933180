"""The metrics of comparisons: against spaCy's Scorer, and which one is the default."""

import pickle
from contextlib import nullcontext

import numpy as np
import pytest
import spacy
import srsly
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from spacy_spanft.errors import SpanftError
from spacy_spanft.experiments.evaluating import evaluate
from spacy_spanft.experiments.metrics import NOTHING, metric_of
from spacy_spanft.experiments.task_data import read_examples

CATS = [f"cats_{average}_{end}" for average in ("micro", "macro") for end in "prf"]
CATS.append("cats_score")
SCORER = {"@scorers": "spacy-spanft.classification_scorer.v1"}


def make(factory, labels, **config):
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
    names = [*CATS, "cats_accuracy", "cats_matthews"] + ["cats_f1"] * bool(positive)
    check(nlp, component, random_cats(labels, True), names)
    meaning = "F (A)" if positive and len(labels) == 2 else "macro F"
    assert (metric_of(nlp).name, metric_of(nlp).meaning) == ("cats_score", meaning)


def test_exclusive_labels_of_spacys_own_scorer():
    nlp, component = make("textcat", ["A", "B"])
    component.cfg["positive_label"] = "B"
    check(nlp, component, random_cats(["A", "B"], True), CATS)
    assert metric_of(nlp, "cats_score").meaning == "F (B)"
    assert metric_of(nlp, "cats_f1").meaning == "F1 (B)"
    assert metric_of(nlp, "cats_f1", "A").meaning == "F1 (A)"


@pytest.mark.parametrize("threshold", [0.5, 0.3, 0.0])
def test_several_labels(threshold):
    labels = ["A", "B", "C", "never"]
    nlp, component = make("textcat_multilabel", labels, threshold=threshold)
    examples = random_cats(labels[:3], False)
    check(nlp, component, examples, [*CATS, "cats_macro_auc"])


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


def test_the_metric_with_the_highest_weight_is_taken():
    nlp, _ = make("textcat", "AB")
    weights = {"cats_score": 0.2, "cats_macro_r": 0.8, "cats_accuracy": None}
    nlp.config["training"]["score_weights"] = weights
    assert metric_of(nlp).name == "cats_macro_r"
    nlp.config["training"]["score_weights"] = {"tag_acc": 0.6, "cats_score": 0.4}
    with pytest.raises(SpanftError, match="'here' has no metric 'tag_acc'"):
        metric_of(nlp, path="here")
    nlp.remove_pipe("textcat")
    with pytest.raises(SpanftError, match="'here' predicts no labels or scores of te"):
        metric_of(nlp, path="here")


@pytest.mark.parametrize(
    ("factory", "config", "expected"),
    [
        ("textcat", {}, "Z"),
        ("textcat_multilabel", {"threshold": 0.4}, "X, Z"),
        ("text_regressor", {"label": "X"}, "0.46"),
        ("ner", {}, "a b (X), d (Y)"),
        ("spancat", {}, "a b (X), d (Y)"),
    ],
)
def test_answers_in_words(factory, config, expected):
    is_number = factory == "text_regressor"
    nlp, _ = make(factory, "" if is_number else "XYZ", **config)
    answer = metric_of(nlp, "cats_pearson" if is_number else None).answer
    doc = nlp.make_doc("a b c d")
    assert answer(doc) == NOTHING
    doc.cats = {"X": 0.456, "Y": 0.0, "Z": 1.0}
    doc.ents = [Span(doc, 0, 2, "X"), Span(doc, 3, 4, "Y")]
    doc.spans["sc"] = list(doc.ents)[::-1]
    assert answer(doc) == expected


@pytest.mark.parametrize(
    ("factory", "names"),
    [
        ("textcat", ["macro_f", "micro_f"]),
        ("textcat_multilabel", ["macro_f", "macro_auc", "micro_f"]),
        ("text_regressor", ["pearson", "spearman"]),
        ("spancat", ["p", "r", "f"]),
        ("ner", ["p", "r", "f"]),
    ],
)
def test_evaluate_scores_as_spacy_does(factory, names, tmp_path):
    random = np.random.default_rng(0)
    is_number = factory == "text_regressor"
    config = {"threshold": 0.0} if factory == "spancat" else {}
    nlp, _ = make(factory, "" if is_number else "AB", **config)
    docs = []
    for i in range(20):
        doc = nlp.make_doc(f"{'good' if i % 2 else 'bad'} film {i}")
        label = str(random.choice(["A", "B", "new"]))
        doc.cats = {"score": random.random()} if is_number else {label: 1.0}
        doc.ents = [Span(doc, 0, 2, label)]
        doc.spans["sc"] = [Span(doc, 0, 2, label), Span(doc, 2, 3, "A")]
        docs.append(doc)
    DocBin(docs=docs).to_disk(tmp_path / "gold.spacy")
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in docs]
    nlp.initialize((lambda: examples) if is_number else None)
    warned = pytest.warns(
        UserWarning, match="labels that the pipeline never predicts: 'new'"
    )
    with warned if factory.startswith("textcat") else nullcontext():
        evaluation = evaluate(nlp, str(tmp_path / "gold.spacy"))
    expected = nlp.evaluate(examples)
    prefix = {"spancat": "spans_sc", "ner": "ents"}.get(factory, "cats")
    scores = {name: expected[f"{prefix}_{name}"] for name in names}
    measured = {name: evaluation.scores[f"{prefix}_{name}"] for name in names}
    assert measured == pytest.approx(scores)
    if is_number:
        predicted = [nlp(doc.text).cats["score"] for doc in docs]
        errors = np.abs(np.array(predicted) - [doc.cats["score"] for doc in docs])
        assert evaluation.scores["cats_mae"] == pytest.approx(errors.mean())
    by_label = expected.get(f"{prefix}_f_per_type", expected.get(f"{prefix}_per_type"))
    for label, score in (by_label or {}).items():
        assert score.items() <= evaluation.labels[label].items()


def test_evaluate_scores_what_the_data_have(tmp_path):
    nlp, _ = make("textcat", "AB")
    nlp.add_pipe("ner").add_label("X")
    nlp.initialize()

    def scores(path, cats=(), ents=None):
        doc = Doc(nlp.vocab, ["a", "film"], ents=ents)
        doc.cats = dict(cats)
        DocBin(docs=[doc]).to_disk(tmp_path / path)
        return evaluate(nlp, str(tmp_path / path)).scores

    cats, ents = {"A": 1.0, "B": 0.0}.items(), ["O", "B-X"]
    assert "cats_macro_f" in scores("cats.spacy", cats=cats)
    assert "ents_f" in scores("ents.spacy", ents=ents)
    row = {"text": "a film", "spans": [{"start": 2, "end": 6, "label": "X"}]}
    srsly.write_jsonl(tmp_path / "ents.jsonl", [row])
    assert "ents_f" in evaluate(nlp, str(tmp_path / "ents.jsonl")).scores
    with pytest.warns(UserWarning, match="Only 'cats' is scored.*scores 'ents', on"):
        scores("both.spacy", cats=cats, ents=ents)
    nlp.remove_pipe("ner")
    (tmp_path / "t.conll").write_text("a B-X\n")
    with pytest.raises(SpanftError, match="which classifies or scores texts"):
        evaluate(nlp, str(tmp_path / "t.conll"))


def test_texts_with_an_unknown_label_count_for_no_other(tmp_path):
    nlp, _ = make("textcat", "AB")
    nlp.initialize()
    rows = [{"text": f"text {i}", "label": label} for i, label in enumerate("AABBCC")]
    srsly.write_jsonl(tmp_path / "t.jsonl", rows)

    def answer(docs, scores):
        for doc in docs:
            right = rows[int(doc[1].text)]["label"]
            doc.cats = {"A": float(right == "A"), "B": float(right != "A")}

    nlp.get_pipe("textcat").set_annotations = answer
    with pytest.warns(UserWarning, match="never predicts: 'C'"):
        evaluation = evaluate(nlp, str(tmp_path / "t.jsonl"))
    assert evaluation.scores["cats_accuracy"] == pytest.approx(4 / 6)
    by_label = {x: (v["p"], v["r"]) for x, v in evaluation.labels.items()}
    assert by_label == {"A": (1, 1), "B": (0.5, 1), "C": (0, 0)}
    # Of such a text, only what textcat does not know is left.
    doc = nlp.make_doc("text")
    doc.cats = {"A": 0.0, "B": 0.0, "C": 1.0, "score": 0.0}
    DocBin(docs=[doc]).to_disk(tmp_path / "t.spacy")
    (example,) = read_examples(nlp, str(tmp_path / "t.spacy"))
    assert example.reference.cats == {"C": 1.0, "score": 0.0}


def test_scores_are_no_labels_and_have_a_scale(tmp_path):
    path = tmp_path / "t.jsonl"
    srsly.write_jsonl(path, [{"text": f"text {i}", "score": 9.0 * i} for i in range(4)])
    nlp, _ = make("text_regressor", "", low=0.0, high=10.0)
    doc = nlp.make_doc("text")
    doc.cats = {"score": 1.0}
    nlp.initialize(lambda: [Example(nlp.make_doc("text"), doc)])
    with pytest.warns(
        UserWarning, match="from 0 to 27, and the pipeline predicts 0 to"
    ):
        evaluate(nlp, str(path))
    DocBin(docs=[doc]).to_disk(tmp_path / "t.spacy")
    nlp, _ = make("textcat", "AB")
    nlp.initialize()
    with pytest.raises(SpanftError, match=r"labels 'score', and .* knows none of them"):
        evaluate(nlp, str(tmp_path / "t.spacy"))
