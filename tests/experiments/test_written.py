"""Predictions in files: scored as those of the pipeline that made them, or refused."""

import functools
import json

import numpy as np
import pytest
import spacy
from spacy.tokens import DocBin, Span
from spacy.training import Example

from spacy_spanft.errors import SpanftError
from spacy_spanft.experiments.comparison import compare
from spacy_spanft.experiments.measuring import Setup, measure
from spacy_spanft.experiments.result_tables import to_markdown

from .measured import BOW

WORDS = ["good", "bad", "New York", "(city)", "very", "so"]
TEXTS = [f"{first} {second}" for first in WORDS for second in WORDS]
MANY = {**BOW, "exclusive_classes": False}
SETTINGS = {
    "ner": {},
    "spancat": {"spans_key": "sc", "threshold": 0.4},
    "text_regressor": {"model": MANY, "high": 5.0},
    "textcat": {"model": BOW, "threshold": 0.3},
    "textcat_multilabel": {"model": MANY, "threshold": 0.3},
}
FACTORIES = {
    "cats_matthews": "textcat",
    "cats_macro_f": "textcat_multilabel",
    "cats_macro_auc": "textcat_multilabel",
    "ents_f": "ner",
    "spans_sc_f": "spancat",
    "cats_pearson": "text_regressor",
}


def write(path, rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf8")
    return path


def read(path):
    return [json.loads(line) for line in path.read_text("utf8").splitlines()]


def shake(model):
    """Fill what begins with zeros, so that something is predicted."""
    chance = np.random.default_rng(1)
    for node in model.walk():
        for name in node.param_names:
            if node.has_param(name) and not node.get_param(name).any():
                values = chance.normal(size=node.get_param(name).shape)
                node.set_param(name, values.astype("f"))


def annotate(doc, factory, chance):
    """Write random right answers on a Doc."""
    labels = ["PLACE", "THING"]
    spans = [
        Span(doc, i, i + 1, labels[chance.integers(2)])
        for i in range(len(doc))
        if chance.random() < 0.5
    ]
    if factory == "ner":
        doc.ents = spans
    elif factory == "spancat":
        doc.spans["sc"] = spans
    elif factory == "text_regressor":
        doc.cats = {"score": float(chance.random() * 5)}
    else:
        best = chance.integers(3)
        doc.cats = {label: float(i == best) for i, label in enumerate("ABC")}
    return doc


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Save a pipeline, data with random annotations, and what it predicts of them."""

    @functools.cache
    def save(factory):
        folder = tmp_path_factory.mktemp(factory)
        spacy.util.fix_random_seed(0)
        nlp = spacy.blank("en")
        pipe = nlp.add_pipe(factory, config=SETTINGS[factory])
        labels = {"ner": ("PLACE", "THING"), "spancat": ("PLACE", "THING")}
        for label in labels.get(factory, "ABC"):
            if factory != "text_regressor":
                pipe.add_label(label)
        chance = np.random.default_rng(3)
        docs = [annotate(nlp.make_doc(text), factory, chance) for text in TEXTS]
        nlp.initialize(lambda: [Example(nlp.make_doc(doc.text), doc) for doc in docs])
        shake(pipe.model)
        DocBin(docs=docs).to_disk(folder / "test.spacy")
        nlp.to_disk(folder / "model")
        key = {"ner": "ents", "spancat": "spans"}.get(factory, "cats")
        predicted = [nlp(text).to_json() for text in TEXTS]
        rows = [{"text": doc["text"], key: doc[key]} for doc in predicted]
        write(folder / "own.jsonl", rows)
        return folder

    return save


@pytest.fixture
def labels(saved):
    return saved("textcat")


def measured(folder, rows, metric=None):
    path = write(folder / "made.jsonl", rows)
    setup = Setup(f"{folder}/test.spacy", metric, reference=f"{folder}/model")
    return measure([str(path)], setup)


@pytest.mark.parametrize("metric", FACTORIES)
def test_a_pipelines_own_predictions_have_its_score(saved, metric):
    folder = saved(FACTORIES[metric])
    setup = Setup(f"{folder}/test.spacy", metric, reference=f"{folder}/model")
    expected = measure([f"{folder}/model"], setup)
    written = measure([f"{folder}/own.jsonl"], setup)
    assert len(set(expected.answers)) > 1
    assert np.array_equal(written.rows, expected.rows, equal_nan=True)
    for name in ("answers", "score", "texts", "gold"):
        assert getattr(written, name) == getattr(expected, name)
    for name in ("n_parameters", "words_per_second", "peak_memory", "spans_per_doc"):
        assert getattr(written, name) is None
    assert written.seed is None
    if metric == "cats_pearson":
        rows = read(folder / "own.jsonl")
        alone = [{"text": row["text"], "score": row["cats"]["score"]} for row in rows]
        assert measured(folder, alone, metric).score == written.score


@pytest.mark.usefixtures("at_once")
def test_arms_of_both_kinds(labels):
    rows = read(labels / "own.jsonl")
    best = [max(row["cats"], key=row["cats"].get) for row in rows]
    chosen = [{"text": r["text"], "label": b} for r, b in zip(rows, best, strict=True)]
    write(labels / "chosen.jsonl", chosen)
    arms = {"file": [labels / "chosen.jsonl"], "pipeline": [labels / "model"]}
    compared = compare(arms, labels / "test.spacy", metric="cats_accuracy")
    file, pipeline = compared.arms
    assert file.scores == pipeline.scores
    assert pipeline.models.mean == 0.0
    values = compared.to_json()["arms"]
    unknown = ("n_parameters", "words_per_second", "peak_memory", "parameters_added")
    assert {values[0][name] for name in unknown} == {None}
    assert values[1]["n_parameters"] > 0
    # Nobody knows how much more that is.
    assert values[1]["parameters_added"] is None
    table = [line.split(" | ") for line in to_markdown(compared).split("\n")[4:6]]
    assert table[0][6:8] == ["", ""]
    assert "" not in table[1][6:9]
    with pytest.raises(SpanftError, match=r"there is none. Name one beside .*own"):
        compare({"a": [labels / "own.jsonl"]}, labels / "test.spacy")


@pytest.mark.usefixtures("at_once")
def test_copies_are_no_runs_of_their_own(labels, tmp_path):
    data = labels / "test.spacy"
    copies = [write(tmp_path / f"{i}.jsonl", read(labels / "own.jsonl")) for i in "ab"]
    with pytest.warns(UserWarning, match="Runs of 'files' have the same"):
        compare({"one": [labels / "model"], "files": copies}, data)
    nlp = spacy.load(labels / "model")
    output = nlp.get_pipe("textcat").model.get_ref("output_layer")
    output.set_param("b", output.get_param("b") + np.array([9, 0, 0], "f"))
    nlp.to_disk(tmp_path / "other")
    with pytest.warns(UserWarning, match="Runs of 'one' have the same seed"):
        compare({"one": [labels / "model", tmp_path / "other"]}, data)


def test_files_of_other_texts_are_refused(labels):
    rows = read(labels / "own.jsonl")
    bare = [{"cats": row["cats"]} for row in rows]
    for wrong, message in (
        ([rows[1], rows[0], *rows[2:]], "line 1 of .* is 'good bad', but must be"),
        (rows[:-1], "35 predictions, .* has none: 'so so'"),
        ([*rows, rows[0]], r"more predictions than .*\(36\)"),
        (bare, '"text" in line 1 of .* is missing'),
    ):
        with pytest.raises(SpanftError, match=message):
            measured(labels, wrong, "cats_accuracy")


def entities(*ends, start=0):
    return {"ents": [{"start": start, "end": end, "label": "PLACE"} for end in ends]}


@pytest.mark.parametrize(
    ("metric", "row", "message"),
    [
        ("cats_matthews", {}, "Line 1 of .* for cats_matthews: no 'label'. It has {}"),
        ("cats_matthews", {"cats": {"A": 1.0, "B": 0.0}}, "no score of 'C'"),
        ("cats_matthews", {"label": ""}, "'label' must be the name of a label"),
        ("cats_matthews", {"cats": ["A"]}, r"It has {'cats': \['A'\]}"),
        ("cats_matthews", {"cats": {"A": float("nan")}}, "nan is not a number"),
        ("cats_macro_auc", {"label": "A"}, "cats_macro_auc: it needs 'cats'"),
        ("cats_pearson", {"score": "4.2"}, r"'4\.2' is not a number"),
        ("spans_sc_f", {"spans": {"other": []}}, "for spans_sc_f: no 'sc'"),
        ("ents_f", {}, "for ents_f: no 'ents'"),
        ("ents_f", {"ents": {"x": 1}}, "Line 1 of .* is no prediction for ents_f"),
        ("ents_f", entities(99), "is not a span of the 9 char"),
        ("ents_f", {"ents": [{"start": 0, "end": 4}]}, "no 'label'"),
        ("ents_f", entities(5, start=4), "'end': 5, .* is not a span"),
        ("ents_f", entities(4, 9), "entities overlap: .* Use 'spans'"),
    ],
)
def test_rows_that_are_no_predictions(saved, metric, row, message):
    folder = saved(FACTORIES[metric])
    rows = read(folder / "own.jsonl")
    assert rows[0]["text"] == "good good"
    rows[0] = {"text": "good good", **row}
    with pytest.raises(SpanftError, match=message):
        measured(folder, rows, metric)


def test_labels_by_other_names(labels):
    rows = read(labels / "own.jsonl")
    numbers = [{"text": row["text"], "label": i % 3} for i, row in enumerate(rows)]
    message = "predicts '0', '1', '2', and .* knows these labels, but 'A', 'B', 'C'"
    with pytest.raises(SpanftError, match=message):
        measured(labels, numbers, "cats_accuracy")
    rows[5]["cats"] = {"X": 1.0}
    with pytest.warns(UserWarning, match="predicts 'X', and neither .* but 'A', 'B'"):
        run = measured(labels, rows, "cats_accuracy")
    assert (run.answers[5], run.wrong[5]) == ("X", True)


def test_entities_inside_of_tokens_are_those_of_the_tokens(saved):
    """As where a pipeline has other tokens than the data: spaCy aligns them."""
    folder = saved("ner")
    rows = [{"text": text, "ents": []} for text in TEXTS]
    gold = [
        *DocBin().from_disk(folder / "test.spacy").get_docs(spacy.blank("en").vocab)
    ]
    number = next(i for i, d in enumerate(gold) if d.ents and d.ents[0].text == "York")
    text, label = TEXTS[number], gold[number].ents[0].label_
    # Of two in the same token, the longer one stays.
    for parts in (["York"], ["Yor"], [" York"], ["Y", "ork"]):
        starts = [text.index(part) for part in parts]
        rows[number]["ents"] = [
            {"start": start, "end": start + len(part), "label": label}
            for start, part in zip(starts, parts, strict=True)
        ]
        run = measured(folder, rows, "ents_f")
        assert run.answers[number] == f"York ({label})"
        assert run.rows.sum(axis=0)[:2].tolist() == [1, 0]
