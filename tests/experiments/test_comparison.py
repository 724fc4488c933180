"""Comparing pipelines, and files of predictions."""

import os

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span

from spacy_spanft.errors import SpanftError
from spacy_spanft.experiments import comparison
from spacy_spanft.experiments.comparison import compare
from spacy_spanft.experiments.measuring import Setup, elect, measure, run_in_subprocess
from spacy_spanft.experiments.result_tables import to_markdown
from spacy_spanft.experiments.task_data import read_examples

from ..commands import run
from ..ml.test_textcat import examples_for
from ..tiny import make_pipeline
from .conftest import load
from .matrix_place import NLP
from .measured import BOW, against, labeled

pytestmark = pytest.mark.usefixtures("at_once", "loaded_once")

TRAIN = [("good film", "A"), ("bad city", "B"), ("very good", "A"), ("so bad", "B")]
TEST = TRAIN * 5
# The default dictionary takes a second to load.
NGRAMS = ["very good", "new york", "so far", "good morning", "united states"]


def train(folder, name, texts=TRAIN):
    """Train a pipeline, and save it as if it was trained with two seeds."""
    nlp = make_pipeline({"span_segmenter": {}, "textcat": {"model": BOW}}, NGRAMS)
    examples = examples_for(nlp, texts)
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(20):
        nlp.update(examples, sgd=optimizer, annotates=["span_segmenter"])
    for seed in (0, 1):
        nlp.config["training"]["seed"] = seed
        nlp.to_disk(folder / f"{name}{seed}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two runs that learned it, two that learned the opposite, and predictions."""
    folder = tmp_path_factory.mktemp("pipelines")
    (folder / "run" / "model-best").mkdir(parents=True)
    train(folder, "right")
    train(folder, "wrong", [(text, "BA"["AB".index(cat)]) for text, cat in TRAIN])
    gold = [(text, {c: c == cat for c in "AB"}) for text, cat in TEST]
    save(folder / "test.spacy", gold)
    save(folder / "bare.spacy", [("good film", {})])
    save(folder / "other.spacy", [("so bad", {"C": 1})])
    save(folder / "new.spacy", [(text, {"X": 1}) for text, _ in gold])
    save(folder / "short.spacy", gold[:-1])
    save(folder / "none.spacy", [(text, {}) for text, _ in gold])
    save(folder / "gaps.spacy", [*gold[:3], (" ", {}), *gold[3:]])
    own = DocBin(docs=load(folder / "right0").pipe(text for text, _ in TEST))
    own.to_disk(folder / "own.spacy")
    (folder / "test.tsv").write_text("text\tlabel\ngood film\tA\n")
    return folder


def save(path, rows):
    docs = [NLP(text) for text, _ in rows]
    for doc, (_, cats) in zip(docs, rows, strict=True):
        doc.cats = {label: float(value) for label, value in cats.items()}
    DocBin(docs=docs).to_disk(path)


def test_what_training_started_from_is_noted(folder, tmp_path):
    nlp = spacy.load(folder / "right0")
    nlp.meta["probe"] = {"textcat": {"macro F1": 0.875}}
    nlp.config["initialize"]["after_init"] = {"contrast": 9}
    nlp.to_disk(tmp_path / "nlp")
    notes = compare({"a": [tmp_path / "nlp"]}, folder / "test.spacy").notes
    assert "F1 87.5 in cross-validation, and trains no spans" in notes["a"]


def test_all_test_data_are_read_with_the_reader_of_the_dev_data(folder):
    nlp = spacy.load(folder / "right0")
    reader = {"@readers": "spacy-spanft.TableCorpus.v1", "path": "", "limit": 1}
    nlp.config["corpora"]["dev"] = {**reader, "label": "kind"}
    table = folder / "many.csv"
    table.write_text("text,kind\n" + "good film,A\n" * 3)
    assert len(list(read_examples(nlp, str(table)))) == 3


def test_arms(folder):
    kinds = "wrong", "right"
    arms = {kind: [folder / f"{kind}{i}" for i in (0, 1)] for kind in kinds}
    compared = compare(arms, folder / "test.spacy", metric="cats_accuracy")
    wrong, right = compared.arms
    assert (compared.metric, compared.n_docs) == ("cats_accuracy", 20)
    assert (wrong.scores, right.scores) == ([0.0, 0.0], [1.0, 1.0])
    assert wrong.models is wrong.method is None
    assert right.models.mean == right.models.low == 1.0
    # Nothing varies, so that nobody can be surer than the number of draws allows.
    assert right.models.p == right.method.p == pytest.approx(2 / 1001)
    assert (right.method.mean, right.method.low) == (1.0, 1.0)
    assert right.method.is_paired
    run = right.runs[0]
    assert run.n_parameters == wrong.runs[0].n_parameters > 1000
    assert run.words_per_second > 0
    assert run.answers[:2] == run.gold[:2] == ["A", "B"]
    assert wrong.runs[0].answers[:2] == ["B", "A"]
    assert run.spans[:4] == [[], [], [(0, 9)], []]


def test_a_file_of_predictions_is_scored_as_its_pipeline(folder):
    arms = {"file": [folder / "own.spacy"], "pipeline": [folder / "right0"]}
    compared = compare(arms, folder / "test.spacy", metric="cats_macro_f")
    file, pipeline = (arm.runs[0] for arm in compared.arms)
    assert np.array_equal(file.rows, pipeline.rows)
    assert (file.answers, file.score) == (pipeline.answers, pipeline.score)
    assert file.n_parameters is file.words_per_second is file.peak_memory is None
    rows = [line.split(" | ") for line in to_markdown(compared).split("\n")[2:4]]
    assert rows[0][-3:-1] == ["", ""]
    assert "" not in rows[1][-3:]


def test_empty_texts_may_have_no_prediction(folder):
    setup = Setup(str(folder / "gaps.spacy"), reference=str(folder / "right0"))
    run = measure(str(folder / "own.spacy"), setup)
    assert run.answers == [
        x for y in ("ABA", ["(nothing)"], "B", "ABAB" * 4) for x in y
    ]


def test_batches_change_nothing(folder, tmp_path, monkeypatch):
    """Nothing but what is scored is kept of a batch, labels of the data's own too."""
    labels = [["C", "D"][i % 2] if i in (4, 9, 18) else TEST[i][1] for i in range(20)]
    rows = [(text, {label: 1}) for (text, _), label in zip(TEST, labels, strict=True)]
    save(tmp_path / "test.spacy", rows)
    setup = Setup(str(tmp_path / "test.spacy"), "cats_matthews")
    whole = measure(str(folder / "right0"), setup)
    monkeypatch.setattr(load(str(folder / "right0")), "batch_size", 3)
    in_batches = measure(str(folder / "right0"), setup)
    assert (whole.places[1], whole.labels) == ("Text 2", ("A", "B"))
    for name in ("score", "texts", "answers", "spans", "places"):
        assert getattr(in_batches, name) == getattr(whole, name)
    assert in_batches.rows.tolist() == whole.rows.tolist()


def test_in_a_process_of_its_own(folder):
    args = (str(folder / "right0"), Setup(str(folder / "test.spacy")))
    alone, here = run_in_subprocess(measure, *args), measure(*args)
    assert (alone.metric, alone.meaning, alone.score) == ("cats_score", "macro F", 1.0)
    assert (alone.answers, alone.texts) == (here.answers, here.texts)
    assert alone.score_of(alone.rows[:3]) == here.score_of(here.rows[:3])
    assert alone.peak_memory != here.peak_memory
    with pytest.raises(SpanftError, match="The process of 1 was killed"):
        run_in_subprocess(os._exit, 1)


OF_RIGHT = Setup("test.spacy", reference="right0")


@pytest.mark.parametrize(
    ("path", "setup", "expected"),
    [
        ("right0", Setup("bare.spacy"), "No text of 'bare.spacy' is annotated"),
        ("right0", Setup("other.spacy"), "labels 'C', and .* knows none .*: 'A', 'B'"),
        ("right0", Setup("test.spacy", "ents_f"), "no metric 'ents_f' .*: cats_sc"),
        ("right0", Setup("test.spacy", "cats_f1", "C"), "has no label 'C', but 'A'"),
        ("short.spacy", OF_RIGHT, "Text 20 of 'short.spacy' is missing, .*'so bad'"),
        ("none.spacy", OF_RIGHT, "No text of 'none.spacy' has predictions"),
        ("new.spacy", OF_RIGHT, "predicts 'X', and the data has none .* 'A', 'B'"),
    ],
)
def test_data_and_predictions_that_do_not_fit(
    folder, monkeypatch, path, setup, expected
):
    monkeypatch.chdir(folder)
    with pytest.raises(SpanftError, match=expected):
        measure(path, setup)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["right0", "nowhere"], "config.cfg, and no such package is installed."),
        (["right0", "run"], "installed. Is 'run/model-best' meant?"),
        (["right0", "test.tsv"], "no such folder with meta.json and config.cfg"),
        (["a=right0", "b=right1", "b=right1/"], "'b' has the same run twice"),
    ],
)
def test_errors_come_before_anything_is_measured(folder, monkeypatch, args, expected):
    monkeypatch.chdir(folder)
    monkeypatch.delattr(comparison, "run_in_subprocess")
    done = run("spanft", "compare", *args, "--data", "test.spacy", ok=False)
    assert expected in done.stderr


def test_runs_that_cannot_be_compared(monkeypatch):
    run = labeled([1, 0])
    for changes, expected in (
        ({"texts": ["x"]}, "'a' and 'b' read different texts"),
        ({"meaning": "F (0)"}, r"means  for 'a' and F \(0\) for 'b'"),
    ):
        with pytest.raises(SpanftError, match=expected):
            against({"a": [run], "b": [run._replace(**changes)]}, monkeypatch)
    other = run._replace(gold=["yes", "no"], unknown=["no"])
    with (
        pytest.warns(UserWarning, match="read different annotations of 1 text"),
        pytest.warns(UserWarning, match="labels that 'b' never predicts: 'no'"),
    ):
        against({"a": [run], "b": [other]}, monkeypatch)


def test_an_ensemble_of_each_arm(folder):
    both = [folder / "right0", folder / "wrong1"]
    arms = {"one": both[:1], "both": both}
    compared = compare(arms, folder / "test.spacy", ensemble=True)
    assert [arm.name for arm in compared.arms] == ["one", "both", "both (ensemble)"]
    members = [load(path).pipe(text for text, _ in TEST) for path in both]
    means = [
        {label: (a.cats[label] + b.cats[label]) / 2 for label in "AB"}
        for a, b in zip(*members, strict=True)
    ]
    answers = compared.arms[-1].runs[0].answers
    assert answers == [max(cats, key=cats.get) for cats in means]


def test_the_predictions_of_an_ensemble(nlp):
    words = list("abcd")
    votes = [
        ([(0, 1, "X"), (2, 4, "X")], [(0, 2, "S"), (1, 3, "S")]),
        ([(0, 1, "X"), (2, 3, "X")], [(0, 2, "S"), (1, 3, "S")]),
        ([(0, 1, "Y"), (2, 4, "X")], [(0, 2, "T")]),
    ]
    docs = []
    for i, (ents, spans) in enumerate(votes):
        doc = Doc(nlp.vocab, words=words)
        doc.ents = [Span(doc, *span) for span in ents]
        doc.spans["sc"] = [Span(doc, *span) for span in spans]
        doc.cats = {"yes": i / 2, "no": 1 - i / 2}
        docs.append(doc)
    docs[2].cats.pop("no")

    def keys(spans):
        return [(span.start, span.end, span.label_) for span in spans]

    joint = elect(docs)
    assert keys(joint.ents) == [(0, 1, "X"), (2, 4, "X")]
    assert keys(joint.spans["sc"]) == [(0, 2, "S"), (1, 3, "S")]
    assert joint.cats == {"yes": 0.5, "no": 0.5}
    # Half of the votes are not enough, or spans that overlap could win.
    assert keys(elect(docs[:2]).ents) == [(0, 1, "X")]
    with pytest.raises(SpanftError, match="into other tokens: 'a b c d"):
        elect([docs[0], Doc(nlp.vocab, words=["a b", "c", "d"])])
