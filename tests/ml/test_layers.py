"""The layers against the equations in padded PyTorch, and finite differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thinc.api import Softmax, reduce_mean, set_dropout_rate
from thinc.types import Ragged

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.alignment import encoding_of_tokens, encoding_of_wordpieces
from spacy_spanft.ml.layers.doc_rows import DocRows
from spacy_spanft.ml.layers.pooling import (
    attention_pooling,
    boundary_attention_reducer,
    cnn_pooling,
    max_pooling,
    pooler,
)
from spacy_spanft.ml.layers.scoring import fixed_dropout, zeros_for_nothing
from spacy_spanft.ml.layers.sequences import with_nonempty
from spacy_spanft.ml.layers.span_pool import doc_summary, span_pool, text_pool
from spacy_spanft.ml.layers.span_window import span_window

from . import torch_twins as twins
from .torch_twins import WIDTH, assert_equal, flat, initialized, like, ragged

torch = pytest.importorskip("torch")

lengths_lists = st.lists(st.integers(0, 7), min_size=1, max_size=8)
POOLINGS = {
    "cnn": (cnn_pooling, twins.cnn),
    "attention": (attention_pooling, twins.attention),
    "max": (max_pooling, twins.maximum),
    "boundaries": (lambda: boundary_attention_reducer(3), twins.boundaries),
}


@pytest.mark.parametrize("name", POOLINGS)
@given(lengths=lengths_lists, seed=st.integers(0, 99))
def test_poolings_equal_padded_torch(name, lengths, seed):
    build, reference = POOLINGS[name]
    layer, X = initialized(build(), seed=seed), ragged(lengths, seed)
    assert layer.predict(X).dtype == X.dataXd.dtype
    assert_equal(layer, X, lambda rows, *w: reference(rows, lengths, *w))


@given(lengths=lengths_lists, kernel_size=st.integers(1, 5))
def test_any_kernel_size(lengths, kernel_size):
    layer = initialized(cnn_pooling(kernel_size))
    assert_equal(layer, ragged(lengths), lambda rows, *w: twins.cnn(rows, lengths, *w))


def test_pooler_equals_torch():
    X = np.random.default_rng(0).normal(size=(5, 7))
    layer = initialized(pooler(), X)
    linear = torch.nn.functional.linear
    assert_equal(layer, X, lambda rows, W, b: torch.tanh(linear(rows, W, b)), 1e-6)


@pytest.mark.parametrize(
    "build", [span_window, cnn_pooling, attention_pooling, max_pooling]
)
@given(lengths=lengths_lists, seed=st.integers(0, 99))
def test_gradient_by_finite_differences(build, lengths, seed):
    layer = initialized(build(), seed=seed)
    X = ragged(lengths, seed)
    Y, backprop = layer(X, is_train=True)
    dY = np.random.default_rng(2).normal(size=flat(Y).shape)
    dX = backprop(like(Y, dY)).dataXd

    def loss():
        return float((flat(layer.predict(X)) * dY).sum())

    arrays = [(X.dataXd, dX)]
    if X.lengths.any():
        pairs = twins.weights_of(layer)
        arrays += [(node.get_param(name), node.get_grad(name)) for node, name in pairs]
    step = 1e-6
    random = np.random.default_rng(4)
    for array, gradient in arrays:
        for index in random.permutation(array.size)[:10]:
            before = array.flat[index]
            array.flat[index] = before + step
            above = loss()
            array.flat[index] = before - step
            below = loss()
            array.flat[index] = before
            slope = (above - below) / (2 * step)
            assert gradient.flat[index] == pytest.approx(slope, abs=1e-4)


def test_dropout_keeps_its_own_rate():
    layer = fixed_dropout(0.25)
    set_dropout_rate(layer, 0.0)  # as spaCy does before each update
    X = np.ones((300, 40), "f")
    Y, backprop = layer(X, is_train=True)
    assert (Y == 0).mean() == pytest.approx(0.25, abs=0.02)
    assert Y.mean() == pytest.approx(1, abs=0.03)
    assert Y.dtype == X.dtype
    np.testing.assert_array_equal(backprop(X), Y)
    np.testing.assert_array_equal(layer.predict(X), X)


def test_windows_never_leave_their_sequence():
    layer = initialized(span_window())
    both = ragged([3, 4], 5)
    parts = [
        layer.predict(Ragged(both.dataXd[a:b], np.array([b - a], "i"))).dataXd
        for a, b in ((0, 3), (3, 7))
    ]
    np.testing.assert_allclose(layer.predict(both).dataXd, np.concatenate(parts))


def test_wrong_gradient_shape_fails_where_it_is_made():
    _, backprop = initialized(span_window())(ragged([3]), is_train=True)
    with pytest.raises(ValueError, match=r"(?i)shape"):
        backprop(ragged([2]))


def test_any_reduction_of_thinc_can_pool():
    layer = with_nonempty(reduce_mean())
    X = ragged([0, 2, 0, 3], 0, "f")
    Y, backprop = layer(X, is_train=True)
    assert not Y[[0, 2]].any()
    np.testing.assert_allclose(Y[1], X.dataXd[:2].mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(backprop(np.ones_like(Y)).dataXd[2], 1 / 3, rtol=1e-6)


def doc_rows(nlp, seed, has_spans=True):
    """Docs with spans, an empty one among them, and an encoder's rows for them.

    Some are in two windows that overlap, some are cut off, some tokens have no row.
    """
    random = np.random.default_rng(seed)
    docs, encodings, starts = [], [], [0]
    for n_tokens in (4, 0, 1, 6):
        doc = nlp.make_doc("a b c d e f"[: 2 * n_tokens])
        is_cut = n_tokens > 3 and has_spans
        doc.spans["x"] = [doc[1:3], doc[3:4]] if is_cut else []
        encoding = encode(random, n_tokens) if n_tokens else encoding_of_tokens(0)
        docs.append(doc)
        encodings.append(encoding)
        size = len(encoding.windows) * encoding.width if n_tokens else 0
        starts.append(starts[-1] + size)
    vectors = random.normal(size=(starts[-1], WIDTH))
    cls = [0 if len(doc) else -1 for doc in docs]
    return DocRows(docs, vectors, starts, encodings, cls)


def encode(random, n_tokens):
    """Draw the rows of tokens as a transformer's, between [CLS] and [SEP]."""
    bounds = [(0, n_tokens)]
    if n_tokens > 3 and random.random() < 0.5:
        bounds = [(0, 3), (2, n_tokens)]
    n_rows = random.integers(0, 4, n_tokens)
    limit = int(random.integers(3, 20))
    sizes = [min(limit, 2 + int(n_rows[a:b].sum())) for a, b in bounds]
    width = max(sizes) + int(random.integers(0, 3))
    rows = [[] for _ in range(n_tokens)]
    for window, (a, b) in enumerate(bounds):
        at = 1
        for token in range(a, b):
            for _ in range(n_rows[token]):
                if at < limit:
                    rows[token].append(window * width + at)
                at += 1
    return encoding_of_wordpieces(
        [row for of_token in rows for row in of_token],
        [len(of_token) for of_token in rows],
        sizes,
        width,
    )


def pieces_of(X):
    """Cut the rows of each Doc into pieces with plain loops."""
    for doc, start, encoding in zip(X.docs, X.starts, X.encodings, strict=False):
        begins = np.cumsum(encoding.n_rows) - encoding.n_rows
        spans = [(span.start, span.end) for span in doc.spans["x"]]
        inside = {i: (a, b) for a, b in spans for i in range(a, b)}
        groups = {}
        for i in range(len(doc)):
            rows = encoding.rows[begins[i] : begins[i] + encoding.n_rows[i]].tolist()
            first = min((row // encoding.width for row in rows), default=0)
            rows = [row for row in rows if row // encoding.width == first]
            groups.setdefault(inside.get(i, i), []).extend(rows)
        pieces = [group for group in groups.values() if group]
        last = (len(encoding.windows) - 1) * encoding.width + encoding.windows[-1] - 1
        # A text that was cut off does not end with [SEP].
        end = [] if last in encoding.rows else [[int(last)]]
        pieces = [[0], *pieces, *end] if len(doc) else []
        yield [[start + row for row in piece] for piece in pieces]


@given(seed=st.integers(0, 300))
def test_span_pool_equals_plain_loops_and_padded_torch(nlp, seed):
    first, second = (initialized(cnn_pooling(), seed=seed + i) for i in (0, 1))
    X = doc_rows(nlp, seed)

    def reference(rows, W1, b1, W2, b2):
        pooled = []
        for pieces in pieces_of(X):
            indices = [row for piece in pieces for row in piece]
            sizes = [len(piece) for piece in pieces]
            vectors = twins.cnn(rows[indices], sizes, W1, b1) if sizes else rows[:0]
            pooled.append(twins.cnn(vectors, [len(sizes)], W2, b2))
        return torch.cat(pooled)

    assert_equal(span_pool(first, second, "x"), X, reference)


@given(seed=st.integers(0, 300))
def test_text_pool_looks_at_no_spans(nlp, seed):
    first, second = (initialized(cnn_pooling(), seed=seed + i) for i in (0, 1))
    X = doc_rows(nlp, seed, has_spans=False)
    texts = [[row for piece in pieces for row in piece] for pieces in pieces_of(X)]
    sizes = [len(rows) for rows in texts]

    def reference(rows, W1, b1, W2, b2):
        of_texts = rows[[row for rows in texts for row in rows]]
        windows = twins.windows(of_texts, sizes, W1, b1)
        return twins.cnn(windows, sizes, W2, b2)

    unread = [nlp.make_doc("no spans are looked at")] * len(X.docs)
    assert_equal(text_pool(first, second), X._replace(docs=unread), reference)


def test_text_pool_needs_windows():
    with pytest.raises(SpanftError, match=r"CnnPooling\.v1"):
        text_pool(max_pooling(), max_pooling())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["cls", "mean", "last", "tokens"])
def test_summary_is_one_row_or_the_mean(nlp, kind, seed):
    X = doc_rows(nlp, seed)
    if kind == "tokens":
        X = X._replace(cls=None)
    elif kind == "last":  # the row that stands for a text need not be the first
        X = X._replace(cls=[int(n) - 1 for n in np.diff(X.starts)])
    rows_of = []
    for i, encoding in enumerate(X.encodings):
        if not len(X.docs[i]):
            rows_of.append([])
        elif kind in ("cls", "last"):
            rows_of.append([X.starts[i] + X.cls[i]])
        else:  # those that are not padding
            sizes = enumerate(encoding.windows.tolist())
            rows = [w * encoding.width + j for w, n in sizes for j in range(n)]
            rows_of.append([X.starts[i] + row for row in rows])

    def reference(rows):
        means = [rows[own].sum(dim=0) / max(1, len(own)) for own in rows_of]
        return torch.stack(means)

    assert_equal(doc_summary("mean" if kind == "mean" else "cls"), X, reference)


def test_a_text_without_cls_is_an_error(nlp):
    X = doc_rows(nlp, 0)
    with pytest.raises(SpanftError, match='summary = "mean"'):
        doc_summary().predict(X._replace(cls=[-1] * len(X.docs)))


def test_rows_of_zeros_have_no_scores_and_no_gradient():
    random = np.random.default_rng(0)
    X = random.normal(size=(4, WIDTH)).astype("f")
    X[[1, 3]] = 0.0
    plain = Softmax(3)
    plain.initialize(X=X, Y=np.zeros((4, 3), "f"))
    plain.set_param("W", random.normal(size=(3, WIDTH)).astype("f"))
    Y, backprop = zeros_for_nothing(plain)(X, is_train=True)
    expected, backprop_plain = plain(X[[0, 2]], is_train=True)
    np.testing.assert_allclose(Y[[0, 2]], expected, rtol=1e-6)
    assert not Y[[1, 3]].any()
    dY = random.normal(size=Y.shape).astype("f")
    dX = backprop(dY)
    gradients = {name: plain.get_grad(name).copy() for name in ("W", "b")}
    for name in ("W", "b"):
        plain.set_grad(name, np.zeros_like(plain.get_grad(name)))
    np.testing.assert_allclose(dX[[0, 2]], backprop_plain(dY[[0, 2]]), rtol=1e-5)
    assert not dX[[1, 3]].any()
    for name, gradient in gradients.items():
        np.testing.assert_allclose(plain.get_grad(name), gradient, rtol=1e-5)
