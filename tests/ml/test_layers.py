"""The layers against the equations in padded PyTorch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thinc.api import NumpyOps, Softmax, set_dropout_rate

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.alignment import align_pieces, encoding_of_tokens, get_spans
from spacy_spanft.ml.layers import pooling
from spacy_spanft.ml.layers.encoder_rows import DocRows
from spacy_spanft.ml.layers.scoring import fixed_dropout, zeros_for_nothing
from spacy_spanft.ml.layers.sequences import TorchOps
from spacy_spanft.ml.layers.span_pool import doc_summary, span_pool, text_pool

from . import torch_twins as twins
from .torch_twins import WIDTH, assert_equal, encode, initialized, ragged

torch = pytest.importorskip("torch")

lengths_lists = st.lists(st.integers(0, 7), min_size=1, max_size=8)
POOLINGS = {
    "cnn": (pooling.cnn_pooling, twins.cnn),
    "cnn-5": (lambda: pooling.cnn_pooling(5), twins.cnn),
    "attention": (pooling.attention_pooling, twins.attention),
    "max": (pooling.max_pooling, twins.maximum),
    "boundaries": (lambda: pooling.boundary_attention_reducer(3), twins.boundaries),
}


@pytest.mark.parametrize("name", POOLINGS)
@given(lengths=lengths_lists, seed=st.integers(0, 99))
def test_poolings_equal_padded_torch(name, lengths, seed):
    build, reference = POOLINGS[name]
    layer, X = initialized(build(), seed=seed), ragged(lengths, seed)
    assert layer.predict(X).dtype == X.dataXd.dtype
    assert_equal(layer, X, lambda rows, *w: reference(rows, lengths, *w))


def test_pooler_equals_torch():
    X = np.random.default_rng(0).normal(size=(5, 7))
    layer = initialized(pooling.pooler(), X)
    linear = torch.nn.functional.linear
    assert_equal(layer, X, lambda rows, W, b: torch.tanh(linear(rows, W, b)), 1e-6)


@pytest.mark.parametrize("n_rows", [0, 5])
@pytest.mark.parametrize("trans1", [False, True])
@pytest.mark.parametrize("trans2", [False, True])
def test_products_of_torch_are_those_of_thinc(n_rows, trans1, trans2):
    random = np.random.default_rng(0)
    x = random.normal(size=(3, n_rows) if trans1 else (n_rows, 3)).astype("f")
    y = random.normal(size=(4, 3) if trans2 else (3, 4)).astype("f")
    x = x[::-1]
    x.flags.writeable = False
    expected = NumpyOps().gemm(x, y, trans1=trans1, trans2=trans2)
    out = np.ones((n_rows, 4), "f")
    for target in (None, out):
        actual = TorchOps().gemm(x, y, target, trans1, trans2)
        np.testing.assert_allclose(actual, expected, atol=1e-6)
    assert actual is out


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


def doc_rows(nlp, seed, has_spans=True):
    """Docs with spans, an empty one among them, and an encoder's rows for them.

    Some are in two windows that overlap, some are cut off, some tokens have no row.
    """
    random = np.random.default_rng(seed)
    docs, encodings, starts = [], [], [0]
    for n_tokens in (4, 0, 1, 6):
        doc = nlp.make_doc("a b c d e f"[: 2 * n_tokens])
        cuts = sorted(random.permutation(n_tokens + 1)[:4].tolist())
        bounds = zip(cuts[::2], cuts[1::2], strict=False)
        doc.spans["x"] = [doc[a:b] for a, b in bounds if has_spans]
        encoding = encode(random, n_tokens) if n_tokens else encoding_of_tokens(0)
        docs.append(doc)
        encodings.append(encoding)
        size = len(encoding.windows) * encoding.width if n_tokens else 0
        starts.append(starts[-1] + size)
    vectors = random.normal(size=(starts[-1], WIDTH))
    cls = [0 if len(doc) else -1 for doc in docs]
    return DocRows(docs, vectors, starts, encodings, cls)


def pieces_of(X):
    for doc, start, encoding in zip(X.docs, X.starts, X.encodings, strict=False):
        pieces = align_pieces(encoding, get_spans(doc, "x"))
        ends = np.cumsum(pieces.lengths)
        parts = np.split(start + pieces.rows, ends[:-1]) if len(doc) else []
        yield [part.tolist() for part in parts]


@given(seed=st.integers(0, 300))
def test_span_pool_equals_padded_torch(nlp, seed):
    first, second = (initialized(pooling.cnn_pooling(), seed=seed + i) for i in (0, 1))
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
    first, second = (initialized(pooling.cnn_pooling(), seed=seed + i) for i in (0, 1))
    X = doc_rows(nlp, seed, has_spans=False)
    texts = [[row for piece in pieces for row in piece] for pieces in pieces_of(X)]
    sizes = [len(rows) for rows in texts]

    def reference(rows, W1, b1, W2, b2):
        of_texts = rows[[row for rows in texts for row in rows]]
        windows = twins.windows(of_texts, sizes, W1, b1)
        return twins.cnn(windows, sizes, W2, b2)

    unread = [nlp.make_doc("no spans are looked at")] * len(X.docs)
    assert_equal(text_pool(first, second), X._replace(docs=unread), reference)


def test_rows_that_cannot_be_pooled(nlp):
    X = doc_rows(nlp, 0)
    with pytest.raises(SpanftError, match='summary = "mean"'):
        doc_summary().predict(X._replace(cls=[-1] * len(X.docs)))
    with pytest.raises(SpanftError, match=r"CnnPooling\.v1"):
        text_pool(pooling.max_pooling(), pooling.max_pooling())


@pytest.mark.parametrize("kind", ["cls", "mean", "unit_mean", "last", "tokens"])
def test_summary_is_one_row_or_the_mean(nlp, kind):
    X = doc_rows(nlp, 0)
    if kind == "tokens":
        X = X._replace(cls=None)
    elif kind == "last":  # the row that stands for a text need not be the first
        X = X._replace(cls=[int(n) - 1 for n in np.diff(X.starts)])
    rows_of = []
    for i, (doc, encoding) in enumerate(zip(X.docs, X.encodings, strict=True)):
        # Those that are not padding.
        sizes = enumerate(encoding.windows.tolist())
        rows = [w * encoding.width + j for w, n in sizes for j in range(n)]
        rows = [X.cls[i]] if kind in ("cls", "last") else rows
        rows_of.append([X.starts[i] + row for row in rows if len(doc)])

    def reference(rows):
        means = [rows[own].sum(dim=0) / max(1, len(own)) for own in rows_of]
        stacked = torch.stack(means)
        return torch.nn.functional.normalize(stacked) if "unit" in kind else stacked

    assert_equal(doc_summary(kind if "mean" in kind else "cls"), X, reference)


def test_rows_of_zeros_have_no_scores_and_no_gradient():
    random = np.random.default_rng(0)
    X = random.normal(size=(4, WIDTH)).astype("f")
    X[[1, 3]] = 0.0
    plain = Softmax(3)
    plain.initialize(X=X, Y=np.zeros((4, 3), "f"))
    plain.set_param("W", random.normal(size=(3, WIDTH)).astype("f"))
    dY = random.normal(size=(4, 3)).astype("f")
    results = []
    for layer, rows in ((zeros_for_nothing(plain), [0, 1, 2, 3]), (plain, [0, 2])):
        Y, backprop = layer(X[rows], is_train=True)
        dX = backprop(dY[rows])
        results.append([Y, dX, plain.get_grad("W").copy(), plain.get_grad("b").copy()])
        plain.set_grad("W", np.zeros((3, WIDTH), "f"))
        plain.set_grad("b", np.zeros(3, "f"))
    for i, (actual, expected) in enumerate(zip(*results, strict=True)):
        if i < 2:
            assert not actual[[1, 3]].any()
            actual = actual[[0, 2]]
        np.testing.assert_allclose(actual, expected, rtol=1e-5)
