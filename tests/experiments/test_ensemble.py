"""Pipelines as one: against averages written out, and votes counted by hand."""

import functools
import json

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span

from spacy_spanft.errors import ComparisonError
from spacy_spanft.experiments.comparison import compare
from spacy_spanft.experiments.measuring import Setup, elect, measure, vote_of
from spacy_spanft.util import pipelines

from ..commands import run
from .measured import BOW, Page

WORDS = ["good", "bad", "film", "city", "very", "so"]
TEXTS = [f"{first} {second}" for first in WORDS for second in WORDS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three classifiers that learned nothing, and differ in their seeds."""
    folder = tmp_path_factory.mktemp("pipelines")
    for seed in range(3):
        spacy.util.fix_random_seed(seed)
        nlp = spacy.blank("en")
        nlp.config["training"]["seed"] = seed
        textcat = nlp.add_pipe("textcat", config={"model": BOW})
        for label in "ABC":
            textcat.add_label(label)
        nlp.initialize()
        chance = np.random.default_rng(seed)
        for node in textcat.model.walk():
            for name in node.param_names:
                shape = node.get_param(name).shape
                node.set_param(name, chance.normal(size=shape).astype("f"))
        nlp.to_disk(folder / str(seed))
    docs = [nlp.make_doc(text) for text in TEXTS]
    for i, doc in enumerate(docs):
        doc.cats = {label: float(label == "ABC"[i % 3]) for label in "ABC"}
    DocBin(docs=docs).to_disk(folder / "test.spacy")
    return folder


@pytest.fixture(scope="module", autouse=True)
def loaded_once():
    """Load each pipeline once: that takes longer than whatever is tested here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipelines, "load_model", load)
        yield


load = functools.cache(lambda path: spacy.load(str(path)))


def averages(folder, runs):
    """Average the scores of labels, and take the best."""
    cats = [[doc.cats for doc in load(str(folder / run)).pipe(TEXTS)] for run in runs]
    means = [
        {label: sum(cats[label] for cats in row) / len(row) for label in "ABC"}
        for row in zip(*cats, strict=True)
    ]
    return [max(cats, key=cats.get) for cats in means]


def test_scores_are_averaged(folder):
    paths = [str(folder / str(seed)) for seed in range(3)]
    setup = Setup(str(folder / "test.spacy"), "cats_accuracy")
    voted = measure(paths, setup)
    assert voted.answers == averages(folder, ["0", "1", "2"])
    alone = [measure([path], setup) for path in paths]
    # None of them has a segmenter.
    assert alone[0].spans == [[]] * len(TEXTS)
    assert alone[0].spans_per_doc is alone[0].n_ngrams is None
    assert any(voted.answers != run.answers for run in alone)
    pairs = zip(voted.answers, voted.gold, strict=True)
    assert voted.score == np.mean([answer == gold for answer, gold in pairs])
    assert voted.n_parameters == sum(run.n_parameters for run in alone)
    assert voted.gold == alone[0].gold


def test_spans_are_put_to_the_vote(nlp):
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

    def average(docs):
        return elect(Doc(nlp.vocab, words=words), [vote_of(doc) for doc in docs])

    made = average(docs)
    assert keys(made.ents) == [(0, 1, "X"), (2, 4, "X")]
    assert keys(made.spans["sc"]) == [(0, 2, "S"), (1, 3, "S")]
    assert made.cats == {"yes": 0.5, "no": 0.5}
    # Half of the votes are not enough, or spans that overlap could win.
    assert keys(average(docs[:2]).ents) == [(0, 1, "X")]
    assert keys(docs[0].ents) == votes[0][0]
    assert keys(average(docs[:1]).ents) == votes[0][0]
    with pytest.raises(ComparisonError, match="into other tokens: 'a b c d"):
        average([docs[0], Doc(nlp.vocab, words=["a b", "c", "d"])])


@pytest.mark.usefixtures("at_once")
def test_an_ensemble_of_each_arm(folder, tmp_path):
    paths = [folder / "0", folder / "1", folder / "2"]
    arms = {"two": paths[:2], "one": paths[2:], "three": paths}
    settings = {"metric": "cats_accuracy", "n_resamples": 50, "ensemble": True}
    compared = compare(arms, folder / "test.spacy", **settings)
    assert [arm.name for arm in compared.arms] == ["two", "one", "three"]
    two, three = compared.ensembles
    assert two.runs[0].answers == averages(folder, ["0", "1"])
    assert two.models is None
    assert three.models.mean == pytest.approx(three.mean - two.mean)
    values = json.loads(json.dumps(compared.to_json()))["ensembles"]
    assert [(arm["name"], arm["parameters_added"]) for arm in values] == [
        ("two", 1.0),
        ("three", 2.0),
    ]
    with pytest.raises(ComparisonError, match="No arm has several runs"):
        compare({"one": paths[2:]}, folder / "test.spacy", ensemble=True)
    args = [f"two={folder}/0", f"two={folder}/1", f"one={folder}/2"]
    options = ["--data", folder / "test.spacy", "--ensemble", "-o", tmp_path]
    done = run("spanft", "compare", *args, *options)
    assert "| two (ensemble) | 1 |" in done.stdout
    page = Page((tmp_path / "comparison.html").read_text(encoding="utf8"))
    names = [row[0] for row in page.rows(0)[1:]]
    assert names == ["two", "one", "two (ensemble)"]
