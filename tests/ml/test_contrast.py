"""The contrast of labels, against all pairs of a batch in PyTorch."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from thinc.api import Softmax

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.contrast import contrast_gradient, normalized, with_contrast

from .test_textcat import MODELS, examples_for, make, train

WIDTH = 5


def loss(vectors, labels):
    """Compute the loss pair by pair."""
    same, other = [], []
    for i in range(len(vectors)):
        for j in range(i):
            cosine = torch.cosine_similarity(vectors[i], vectors[j], dim=0)
            kind = same if labels[i] == labels[j] else other
            kind.append((cosine - float(labels[i] == labels[j])) ** 2)
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


def test_a_single_text_teaches_nothing():
    unit = np.ones((1, 1), "f")
    assert not contrast_gradient(np, unit, np.eye(3, dtype="f")[:1]).any()


def test_it_is_added_to_the_cross_entropy():
    random = np.random.default_rng(0)
    X = random.normal(size=(6, 3 * WIDTH)).astype("f")
    X[3] = 0  # an empty text
    labels = np.array([0, 1, 1, 0, 2, 0])
    softmax = Softmax(3, 3 * WIDTH)
    softmax.initialize()
    softmax.set_param("W", random.normal(size=(3, 3 * WIDTH)).astype("f"))
    scores, backprop = with_contrast(softmax, 0.7, 3, 1)(X, True)
    np.testing.assert_array_equal(scores, softmax.predict(X))
    truths = np.eye(3, dtype="f")[labels]
    truths[5] = 0  # it has none of the labels
    x = torch.tensor(X, requires_grad=True)
    logits = x @ torch.tensor(softmax.get_param("W")).T
    total = logits.logsumexp(dim=1).sum() - (torch.tensor(truths) * logits).sum()
    compared = [0, 1, 2, 4]
    contrast = loss(x[compared, WIDTH : 2 * WIDTH], labels[compared])
    (total + 0.7 * len(compared) * contrast).backward()
    np.testing.assert_allclose(backprop(scores - truths), x.grad, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "settings", "pool_learns"),
    [
        ("cls", {"label_smoothing": 0.1}, False),
        ("cnn-cnn", {}, False),
        ("cnn-cnn", {"use_cls": False}, True),
        ("tokens", {}, False),
    ],
)
def test_the_vector_of_the_text_is_compared(name, settings, pool_learns, bert):
    nlp = make(bert, {**MODELS[name], "contrast": 30.0, **settings}, window=100)
    train(nlp, examples_for(nlp), steps=0)
    model = nlp.get_pipe("textcat").model
    output = model.get_ref("output_layer")
    output.set_param("W", 0 * output.get_param("W"))  # the cross-entropy ends here
    nlp.update(examples_for(nlp), sgd=False, annotates=["span_segmenter"])

    def learns(part):
        grads = [x.get_grad(k) for x in part.walk() for k in x.param_names]
        return any(np.abs(grad).max() > 1e-7 for grad in grads)

    assert learns(output)
    assert learns(model.get_ref("pooled")) == pool_learns
    *_, encoder = (x for x in nlp.get_pipe("transformer").model.walk() if x.shims)
    grads = [p.grad for p in encoder.shims[0]._model.parameters()]
    reached = any(g is not None and float(g.abs().max()) > 1e-7 for g in grads)
    assert reached == (name != "tokens")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"contrast": 1.0, "exclusive_classes": False}, "texts with one label each"),
        ({"contrast": -1.0}, "contrast is -1.0, but must be 0 or more"),
    ],
)
def test_what_contrast_cannot_be_is_refused(settings, reason, bert):
    with pytest.raises(SpanftError, match=reason):
        make(bert, {**MODELS["cls"], **settings})
