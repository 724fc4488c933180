"""The last layer of a classifier before training: a fit to frozen vectors."""

import numpy as np
import pytest
import torch
from spacy.training import Example

from spacy_spanft.errors import SpanftError
from spacy_spanft.training import probe
from spacy_spanft.training.logistic import STRENGTHS, fit_probe, macro_f, reduced


def separated(n_texts, width, n_labels, distance, seed=0):
    """Draw features around a center of each label, and columns that never vary."""
    random = np.random.default_rng(seed)
    y = np.arange(n_texts) % n_labels
    X = random.normal(size=(n_texts, width)).astype("f")
    X[:, 3], X[:, 5] = 0.0, 7.0
    X[:, :3] += distance * random.normal(size=(n_labels, 3)).astype("f")[y]
    return X, np.eye(n_labels, dtype="f")[y]


@pytest.mark.parametrize(("width", "exclusive"), [(8, True), (60, False)])
def test_the_fit_is_the_optimum(width, exclusive):
    """The loss over the features as they are, by finite differences, in float64."""
    X, Y = separated(40, width, 3, 1.0)
    W, b, _ = fit_probe(X, Y, exclusive=exclusive)
    deviation = X.std(axis=0)

    def loss(W, b, strength):
        scores, targets = torch.tensor(X @ W.T + b), torch.tensor(Y).double()
        if exclusive:
            total = -(targets * torch.log_softmax(scores, dim=1)).sum()
        else:
            bce = torch.nn.functional.binary_cross_entropy_with_logits
            total = bce(scores, targets, reduction="sum")
        return float(strength * total) + 0.5 * ((W * deviation) ** 2).sum()

    W, b = W.astype("d"), b.astype("d")
    slopes = []
    for strength in STRENGTHS:  # one of them was chosen
        size = 0.0
        for direction in np.random.default_rng(1).normal(size=(5, *W.shape)):
            step = 1e-4 * direction * (deviation > 1e-6)
            ahead, behind = (loss(W + s * step, b, strength) for s in (1, -1))
            size = max(size, abs(ahead - behind) / 2e-4)
        slopes.append(size)
    assert min(slopes) < 0.02 < sorted(slopes)[1]
    assert (W[:, [3, 5]] == 0).all()


def test_cross_validation_sees_no_text_that_it_scores():
    scores = []
    for seed in range(4):
        X, Y = separated(36, 10, 3, 0.0, seed)
        scores.append(macro_f(fit_probe(X, Y, exclusive=True)[2], Y, True))
    assert np.mean(scores) == pytest.approx(1 / 3, abs=0.15)  # the best of six
    X, Y = separated(36, 10, 3, 6.0)
    assert macro_f(fit_probe(X, Y, exclusive=True)[2], Y, True) > 0.8


def test_equal_texts_are_held_out_together():
    """Features that tell nothing but which text it is, three times each."""
    X, Y = separated(20, 40, 2, 0.0)
    X, Y, texts = np.tile(X, (3, 1)), np.tile(Y, (3, 1)), [*map(str, range(20))] * 3
    apart, together = (fit_probe(X, Y, x, exclusive=True)[2] for x in (None, texts))
    assert macro_f(together, Y, True) < 0.7 < 0.9 < macro_f(apart, Y, True)
    with pytest.raises(SpanftError, match="All labeled texts are the same"):
        fit_probe(X, Y, ["a"] * 60, exclusive=True)


def test_what_hardly_differs_between_two_texts_counts_little():
    X = np.array([[1.0, 0.5], [-1.0, 0.5001]], "f")
    W, _, _ = fit_probe(X, np.eye(2, dtype="f"), exclusive=True)
    assert abs(W[:, 1]).max() < 0.01 * abs(W[:, 0]).max()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("one_scale", [False, True])
def test_features_that_are_all_alike_tell_nothing(one_scale):
    Z, axes = reduced(np.ones((6, 5), "f"), one_scale=one_scale)
    assert Z.shape == (6, 0)
    assert axes.shape == (0, 5)


def text(i):
    """Return one of two kinds of texts, each of which occurs once."""
    return ("a very good film", "it was not bad")[i % 2] + " film" * (i // 2)


ROWS = {
    "textcat_multilabel": lambda i: {"text": text(i), "label": ["a", "b"][i % 2 :]},
    "text_score": lambda i: {"text": text(i), "score": i % 2 + 0.5},
    "pair": lambda i: {"sentence1": text(i), "sentence2": "bad", "label": "ab"[i % 2]},
}


@pytest.mark.parametrize("task", ROWS)
def test_a_pipeline_starts_from_it(task, started, capsys):
    rows = [ROWS[task](i) for i in range(12)]
    nlp = started(rows, task=task)
    (name,) = nlp.meta["probe"]
    assert f"{name!r} starts from a linear probe" in capsys.readouterr().err
    assert 0.9 < next(iter(nlp.meta["probe"][name].values())) <= 1.0
    docs = [nlp(" [SEP] ".join(map(str, [*row.values()][:-1]))) for row in rows]
    if task == "text_score":
        scores = [doc.cats["score"] for doc in docs]
        assert np.corrcoef(scores, [row["score"] for row in rows])[0, 1] > 0.9
        return
    # Both labels of half of the texts, where there may be several.
    right = [doc.cats["a"] > doc.cats["b"] for doc in docs]
    if task != "textcat_multilabel":
        assert right == [row["label"] == "a" for row in rows]
    model = nlp.get_pipe(name).model
    W = model.get_ref("output_layer").get_param("W")
    width = model.get_ref("rows").get_dim("nO")
    assert (W[:, :width] == 0).all()
    assert (W[:, width : 2 * width] != 0).any()


def test_texts_without_a_label_do_not_count(started):
    rows = [{"text": text(i), "label": "ab"[i % 2]} for i in range(12)]
    nlp = started(rows, regime="everything")
    examples, scores = [], []
    for row in [*rows, *({**row, "label": ""} for row in rows), *rows]:
        cats = {x: float(x == row["label"]) for x in "ab"}
        if len(examples) >= 24:
            cats = {"another component's": 1.0}
        doc = nlp.make_doc(row["text"])
        examples.append(Example.from_dict(doc, {"cats": cats}))
    for some in (examples[:12], examples[:24], examples):
        probe.start_from_probes(nlp, some)
        scores.append(nlp.meta["probe"]["textcat"])
    assert scores[0] == scores[1] == scores[2]


def test_what_a_text_says_nothing_of_is_not_wrong(started):
    rows = [{"text": text(i), "label": ["ab"[i % 2]]} for i in range(12)]
    nlp = started(rows, regime="everything", task="textcat_multilabel")
    examples, scores = [], []
    for row in rows * 2:
        cats = {x: float(x in row["label"]) for x in "ab"}
        cats = cats if len(examples) < 12 else {"a": cats["a"]}
        examples.append(Example.from_dict(nlp.make_doc(row["text"]), {"cats": cats}))
    for some in (examples[:12], examples):
        probe.start_from_probes(nlp, some)
        scores.append(nlp.meta["probe"]["textcat_multilabel"])
    assert scores[0] == scores[1]


@pytest.mark.parametrize(("n_texts", "share"), [(32, 1.0), (34, 0.2)])
def test_a_handful_of_texts_keeps_all_of_it(n_texts, share, started, monkeypatch):
    def ones(X, Y, texts, exclusive):
        return np.ones((Y.shape[1], X.shape[1])), np.ones(Y.shape[1]), Y

    monkeypatch.setattr(probe, "fit_probe", ones)
    rows = [{"text": text(i), "label": "ab"[i % 2]} for i in range(n_texts)]
    nlp = started(rows, regime="everything")
    output = nlp.get_pipe("textcat").model.get_ref("output_layer")
    for name in ("W", "b"):
        assert output.get_param(name) == pytest.approx(share)
