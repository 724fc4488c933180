"""The contrast of labels, against all pairs of a batch in PyTorch."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from spacy.training import Example
from thinc.api import Adam

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.encoder.sharing import EncoderListener
from spacy_spanft.training import contrast, tuning
from spacy_spanft.training.contrast import (
    check_contrast,
    contrast_gradient,
    learn_contrast,
    normalized,
)

from ..pipeline.test_encoder import TEXTS, make

WIDTH = 5


@pytest.fixture
def never_good(monkeypatch):
    """Let a probe that is always right be changed as any other."""
    monkeypatch.setattr(tuning, "_NEARLY_PERFECT", 2)


def loss(vectors, truths):
    """Compute the loss pair by pair."""
    same, other = [], []
    for i in range(len(vectors)):
        for j in range(i):
            cosine = torch.cosine_similarity(vectors[i], vectors[j], dim=0)
            kind = same if truths[i] == truths[j] else other
            kind.append((cosine - float(truths[i] == truths[j])) ** 2)
    means = [torch.stack(kind).mean() for kind in (same, other) if kind]
    return sum(means) / 2


@given(labels=st.lists(st.integers(0, 2), min_size=2, max_size=7))
def test_the_gradient_is_that_of_all_pairs(labels):
    X = np.random.default_rng(len(labels)).normal(size=(len(labels), WIDTH))
    x = torch.tensor(X, requires_grad=True)
    expected = torch.autograd.grad(loss(x, labels), x)[0]
    unit, backprop = normalized(np, X)
    actual = backprop(contrast_gradient(np, unit, np.eye(3)[labels]))
    np.testing.assert_allclose(actual, expected, atol=1e-6)


def test_a_single_text_and_an_empty_one_teach_nothing():
    truths = np.eye(3, dtype="f")[[0, 0, 1]]
    X = np.random.default_rng(0).normal(size=(3, WIDTH)).astype("f")
    X[1] = 0
    unit, backprop = normalized(np, X)
    assert (contrast_gradient(np, unit[:1], truths[:1]) == 0).all()
    d_texts = backprop(contrast_gradient(np, unit, truths))
    assert np.isfinite(d_texts).all()
    assert (d_texts[1] == 0).all()
    assert d_texts[2].any()


@pytest.fixture
def initialized(started):
    """A pipeline of `init` for three labels, and its rows."""

    def make(n_steps, changed=(), n_rows=36, **settings):
        labels = ["abc"[i % 3] for i in range(n_rows)]
        texts = [f"{label} film" + " film" * (i // 3) for i, label in enumerate(labels)]
        pairs = zip(texts, labels, strict=True)
        rows = [{"text": text, "label": label} for text, label in pairs]
        return started(rows, n_steps, changed, **settings), rows

    return make


def cosines(nlp, rows):
    """Return the mean cosine of texts with the same label, and of the others."""
    model = nlp.get_pipe("textcat").model
    docs = list(nlp.pipe(row["text"] for row in rows))
    X = model.get_ref("text_vector").predict(model.get_ref("rows").predict(docs))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    labels = np.array([row["label"] for row in rows])
    same = labels[:, None] == labels
    return (X @ X.T)[same].mean(), (X @ X.T)[~same].mean()


@pytest.mark.usefixtures("never_good")
@pytest.mark.parametrize("encoder", ["spanft", "spacy-transformers"])
def test_an_encoder_learns_to_tell_labels_apart(encoder, initialized, monkeypatch):
    monkeypatch.setattr(contrast, "_RATE", 0.5)
    before, after = (cosines(*initialized(n, encoder=encoder)) for n in (0, 30))
    assert before[0] - before[1] < 0.5 < after[0] - after[1]


@pytest.mark.usefixtures("never_good")
def test_spans_alone_are_contrasted_too(initialized, monkeypatch):
    monkeypatch.setattr(contrast, "_RATE", 0.5)
    use_cls = {"components.textcat.model.use_cls": False}
    nlp, rows = initialized(30, use_cls)
    cats = [doc.cats for doc in nlp.pipe(row["text"] for row in rows)]
    assert [max(x, key=x.get) for x in cats] == [row["label"] for row in rows]


@pytest.mark.usefixtures("never_good")
def test_another_seed_makes_other_batches(initialized):
    def learned(seed):
        nlp, _ = initialized(3, {"system.seed": seed})
        return nlp.get_pipe("textcat").model.get_ref("output_layer").get_param("W")

    first, again, other = map(learned, (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


@pytest.mark.usefixtures("never_good")
@pytest.mark.parametrize(("n_rows", "strength"), [(32, 0.01), (36, 0.1)])
def test_the_last_layer_is_fitted_to_what_was_learned(n_rows, strength, initialized):
    nlp, rows = initialized(3, n_rows=n_rows)
    docs = list(nlp.pipe(row["text"] for row in rows))
    model = nlp.get_pipe("textcat").model
    X = model.get_ref("text_vector").predict(model.get_ref("rows").predict(docs))
    X /= np.sqrt(X.var(axis=0).mean()) if n_rows <= 32 else X.std(axis=0)
    reference = LogisticRegression(C=strength, tol=1e-8, max_iter=1000)
    reference.fit(X, [row["label"] for row in rows])
    scores = [[doc.cats[label] for label in reference.classes_] for doc in docs]
    np.testing.assert_allclose(scores, reference.predict_proba(X), atol=0.01)


def test_the_rate_and_what_counts(initialized, monkeypatch):
    nlp, rows = initialized(0)
    examples = [Example(doc, doc) for doc in nlp.pipe(row["text"] for row in rows)]
    examples[18:] = [None] * 18  # that have no label, and are not looked at
    Y = np.eye(3, dtype="f")[[0] * 36]
    Y[18:] = 0
    start = np.zeros((3, nlp.get_pipe("transformer").model.get_dim("nO"))), np.zeros(3)
    rates, gradients = [], []

    def adam(schedule, **settings):
        rates.append(next(schedule))
        return Adam(rates[-1], **settings)

    def gradient(*args):
        gradients.append(contrast_gradient(*args))
        return gradients[-1]

    monkeypatch.setattr(contrast, "Adam", adam)
    monkeypatch.setattr(contrast, "contrast_gradient", gradient)
    for how in ({}, {"share": 0.2}, {"by_contrast": False}):
        learn_contrast(nlp, "textcat", examples, Y, start, 1, **how)
    assert rates[1:] == pytest.approx([rates[0] / 5, rates[0]])
    assert len(gradients) == 2


@pytest.mark.usefixtures("never_good")
@pytest.mark.parametrize(("n_rows", "shares"), [(32, [0.2]), (33, [1, 0.5, 1, 0.5])])
def test_a_handful_is_learned_at_a_low_rate(n_rows, shares, initialized, monkeypatch):
    """So is cross-entropy alone, which is tried on two halves."""
    taken = []
    monkeypatch.setattr(
        tuning, "learn_contrast", lambda *args, share, **how: taken.append(share)
    )
    monkeypatch.setattr(tuning, "_FEWEST_TO_CHOOSE", 33)
    initialized(3, n_rows=n_rows)
    assert taken[: len(shares)] == shares


def test_a_nearly_perfect_probe_stays_as_it_is(initialized, capsys):
    initialized(3, n_rows=32)
    assert "'textcat' learns by contrast, in 3 steps" in capsys.readouterr().err
    vectors = {}
    for n_steps in (0, 3):
        nlp, rows = initialized(n_steps)
        vectors[n_steps] = nlp(rows[0]["text"]).cats, cosines(nlp, rows)
    assert "'textcat' stays as it is" in capsys.readouterr().err
    assert vectors[0][1] == vectors[3][1]
    # It is not shrunk, as it is before a training that goes on.
    assert vectors[0][0]["a"] < vectors[3][0]["a"]


@pytest.mark.parametrize("best", tuning._WAYS)
def test_held_out_texts_choose_how_it_learns(best, initialized, capsys, monkeypatch):
    """Each training moves all weights by 1: only the best way predicts labels."""
    monkeypatch.setattr(tuning, "_FEWEST_TO_CHOOSE", 36)
    nlp, rows = initialized(0)
    examples = [Example(doc, doc) for doc in nlp.pipe(row["text"] for row in rows)]
    X = tuning.features(nlp, "textcat", [example.predicted for example in examples])
    Y = np.eye(3, dtype="f")[[i % 3 for i in range(36)]]
    X[:, :3] += 99 * Y if best == "not at all" else 0  # what a probe learns from
    weights, learned = tuning.encoder_weights(nlp, "textcat"), []
    before = [1 * x for x in weights]

    class Moved(tuning.Tuning):
        def learn(self, rows, probe, n_steps, way):
            learned.append((sorted(rows), way, n_steps))
            for x in weights:
                x += 1

        def refit(self, rows):
            X, W = np.zeros_like(self.X), np.zeros((3, self.X.shape[1]), "f")
            X[:, :3], W[:, :3] = Y * (learned[-1][1] == best), 9 * np.eye(3)
            X[rows] = 0  # what was learned from does not count
            return W, np.zeros(3, "f"), X

    Moved(nlp, "textcat", examples, X, Y).run(None, 0.5, 8)
    moves = tuning._WAYS[best] > 0
    said = f"learns {best}, in 8 steps" if moves else "stays as it is"
    assert said in capsys.readouterr().err
    # The trials left the weights as they were.
    assert all((y == x + moves).all() for x, y in zip(before, weights, strict=True))
    # Each half was held out for both trainings, and all texts are learned from then.
    halves, whole = learned[:4], learned[4:]
    ways = ["by contrast", "without contrast"]
    assert [x[1:] for x in halves] == [(way, 4) for way in ways] * 2
    assert {*halves[0][0]} | {*halves[2][0]} == {*range(36)}
    assert not {*halves[0][0]} & {*halves[2][0]}
    assert whole == ([([*range(36)], best, 8)] if moves else [])


def test_it_is_no_loss_to_be_too_sure():
    Y = np.eye(3, dtype="f")[[0, 1, 2, 0]]
    right = Y + np.random.default_rng(0).normal(size=Y.shape).astype("f")
    likely = [tuning.likelihoods(scale * right, Y).mean() for scale in (1, 5)]
    assert likely[0] == pytest.approx(likely[1], abs=0.02)
    nothing = tuning.likelihoods(0 * right, Y).mean()
    assert likely[0] > nothing == pytest.approx(-np.log(3))


@pytest.mark.parametrize(("gain", "best"), [(0.05, "a"), (0.3, "b"), (-0.3, "a")])
def test_another_way_must_be_better_beyond_chance(gain, best):
    """The standard error of these 100 differences is 0.1."""
    noise = np.tile([1.0, -1.0], 50)
    assert tuning.best_of({"a": 0 * noise, "b": gain + noise}) == best


@pytest.mark.usefixtures("never_good")
def test_choosing_leaves_no_trace(initialized, monkeypatch):
    """Neither in the weights nor in what is drawn: the same way ends with the same."""
    results, drawn = [], []

    def draw(*args, **how):
        drawn.append(float(torch.rand(1)))
        learn_contrast(*args, **how)

    monkeypatch.setattr(tuning, "learn_contrast", draw)
    for fewest in (99, 36):
        monkeypatch.setattr(tuning, "_FEWEST_TO_CHOOSE", fewest)
        monkeypatch.setattr(tuning, "likelihoods", lambda *x: np.zeros(9))  # the first
        nlp, rows = initialized(3)
        results.append(nlp(rows[0]["text"]).cats)
    assert results[0] == results[1]
    assert drawn[0] == drawn[-1]
    assert len(drawn) == 6
    assert drawn[-2] != drawn[-1]


def test_what_cannot_learn_by_contrast_is_refused(initialized):
    cannot = "cannot learn by contrast"
    for changed, expected in (
        ({"components.textcat.model.class_weights": {"a": 2.0}}, cannot),
        ({"components.textcat.model.label_smoothing": 0.1}, cannot),
        ({"training.frozen_components": ["transformer"]}, "no component, or frozen"),
        ({"training.max_epochs": -1}, "no text classifier has a probe"),
        ({"initialize.after_init.probe": False}, "no text classifier has a probe"),
    ):
        with pytest.raises(SpanftError, match=expected):
            initialized(3, changed)
    with pytest.raises(SpanftError, match=cannot):
        initialized(3, task="textcat_multilabel")
    nlp, _ = initialized(0)
    nlp.get_pipe("transformer").add_listener(EncoderListener("*"), "ner")
    with pytest.raises(SpanftError, match="'textcat' is no component, or frozen"):
        check_contrast(nlp, "textcat")
    nlp, _ = initialized(0)
    nlp.replace_listeners("transformer", "textcat", ["model.tok2vec"])
    with pytest.raises(SpanftError, match="'textcat' is no component"):
        check_contrast(nlp, "textcat")


def test_features_know_what_frozen_components_write(bert):
    nlp = make(bert, "textcat")
    docs = [nlp.make_doc(text) for text in TEXTS]
    expected = tuning.features(nlp, "textcat", [doc.copy() for doc in docs])
    with nlp.select_pipes(disable=["span_segmenter"]):
        np.testing.assert_array_equal(tuning.features(nlp, "textcat", docs), expected)


def test_batches_are_full_and_repeat_no_text_in_an_epoch():
    batches = contrast._batches([*range(33)], 0)
    first, second, third = (next(batches) for _ in range(3))
    assert [len(x) for x in (first, second, third)] == [16, 16, 16]
    assert len({*first, *second}) == 32
    assert first != third
    assert sorted(next(contrast._batches([*range(5)], 0))) == [*range(5)]
