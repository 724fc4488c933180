"""Heads that are tried: against loops, sums and finite differences."""

from itertools import product

import numpy as np
import pytest
import spacy
import torch
from spacy.training import Example
from spacy.util import registry
from thinc.api import Model, Ragged
from transformers import AutoModel

from benchmarks.fewlabels import heads, lattice, mixing
from spacy_spanft import NgramDictionary
from spacy_spanft.ml.alignment import encoding_of_tokens, encoding_of_wordpieces
from spacy_spanft.ml.layers.doc_rows import DocRows
from spacy_spanft.segmenters.matcher import NgramMatcher

TOKENS = {
    **{"@architectures": "spacy.HashEmbedCNN.v2", "pretrained_vectors": None},
    **{"width": 8, "depth": 1, "embed_size": 50, "window_size": 1},
    **{"maxout_pieces": 2, "subword_features": True},
}


def test_a_residual_window_is_that_of_loops():
    pooling = heads.residual_cnn_pooling()
    random = np.random.default_rng(0)
    rows = random.normal(size=(7, 4)).astype("f")
    X = Ragged(rows, np.array([1, 4, 0, 2], "i"))
    pooling.initialize(X=X)
    texts = np.split(rows, [1, 5, 5])
    maxima = np.array([text.max(0) if len(text) else np.zeros(4) for text in texts])
    np.testing.assert_allclose(pooling.predict(X), maxima, atol=0.05)
    window = next(node for node in pooling.walk() if node.has_param("W"))
    W, b = random.normal(size=(3, 4, 4)).astype("f"), np.arange(4, dtype="f") / 4
    window.set_param("W", W)
    window.set_param("b", b)
    expected = np.zeros((4, 4))
    for number, text in enumerate(texts):
        padded = np.vstack([np.zeros((1, 4)), text, np.zeros((1, 4))])
        found = [
            row + np.maximum(sum(W[k] @ padded[j + k] for k in range(3)) + b, 0)
            for j, row in enumerate(text)
        ]
        expected[number] = np.max(found, axis=0) if found else 0
    np.testing.assert_allclose(pooling.predict(X), expected, atol=1e-5)


def test_shared_weights_learn_from_both_levels():
    """The same scores as of two alike poolings, and the sum of their gradients."""
    block = {"@architectures": "spacy-spanft.CnnPooling.v1"}
    given = {"tok2vec": TOKENS, "span_pooling": block, "doc_pooling": block}
    given |= {"exclusive_classes": True, "dropout": 0.0, "nO": 2}
    nlp = spacy.blank("en")
    docs = [*map(nlp.make_doc, ["the united states of america", "", "new york"])]
    for doc in docs:
        doc.spans["ngrams"] = [doc[:2]] if len(doc) else []
    shared, apart = (
        registry.resolve({"model": {"@architectures": name, **given}})["model"]
        for name in (heads.SHARED, "spacy-spanft.SpanTextCat.v1")
    )
    for model in (shared, apart):
        model.initialize(X=docs)

    def windows_of(model):
        return [node for node in model.walk() if node.name == "span_window"]

    (one,) = windows_of(shared)
    two = windows_of(apart)
    assert len(two) == 2
    for window, name in product(two, ("W", "b")):
        window.set_param(name, one.get_param(name).copy())
    others = [
        [n for n in model.walk() if n.param_names and n.name != "span_window"]
        for model in (shared, apart)
    ]
    for node, other in zip(*others, strict=True):
        for name in node.param_names:
            if node.has_param(name):
                other.set_param(name, node.get_param(name).copy())
    found = [model(docs, is_train=True) for model in (shared, apart)]
    np.testing.assert_allclose(found[0][0], found[1][0], atol=1e-6)
    gradient = np.array([[1, -1], [0, 0], [-2, 2]], "f")
    for _, backprop in found:
        backprop(gradient)
    for name in ("W", "b"):
        parts = [window.get_grad(name) for window in two]
        assert all(abs(part).max() > 0 for part in parts)
        np.testing.assert_allclose(one.get_grad(name), sum(parts), atol=1e-5)


def test_places_of_tokens_in_their_pieces():
    lengths = np.array([1, 2, 4, 1])
    places = heads.places_of_tokens(lengths)
    assert places.tolist() == [0, 1, 2, 1, 3, 3, 2, 0]
    assert heads.places_of_tokens(np.array([], int)).tolist() == []


def test_windows_know_where_spans_begin():
    block = {"@architectures": heads.EDGES, "tok2vec": TOKENS}
    block["token_pooling"] = {"@architectures": "spacy-spanft.FirstPooling.v1"}
    model = registry.resolve({"model": block})["model"]
    nlp = spacy.blank("en")
    one, other, empty = map(nlp.make_doc, ["a b c d", "a b c d", ""])
    for doc in (one, other, empty):
        doc.spans["ngrams"] = []
    model.initialize(X=[one])
    assert model.get_dim("nO") == 2 * (8 + heads.N_PLACES)
    first, nothing, second = model.predict([one, empty, other])
    np.testing.assert_allclose(first, second, atol=1e-6)
    assert nothing.shape == (0, 2 * (8 + heads.N_PLACES))
    other.spans["ngrams"] = [other[2:4]]
    changed = model.predict([other])[0]
    # The own vectors are the same, what stands beside them is not.
    np.testing.assert_allclose(changed[:, :8], first[:, :8], atol=1e-6)
    assert np.argmax(changed[:, 8:12], axis=1).tolist() == [0, 0, 1, 2]
    # "b" sees that a span begins after it, "a" does not.
    differences = abs(changed[:, 12:] - first[:, 12:]).max(axis=1)
    assert differences[0] < 1e-6 < differences[1]


def test_a_head_that_starts_as_its_baseline():
    residual = {"@architectures": heads.RESIDUAL}
    model = {"@architectures": "spacy-spanft.SpanTextCat.v1", "tok2vec": TOKENS}
    model |= {"span_pooling": residual, "doc_pooling": residual}
    nlp = spacy.blank("en")
    nlp.add_pipe("textcat", config={"model": {**model, "exclusive_classes": True}})
    one, other = (nlp.make_doc("the united states of america") for _ in range(2))
    one.spans["ngrams"] = [one[:3]]
    other.spans["ngrams"] = [other[1:5]]
    examples = [
        Example.from_dict(doc, {"cats": {"A": float(on), "B": float(not on)}})
        for doc, on in ((one, True), (other, False))
    ]
    nlp.initialize(lambda: examples)
    textcat = nlp.get_pipe("textcat")
    before = textcat.predict([one, other])
    assert abs(before[0] - before[1]).max() > 1e-6
    heads.start_as_baseline(textcat.model)
    first, second = textcat.predict([one, other])
    np.testing.assert_array_equal(first, second)


def identity():
    """A layer in the place of a pooling."""
    return Model("identity", lambda model, X, is_train: (X, lambda dY: dY))


def check_slope(value, gradient, loss, rng, step=1e-3):
    """Compare the gradient of one array with finite differences, in a direction."""
    direction = rng.normal(size=value.shape).astype("f")
    kept = value.copy()
    sides = []
    for sign in (1, -1):
        value[...] = kept + sign * step * direction
        sides.append(loss())
    value[...] = kept
    slope = (sides[0] - sides[1]) / (2 * step)
    assert slope == pytest.approx(float((gradient * direction).sum()), rel=0.02)


def test_a_gate_is_that_of_the_formula():
    model = heads.gated(identity())
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 4)).astype("f")
    model.initialize(X=Ragged(X, np.array([5], "i")))
    # Nearly shut, so that training begins near what stands beside it.
    np.testing.assert_allclose(model.predict(X), X / (1 + np.exp(2)), atol=0.02)
    linear = model.layers[1]
    W, b = (rng.normal(size=s).astype("f") for s in ((4, 4), (4,)))
    linear.set_param("W", W)
    linear.set_param("b", b)
    np.testing.assert_allclose(
        model.predict(X), X / (1 + np.exp(-(X @ W.T + b))), atol=1e-5
    )
    weights = rng.normal(size=(5, 4)).astype("f")
    _, backprop = model(X, is_train=True)
    dX = backprop(weights)

    def loss():
        return float((model.predict(X).astype("d") * weights).sum())

    check_slope(X, dX, loss, rng)
    for name in ("W", "b"):
        check_slope(linear.get_param(name), linear.get_grad(name), loss, rng)


def test_where_nothing_is_pooled_spans_decide_by_the_comparison_alone(nlp):
    given = {"tok2vec": TOKENS, "pair_separator": "|", "exclusive_classes": True}
    given |= {"span_pooling": {"@architectures": "spacy-spanft.MaxPooling.v1"}}
    given |= {"doc_pooling": {"@architectures": heads.NOTHING}, "dropout": 0.0}
    block = {"@architectures": "spacy-spanft.SpanTextCat.v1", "nO": 2, **given}
    model = registry.resolve({"model": block})["model"]
    docs = [nlp.make_doc(text) for text in ("new york | york", "", "a b | b c")]
    docs[0].spans["ngrams"] = [docs[0][:2]]
    docs[1].spans["ngrams"] = docs[2].spans["ngrams"] = []
    model.initialize(X=docs)
    pool, _, _, match = model.get_ref("pooled").layers
    rows = model.get_ref("rows").predict(docs)
    vectors, backprop = pool(rows, is_train=True)
    assert vectors.shape == (3, 8)
    assert not vectors.any()
    assert not backprop(np.ones_like(vectors)).any()
    assert match.predict(rows)[0].any()


@pytest.fixture
def matcher():
    ngrams = ["the united states", "united states", "states of", "new york"]
    return NgramMatcher(NgramDictionary(dict.fromkeys(ngrams, 5)))


def test_ngrams_that_overlap_are_all_found(nlp, matcher):
    doc = nlp("The United States of new york")
    found = lattice.matches(doc, matcher)
    assert found.tolist() == [[0, 3], [1, 3], [2, 4], [4, 6]]
    assert lattice.matches(nlp("a moon"), matcher).tolist() == []
    assert lattice.matches(nlp(""), matcher).shape == (0, 2)


def test_pieces_that_overlap():
    # [CLS], a token of two wordpieces, one of none, one of one, [SEP].
    encoding = encoding_of_wordpieces([1, 2, 3], [2, 0, 1], [5], 5)
    spans = np.array([[0, 3], [1, 2], [1, 3]])
    rows, lengths = lattice.overlapping_pieces(encoding, spans)
    pieces = [piece.tolist() for piece in np.split(rows, np.cumsum(lengths)[:-1])]
    assert pieces == [[0], [1, 2], [3], [4], [1, 2, 3], [3]]
    empty = lattice.overlapping_pieces(encoding_of_tokens(0), spans[:0])
    assert [len(part) for part in empty] == [0, 0]


def test_a_lattice_is_that_of_loops(nlp, matcher):
    block = {"@architectures": "spacy-spanft.CnnPooling.v1"}
    pooling = [registry.resolve({"pooling": block})["pooling"] for _ in range(2)]
    pool = lattice.lattice_pool(*pooling)
    pool.attrs["matcher"] = matcher
    docs = [nlp("the united states of new york"), nlp(""), nlp("a moon")]
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(8, 3)).astype("f")
    encodings = [encoding_of_tokens(len(doc)) for doc in docs]
    X = DocRows(docs, vectors, [0, 6, 6, 8], encodings, None)
    pool.initialize(X=Ragged(vectors[:1], np.array([1], "i")))
    for window in (node for node in pool.walk() if node.name == "span_window"):
        window.set_param("b", rng.normal(size=3).astype("f"))

    def pooled(number, pieces):
        lengths = np.array([len(piece) for piece in pieces], "i")
        return pooling[number].predict(Ragged(np.concatenate(pieces), lengths))

    spans = [(0, 3), (1, 3), (2, 4), (4, 6)]
    singles = [vectors[i : i + 1] for i in range(8)]
    first = pooled(0, [*singles[:6], *(vectors[a:b] for a, b in spans)])
    third = pooled(0, singles[6:])
    expected = [pooled(1, [first])[0], np.zeros(3), pooled(1, [third])[0]]
    np.testing.assert_allclose(pool.predict(X), expected, atol=1e-5)
    weights = rng.normal(size=(3, 3)).astype("f")
    _, backprop = pool(X, is_train=True)

    def loss():
        return float((pool.predict(X).astype("d") * weights).sum())

    check_slope(vectors, backprop(weights), loss, rng, step=1e-4)


def test_a_mix_of_layers_is_their_sum_and_is_learned(bert):
    plain, mixed = (AutoModel.from_pretrained(bert).eval() for _ in range(2))
    for model in (plain, mixed):  # its layers change little of what they are given
        for name, parameter in model.named_parameters():
            if name.endswith("dense.weight"):
                parameter.data *= 20
    mixing.mix(mixed)
    ids = torch.tensor([[2, 7, 8, 9, 3], [2, 9, 3, 0, 0]])
    inputs = {"input_ids": ids, "attention_mask": (ids > 0).long()}
    states = plain(**inputs, output_hidden_states=True).hidden_states
    rest = 0.5 / (len(states) - 1)
    expected = sum(rest * state for state in states[:-1]) + 0.5 * states[-1]
    assert not torch.allclose(expected, states[-1], atol=0.05)
    torch.testing.assert_close(mixed(**inputs)[0], expected, atol=1e-5, rtol=1e-5)

    # What only the embeddings know is asked for: their share grows.
    optimizer = torch.optim.Adam([mixed.layer_mix], lr=1e-3)
    for _ in range(20):
        optimizer.zero_grad()
        loss = (mixed(**inputs)[0] - states[0].detach()).square().mean()
        loss.backward()
        optimizer.step()
    shares = torch.softmax(mixing.SCALE * mixed.layer_mix, dim=0)
    assert shares[0] > 2 * rest
    assert shares[-1] < 0.4
