"""Predictions in files: scored as those of the pipeline that made them, or refused."""

import json
import unicodedata

import numpy as np
import pytest
import spacy
from spacy.tokens import DocBin, Span
from spacy.training import Example

from spacy_spanft.errors import SpanftError
from spacy_spanft.experiments.comparison import compare, comparing
from spacy_spanft.experiments.comparison.measure import Setup, measure
from spacy_spanft.experiments.report.tables import to_markdown

from ..commands import run
from .measured import BOW, Page

WORDS = ["good", "bad", "New York", "(city)", "very", "so"]
TEXTS = [f"{first} {second}" for first in WORDS for second in WORDS]


def save(nlp, folder, key, annotate):
    """Save a pipeline, data with random annotations, and what it predicts of them."""
    chance = np.random.default_rng(3)
    docs = [annotate(nlp.make_doc(text), chance) for text in TEXTS]
    DocBin(docs=docs).to_disk(folder / "test.spacy")
    nlp.to_disk(folder / "model")
    told = [nlp(text).to_json() for text in TEXTS]
    rows = [{"text": row["text"], key: row[key]} for row in told]
    write(folder / "own.jsonl", rows)
    return folder


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


def textcat(folder, factory):
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("en")
    model = {**BOW, "exclusive_classes": factory == "textcat"}
    pipe = nlp.add_pipe(factory, config={"model": model, "threshold": 0.3})
    for label in "ABC":
        pipe.add_label(label)
    nlp.initialize()
    shake(pipe.model)

    def annotate(doc, chance):
        best = chance.integers(3)
        doc.cats = {label: float(i == best) for i, label in enumerate("ABC")}
        return doc

    return save(nlp, folder, "cats", annotate)


def entities(folder, spans_key=None):
    """A pipeline that finds entities at random, or spans that overlap."""
    from spacy.pipeline import EntityRecognizer, SpanCategorizer

    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("en")
    name = "ner" if spans_key is None else "spancat"
    settings = {} if spans_key is None else {"spans_key": spans_key, "threshold": 0.4}
    pipe = nlp.add_pipe(name, config=settings)
    assert isinstance(pipe, (EntityRecognizer, SpanCategorizer))
    for label in ("PLACE", "THING"):
        pipe.add_label(label)

    def annotate(doc, chance):
        found = [
            Span(doc, i, i + 1, ["PLACE", "THING"][chance.integers(2)])
            for i in range(len(doc))
            if chance.random() < 0.5
        ]
        if spans_key is None:
            doc.ents = found
        else:
            doc.spans[spans_key] = found
        return doc

    nlp.initialize()
    shake(pipe.model)
    return save(nlp, folder, "ents" if spans_key is None else "spans", annotate)


def scores(folder):
    nlp = spacy.blank("en")
    model = {**BOW, "exclusive_classes": False}
    pipe = nlp.add_pipe("text_regressor", config={"model": model, "high": 5.0})

    def annotate(doc, chance):
        doc.cats = {"score": float(chance.random() * 5)}
        return doc

    words = [nlp.make_doc(text) for text in TEXTS]
    gold = [{"cats": {"score": 5.0 * (i % 2)}} for i in range(len(words))]
    made = [Example.from_dict(doc, x) for doc, x in zip(words, gold, strict=True)]
    nlp.initialize(lambda: made)
    nlp.update(made, sgd=nlp.create_optimizer())
    assert pipe.label == "score"
    return save(nlp, folder, "cats", annotate)


TASKS = {
    "cats_matthews": lambda folder: textcat(folder, "textcat"),
    "cats_macro_f": lambda folder: textcat(folder, "textcat_multilabel"),
    "cats_macro_auc": lambda folder: textcat(folder, "textcat_multilabel"),
    "ents_f": entities,
    "spans_sc_f": lambda folder: entities(folder, "sc"),
    "cats_pearson": scores,
}


@pytest.fixture(scope="module", params=TASKS)
def task(request, tmp_path_factory):
    """A metric, and a folder with a pipeline, its predictions, and data."""
    metric = request.param
    return metric, TASKS[metric](tmp_path_factory.mktemp(metric))


@pytest.fixture(scope="module")
def labels(tmp_path_factory):
    return textcat(tmp_path_factory.mktemp("labels"), "textcat")


@pytest.fixture(scope="module")
def ents(tmp_path_factory):
    return entities(tmp_path_factory.mktemp("ents"))


@pytest.fixture
def at_once(monkeypatch):
    """Measure in this process: another one takes seconds to begin."""
    monkeypatch.setattr(comparing, "measure_in_subprocess", measure)


def measured(folder, rows, metric=None):
    path = write(folder / "made.jsonl", rows)
    setup = Setup(f"{folder}/test.spacy", metric, reference=f"{folder}/model")
    return measure([str(path)], setup)


def test_a_pipelines_own_predictions_have_its_score(task):
    metric, folder = task
    setup = Setup(f"{folder}/test.spacy", metric, reference=f"{folder}/model")
    expected = measure([f"{folder}/model"], setup)
    found = measure([f"{folder}/own.jsonl"], setup)
    assert len(set(expected.answers)) > 1
    assert found.answers == expected.answers
    assert found.score == expected.score
    assert np.array_equal(found.rows, expected.rows, equal_nan=True)
    assert (found.texts, found.gold) == (expected.texts, expected.gold)
    assert found.n_parameters is found.words_per_second is found.peak_memory is None
    assert found.spans_per_doc is found.seed is None


@pytest.mark.usefixtures("at_once")
def test_arms_of_both_kinds(labels):
    rows = read(labels / "own.jsonl")
    best = [max(row["cats"], key=row["cats"].get) for row in rows]
    chosen = [{"text": r["text"], "label": b} for r, b in zip(rows, best, strict=True)]
    write(labels / "chosen.jsonl", chosen)
    arms = {"file": [labels / "chosen.jsonl"], "pipeline": [labels / "model"]}
    found = compare(arms, labels / "test.spacy", metric="cats_accuracy")
    file, pipeline = found.arms
    assert file.scores == pipeline.scores
    assert pipeline.models.mean == 0.0
    values = found.to_json()["arms"]
    unknown = ("n_parameters", "words_per_second", "peak_memory", "parameters_added")
    assert {values[0][name] for name in unknown} == {None}
    assert values[1]["n_parameters"] > 0
    # Nobody knows how much more that is.
    assert values[1]["parameters_added"] is None
    table = [line.split(" | ") for line in to_markdown(found).split("\n")[4:6]]
    assert table[0][6:8] == ["", ""]
    assert "" not in table[1][6:9]


@pytest.mark.usefixtures("at_once")
def test_from_the_command_line(labels, tmp_path):
    for name in ("one", "two"):
        write(tmp_path / f"{name}.jsonl", read(labels / "own.jsonl"))
    arms = [f"base={labels}/model", f"other={tmp_path}/one.jsonl"]
    arms.append(f"other={tmp_path}/two.jsonl")
    options = ("--metric", "cats_accuracy", "--ensemble", "--output", str(tmp_path))
    run("spanft", "compare", *arms, "--data", f"{labels}/test.spacy", *options)
    page = Page((tmp_path / "comparison.html").read_text("utf8"))
    assert page.rows(1)[2] == ["other", "–", "–", "–"]
    found = json.loads((tmp_path / "comparison.json").read_text("utf8"))
    scores = {arm["mean"] for arm in (*found["arms"], *found["ensembles"])}
    assert len(scores) == 1


@pytest.mark.usefixtures("at_once")
def test_runs_that_are_no_runs_of_their_own(labels, tmp_path):
    data = labels / "test.spacy"
    copies = [write(tmp_path / f"{i}.jsonl", read(labels / "own.jsonl")) for i in "ab"]
    with pytest.warns(UserWarning, match="Runs of 'files' have the same answer"):
        compare({"one": [labels / "model"], "files": copies}, data)
    nlp = spacy.load(labels / "model")
    output = nlp.get_pipe("textcat").model.get_ref("output_layer")
    output.set_param("b", output.get_param("b") + np.array([9, 0, 0], "f"))
    nlp.to_disk(tmp_path / "other")
    with pytest.warns(UserWarning, match=r"Runs of 'one' have the same seed \(0\)"):
        compare({"one": [labels / "model", tmp_path / "other"]}, data)


def test_what_is_neither_pipeline_nor_predictions(labels, tmp_path):
    file = write(tmp_path / "predictions.json", [])
    arms = {"one": [labels / "model"], "file": [file]}
    with pytest.raises(SpanftError, match=r"is a file. .* whose name ends in .jsonl"):
        compare(arms, labels / "test.spacy")


def test_labels_alone_have_no_ranks(tmp_path):
    folder = textcat(tmp_path, "textcat_multilabel")
    rows = [{"text": text, "label": "A"} for text in TEXTS]
    with pytest.raises(SpanftError, match="cats_macro_auc needs 'cats'"):
        measured(folder, rows, "cats_macro_auc")


def test_without_any_pipeline(labels):
    with pytest.raises(SpanftError, match=r"there is none. Name one beside .*own"):
        compare({"a": [labels / "own.jsonl"]}, labels / "test.spacy")


def test_files_in_other_orders_and_lengths(labels):
    rows = read(labels / "own.jsonl")
    with pytest.raises(SpanftError, match=r"line 1 of .* is 'good bad', but must be"):
        measured(labels, [rows[1], rows[0], *rows[2:]], "cats_accuracy")
    with pytest.raises(SpanftError, match=r"35 predictions, .* has none: 'so so'"):
        measured(labels, rows[:-1], "cats_accuracy")
    with pytest.raises(SpanftError, match=r"more predictions than .*\(36\)"):
        measured(labels, [*rows, rows[0]], "cats_accuracy")
    bare = [{"cats": row["cats"]} for row in rows]
    with pytest.raises(SpanftError, match=r'"text" in line 1 of .* is missing'):
        measured(labels, bare, "cats_accuracy")


def test_texts_that_look_alike(labels, tmp_path):
    """One of them has accents of their own, the other letters that have them."""
    one, other = (unicodedata.normalize(form, "Chloé") for form in ("NFC", "NFD"))
    doc = spacy.blank("en")(one)
    doc.cats = {"A": 1.0, "B": 0.0, "C": 0.0}
    DocBin(docs=[doc]).to_disk(tmp_path / "test.spacy")
    file = write(tmp_path / "some.jsonl", [{"text": other, "label": "A"}])
    arms = {"one": [labels / "model"], "file": [file]}
    with pytest.raises(SpanftError, match="only in how accents are encoded"):
        compare(arms, tmp_path / "test.spacy")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({}, "Line 3 of .*: there is neither 'cats' nor 'label'"),
        ({"cats": {"A": 1.0, "B": 0.0}}, "'cats' has no score of 'C'"),
        ({"label": ""}, "'label' is '', but must be the name of a label"),
        ({"cats": ["A"]}, r"'cats' is \['A'\], but must be an object with a number"),
        ({"cats": {"A": float("nan")}}, "'cats' is {'A': nan}, but must be"),
    ],
)
def test_what_is_no_label(labels, row, message):
    rows = read(labels / "own.jsonl")
    rows[2] = {"text": rows[2]["text"], **row}
    with pytest.raises(SpanftError, match=message):
        measured(labels, rows, "cats_accuracy")


def test_labels_by_other_names(labels):
    rows = read(labels / "own.jsonl")
    numbers = [{"text": row["text"], "label": i % 3} for i, row in enumerate(rows)]
    message = "predicts '0', '1', '2', and .* knows these labels, but 'A', 'B', 'C'"
    with pytest.raises(SpanftError, match=message):
        measured(labels, numbers, "cats_accuracy")
    rows[5]["cats"] = {"X": 1.0}
    with pytest.warns(UserWarning, match="predicts 'X', and neither .* but 'A', 'B'"):
        found = measured(labels, rows, "cats_accuracy")
    assert (found.answers[5], found.wrong[5]) == ("X", True)


def entity(text, part, label="PLACE"):
    start = text.index(part)
    return {"start": start, "end": start + len(part), "label": label}


def test_entities_inside_of_tokens_are_those_of_the_tokens(ents):
    """As where a pipeline has other tokens than the data: spaCy aligns them."""
    rows = [{"text": text, "ents": []} for text in TEXTS]
    gold = list(
        DocBin().from_disk(ents / "test.spacy").get_docs(spacy.blank("en").vocab)
    )
    number = next(i for i, d in enumerate(gold) if d.ents and d.ents[0].text == "York")
    label = gold[number].ents[0].label_
    for part in ("York", "Yor", " York"):
        rows[number]["ents"] = [entity(TEXTS[number], part, label)]
        if part == "Yor":
            with pytest.warns(UserWarning, match="1 of 1 spans .* inside a token"):
                found = measured(ents, rows, "ents_f")
        else:
            found = measured(ents, rows, "ents_f")
        assert found.answers[number] == f"York ({label})"
        assert found.rows.sum(axis=0)[:2].tolist() == [1, 0]
    # Of two in the same token, the longer one stays.
    both = [entity(TEXTS[number], part, label) for part in ("Y", "ork")]
    rows[number]["ents"] = both
    with pytest.warns(UserWarning, match="2 of 2 spans"):
        found = measured(ents, rows, "ents_f")
    assert found.answers[number] == f"York ({label})"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "there is no 'ents', which the metric needs"),
        ({}, "ents is {}, but must be a list"),
        ([{"start": 0, "end": 99, "label": "PLACE"}], "which has 9"),
        ([{"start": 0, "end": 4}], "a span in ents is {"),
        (
            [{"start": 4, "end": 5, "label": "PLACE"}],
            "only white space: {'end': 5, ",
        ),
        (
            [{"start": 0, "end": i, "label": "PLACE"} for i in (4, 9)],
            "entities that overlap: .* Use 'spans'",
        ),
    ],
)
def test_what_is_no_entity(ents, value, message):
    rows = [{"text": text, "ents": []} for text in TEXTS]
    assert TEXTS[0] == "good good"
    rows[0]["ents"] = value
    if value is None:
        del rows[0]["ents"]
    with pytest.raises(SpanftError, match=message):
        measured(ents, rows, "ents_f")


def test_spans_need_the_groups_name(tmp_path):
    folder = entities(tmp_path, "sc")
    rows = [{"text": text, "spans": {"other": []}} for text in TEXTS]
    with pytest.raises(SpanftError, match="an object with a list of spans under 'sc'"):
        measured(folder, rows, "spans_sc_f")


def test_scores_alone(tmp_path):
    folder = scores(tmp_path)
    expected = read(folder / "own.jsonl")
    rows = [{"text": row["text"], "score": row["cats"]["score"]} for row in expected]
    setup = Setup(f"{folder}/test.spacy", "cats_pearson", reference=f"{folder}/model")
    own = measure([f"{folder}/own.jsonl"], setup)
    assert measured(folder, rows, "cats_pearson").score == own.score
    rows[0]["score"] = "4.2"
    with pytest.raises(SpanftError, match=r"'score' is '4\.2', but must be a number"):
        measured(folder, rows, "cats_pearson")
