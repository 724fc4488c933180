"""Span classification: the reducer, the suggester, and both in spaCy's spancat."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.ml.models.spancat import build_mean_max_reducer, build_spancat_model
from spacy.tokens import Span
from thinc.api import Linear, Model, fix_random_seed
from thinc.types import Ragged

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.layers.pooling import boundary_attention_reducer
from spacy_spanft.ml.layers.scoring import linear_cross_entropy
from spacy_spanft.ml.spancat import span_categorizer
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


def outcome(build, vectors, candidates, seed):
    """The scores of candidates, and the gradients of vectors and weights."""
    fix_random_seed(seed)
    random, taken = np.random.default_rng(seed), []

    def forward(model, docs, is_train):
        return vectors, lambda d_vectors: taken.extend(d_vectors) or docs

    tok2vec = Model("vectors", forward, dims={"nO": WIDTH})
    model = build(tok2vec, build_mean_max_reducer(4), Linear())
    X = [None for _ in vectors], candidates
    model.initialize(X, model.ops.alloc2f(len(candidates.dataXd), 2))
    nodes = [model.get_ref("scorer"), *model.get_ref("reducer").walk()]
    weights = [(node, name) for node in nodes for name in node.param_names]
    for node, name in weights:
        noise = random.normal(size=node.get_param(name).shape).astype("f")
        node.set_param(name, node.get_param(name) + noise)
    Y, backprop = model(X, is_train=True)
    backprop(random.normal(size=Y.shape).astype("f"))
    return [Y, *taken, *(node.get_grad(name) for node, name in weights)]


@given(
    n_tokens=st.lists(st.integers(0, 7), min_size=1, max_size=5).filter(any),
    seed=st.integers(0, 99),
)
def test_faster_categorizer_equals_spacys(n_tokens, seed):
    random = np.random.default_rng(seed)
    vectors = [random.normal(size=(n, WIDTH)).astype("f") for n in n_tokens]
    starts = [random.integers(n, size=4 if n else 0).tolist() for n in n_tokens]
    pairs = [
        (start, random.integers(start, n) + 1)
        for n, of_doc in zip(n_tokens, starts, strict=True)
        for start in of_doc
    ]
    counts = [len(of_doc) for of_doc in starts]
    candidates = Ragged(np.array(pairs, "i"), np.array(counts, "i"))
    builds = build_spancat_model, span_categorizer
    both = [outcome(build, vectors, candidates, seed) for build in builds]
    for expected, actual in zip(*both, strict=True):
        np.testing.assert_allclose(actual, expected, atol=1e-4)


def test_its_layers_are_those_of_spacy_and_other_reducers_are_left_to_it():
    tok2vec = Model("vectors", None, dims={"nO": WIDTH})
    for reducer in (boundary_attention_reducer(4), build_mean_max_reducer(4)):
        spacys, ours = (
            build(tok2vec, reducer, Linear(2, 4))
            for build in (build_spancat_model, span_categorizer)
        )
        is_faster = reducer.name.startswith("reduce_last")
        assert (spacys._func is not ours._func) == is_faster
        # The weights of either can be loaded by the other.
        ours.from_dict(spacys.to_dict())
        assert ours.get_ref("reducer") is reducer


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
