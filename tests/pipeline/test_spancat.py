"""Span classification: the reducer, the suggester, and both in spaCy's spancat."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Span

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.layers.scoring import linear_cross_entropy
from spacy_spanft.pipeline.suggesters import segment_suggester

torch = pytest.importorskip("torch")

WIDTH = 5


def test_scorer_has_the_gradient_of_cross_entropy():
    random = np.random.default_rng(0)
    layer = linear_cross_entropy(2, WIDTH)
    layer.initialize()
    layer.layers[0].set_param("W", random.normal(size=(2, WIDTH)).astype("f"))
    X = random.normal(size=(7, WIDTH)).astype("f")
    target = (random.random((7, 2)) < 0.5).astype("f")
    Y, backprop = layer(X, is_train=True)
    rows, W = (
        torch.tensor(array, requires_grad=True)
        for array in (X, layer.layers[0].get_param("W"))
    )
    scores = torch.sigmoid(rows @ W.T)
    np.testing.assert_allclose(Y, scores.detach(), atol=1e-6)
    loss = torch.nn.functional.binary_cross_entropy(
        scores, torch.tensor(target), reduction="sum"
    )
    loss.backward()
    dX = backprop(Y - target)  # as spancat does
    np.testing.assert_allclose(dX, rows.grad, atol=1e-5)
    np.testing.assert_allclose(layer.layers[0].get_grad("W"), W.grad, atol=1e-5)


@given(
    n_tokens=st.lists(st.integers(0, 9), min_size=1, max_size=4),
    sizes=st.sampled_from([(1, 0), (1, 1), (1, 4), (2, 3), (3, 5)]),
    seed=st.integers(0, 99),
)
def test_suggester_gives_each_ngram_and_segment_once(nlp, n_tokens, sizes, seed):
    min_size, max_size = sizes
    random = np.random.default_rng(seed)
    docs, expected = [], []
    for n in n_tokens:
        doc = nlp.make_doc(" ".join("abcdefghi"[:n]))
        ends = random.integers(0, n + 1, size=(3, 2)) if n else []
        segments = [(int(min(e)), int(max(e))) for e in ends if e[0] != e[1]]
        doc.spans["x"] = [Span(doc, a, b) for a, b in segments]
        docs.append(doc)
        grams = {(a, a + k) for k in range(min_size, max_size + 1) for a in range(n)}
        expected.append({(a, b) for a, b in grams if b <= n} | set(segments))
    actual = segment_suggester("x", min_size, max_size)(docs)
    assert actual.lengths.tolist() == [len(one) for one in expected]
    rows = iter(map(tuple, actual.dataXd.tolist()))
    for one in expected:
        assert {next(rows) for _ in one} == one


def test_settings_of_the_suggester(nlp):
    with pytest.raises(SpanftError, match="max_size is 2, but must be 0, or min_size"):
        segment_suggester(min_size=3, max_size=2)
    with pytest.raises(SpanftError, match="annotating_components"):
        segment_suggester()([nlp.make_doc("no spans here")])
