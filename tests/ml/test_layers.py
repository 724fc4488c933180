"""The layers against the equations in padded PyTorch, and finite differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thinc.api import reduce_mean, set_dropout_rate
from thinc.types import Ragged

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.layers.pooling import attention_pooling, cnn_pooling, max_pooling
from spacy_spanft.ml.layers.scoring import fixed_dropout
from spacy_spanft.ml.layers.span_window import span_window
from spacy_spanft.ml.layers.with_nonempty import with_nonempty

torch = pytest.importorskip("torch")

WIDTH = 5
lengths_lists = st.lists(st.integers(0, 7), min_size=1, max_size=8)


def ragged(lengths, seed, dtype="f8", width=WIDTH):
    rows = np.random.default_rng(seed).normal(size=(sum(lengths), width))
    return Ragged(rows.astype(dtype), np.array(lengths, "i"))


def make(layer, dtype="f8", seed=0):
    """Initialize a layer with random weights, biases too."""
    random = np.random.default_rng(seed)
    layer.initialize(X=ragged([2], 0, "f"))
    for node in layer.walk():
        for name in node.param_names:
            shape = node.get_param(name).shape
            node.set_param(name, random.normal(size=shape).astype(dtype))
    return layer


def params(layer):
    """Get a layer's parameters as torch tensors that gather gradients."""
    return {
        (i, name): torch.tensor(node.get_param(name), requires_grad=True)
        for i, node in enumerate(layer.walk())
        for name in node.param_names
    }


def pad(rows, lengths):
    """Put sequences into a padded tensor (n_sequences, longest, width), with a mask."""
    longest = max([1, *lengths])
    padded = rows.new_zeros(len(lengths), longest, rows.shape[1])
    mask = torch.zeros(len(lengths), longest, dtype=torch.bool)
    for i, part in enumerate(torch.split(rows, list(lengths))):
        padded[i, : len(part)] = part
        mask[i, : len(part)] = True
    return padded, mask


def torch_cnn(rows, lengths, W, b):
    """The maximum over all windows of a sequence."""
    windows, _ = pad(torch_window(rows, lengths, W, b), lengths)
    return windows.amax(dim=1)  # ReLU leaves nothing below zero, so zeros do no harm


def torch_window(rows, lengths, W, b):
    """c_j = ReLU(W [t_j ... t_(j+k-1)] + b), windows at every row."""
    padded, mask = pad(rows, lengths)
    padded = torch.nn.functional.pad(padded, (0, 0, 0, len(W) - 1))
    conv = torch.nn.functional.conv1d(padded.transpose(1, 2), W.permute(1, 2, 0), b)
    return torch.relu(conv).transpose(1, 2)[mask]


def torch_attention(rows, lengths, W, b, w):
    """Softmax(w tanh(W t + b)) over each sequence, then the weighted sum."""
    padded, mask = pad(rows, lengths)
    scores = torch.tanh(padded @ W.T + b) @ w
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=1) * mask
    return (weights[:, :, None] * padded).sum(dim=1)


def torch_max(rows, lengths):
    padded, mask = pad(rows, lengths)
    found = padded.masked_fill(~mask[:, :, None], -torch.inf).amax(dim=1)
    return torch.where(mask.any(dim=1)[:, None], found, 0.0)


REFERENCES = {
    "cnn": (cnn_pooling, torch_cnn, ("W", "b")),
    "attention": (attention_pooling, torch_attention, ("W", "b", "w")),
    "max": (max_pooling, torch_max, ()),
}


def assert_equal(layer, X, reference, names, tolerance):
    """Compare output and all gradients of a layer with those of its reference."""
    rows = torch.tensor(X.dataXd, requires_grad=True)
    theirs = params(layer)
    given_names = {name: tensor for (_, name), tensor in theirs.items()}
    expected = reference(rows, X.lengths.tolist(), *(given_names[n] for n in names))
    Y, backprop = layer(X, is_train=True)
    assert Y.dtype == X.dataXd.dtype
    np.testing.assert_allclose(Y, expected.detach(), atol=tolerance, rtol=tolerance)
    dY = np.random.default_rng(1).normal(size=Y.shape).astype(Y.dtype)
    dX = backprop(dY)
    assert dX.lengths.tolist() == X.lengths.tolist()
    (expected * torch.tensor(dY)).sum().backward()
    d_rows = np.zeros_like(X.dataXd) if rows.grad is None else rows.grad
    np.testing.assert_allclose(dX.dataXd, d_rows, atol=tolerance, rtol=tolerance)
    if not X.lengths.any():
        return
    nodes = list(layer.walk())
    for (i, name), tensor in theirs.items():
        np.testing.assert_allclose(
            nodes[i].get_grad(name), tensor.grad, atol=tolerance, rtol=tolerance
        )


@pytest.mark.parametrize("name", REFERENCES)
@given(lengths=lengths_lists, seed=st.integers(0, 99))
def test_poolings_equal_padded_torch(name, lengths, seed):
    build, reference, names = REFERENCES[name]
    layer = make(build(), seed=seed)
    assert_equal(layer, ragged(lengths, seed), reference, names, 1e-10)


@pytest.mark.parametrize(
    "build", [span_window, cnn_pooling, attention_pooling, max_pooling]
)
@given(lengths=lengths_lists, seed=st.integers(0, 99))
def test_gradient_by_finite_differences(build, lengths, seed):
    layer = make(build(), seed=seed)
    X = ragged(lengths, seed)
    Y, backprop = layer(X, is_train=True)
    dY = np.random.default_rng(2).normal(size=flat(Y).shape)
    dX = backprop(Ragged(dY, X.lengths) if isinstance(Y, Ragged) else dY).dataXd

    def loss():
        return float((flat(layer.predict(X)) * dY).sum())

    arrays = [(X.dataXd, dX)]
    if X.lengths.any():
        arrays += [
            (node.get_param(name), node.get_grad(name))
            for node in layer.walk()
            for name in node.param_names
        ]
    step = 1e-6
    random = np.random.default_rng(4)
    for array, gradient in arrays:
        for place in random.permutation(array.size)[:10]:
            before = array.flat[place]
            array.flat[place] = before + step
            above = loss()
            array.flat[place] = before - step
            below = loss()
            array.flat[place] = before
            slope = (above - below) / (2 * step)
            assert gradient.flat[place] == pytest.approx(slope, abs=1e-4)


def flat(Y):
    return Y.dataXd if isinstance(Y, Ragged) else Y


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
    layer = make(span_window())
    both = ragged([3, 4], 5)
    alone = [
        Ragged(both.dataXd[a:b], np.array([b - a], "i")) for a, b in ((0, 3), (3, 7))
    ]
    parts = [layer.predict(part).dataXd for part in alone]
    np.testing.assert_allclose(layer.predict(both).dataXd, np.concatenate(parts))


def test_wrong_gradient_shape_fails_where_it_is_made():
    layer = make(span_window())
    _, backprop = layer(ragged([3], 0), is_train=True)
    with pytest.raises(ValueError, match=r"(?i)shape"):
        backprop(ragged([2], 0))


def test_any_reduction_of_thinc_can_pool():
    layer = with_nonempty(reduce_mean())
    X = ragged([0, 2, 0, 3], 0, "f")
    Y, backprop = layer(X, is_train=True)
    assert not Y[[0, 2]].any()
    np.testing.assert_allclose(Y[1], X.dataXd[:2].mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(backprop(np.ones_like(Y)).dataXd[2], 1 / 3, rtol=1e-6)


class TestSpanPool:
    """From the rows of a batch to a vector for each Doc, and the way back."""

    def batch(self, nlp, seed):
        """Docs with spans, an empty one among them, and an encoder's rows for them.

        Some are in two windows that overlap, some are cut off, some tokens have no row.
        """
        from spacy_spanft.ml.alignment import encoding_of_tokens
        from spacy_spanft.ml.layers.doc_rows import DocRows

        random = np.random.default_rng(seed)
        docs, encodings, starts = [], [], [0]
        for n_tokens in (4, 0, 1, 6):
            doc = nlp.make_doc("a b c d e f"[: 2 * n_tokens])
            doc.spans["x"] = [doc[1:3], doc[3:4]] if n_tokens > 3 else []
            encoding = encoding_of_tokens(0)
            if n_tokens:
                encoding = self.encode(random, n_tokens)
            docs.append(doc)
            encodings.append(encoding)
            size = len(encoding.windows) * encoding.width if n_tokens else 0
            starts.append(starts[-1] + size)
        vectors = random.normal(size=(starts[-1], WIDTH))
        cls = [0 if len(doc) else -1 for doc in docs]
        return DocRows(docs, vectors, starts, encodings, cls)

    def encode(self, random, n_tokens):
        """Give tokens rows as a transformer does, between [CLS] and [SEP]."""
        from spacy_spanft.ml.alignment import encoding_of_wordpieces

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
        flat = [row for mine in rows for row in mine]
        return encoding_of_wordpieces(flat, [len(mine) for mine in rows], sizes, width)

    def pieces(self, doc, encoding):
        """Cut the rows into pieces with plain loops."""
        begins = np.cumsum(encoding.n_rows) - encoding.n_rows
        inside = {
            i: (s.start, s.end) for s in doc.spans["x"] for i in range(s.start, s.end)
        }
        groups = {}
        for i in range(len(doc)):
            mine = encoding.rows[begins[i] : begins[i] + encoding.n_rows[i]].tolist()
            first = min((row // encoding.width for row in mine), default=0)
            mine = [row for row in mine if row // encoding.width == first]
            groups.setdefault(inside.get(i, i), []).extend(mine)
        pieces = [group for group in groups.values() if group]
        if not len(doc):
            return []
        last = (len(encoding.windows) - 1) * encoding.width + encoding.windows[-1] - 1
        # A text that was cut off does not end with [SEP].
        end = [] if last in encoding.rows else [[int(last)]]
        return [[0], *pieces, *end]

    def reference(self, X, rows, cnn1, cnn2):
        """Pool the pieces in padded torch."""
        pooled = []
        for doc, start, encoding in zip(X.docs, X.starts, X.encodings, strict=False):
            pieces = self.pieces(doc, encoding)
            flat = [start + row for piece in pieces for row in piece]
            sizes = [len(piece) for piece in pieces]
            vectors = torch_cnn(rows[flat], sizes, *cnn1) if sizes else rows[:0]
            pooled.append(torch_cnn(vectors, [len(sizes)], *cnn2))
        return torch.cat(pooled)

    @given(seed=st.integers(0, 300))
    def test_equals_plain_loops_and_padded_torch(self, nlp, seed):
        from spacy_spanft.ml.layers.span_pool import span_pool

        first, second = (
            make(cnn_pooling(), seed=seed),
            make(cnn_pooling(), seed=seed + 1),
        )
        layer = span_pool(first, second, "x")
        X = self.batch(nlp, seed)
        rows = torch.tensor(X.vectors, requires_grad=True)
        weights = [
            tuple(part[key] for key in sorted(part, key=lambda key: key[1]))
            for part in (params(first), params(second))
        ]
        expected = self.reference(X, rows, *weights)
        Y, backprop = layer(X, is_train=True)
        np.testing.assert_allclose(Y, expected.detach(), atol=1e-10)
        dY = np.random.default_rng(1).normal(size=Y.shape)
        (expected * torch.tensor(dY)).sum().backward()
        np.testing.assert_allclose(backprop(dY), rows.grad, atol=1e-10)
        for part, theirs in zip((first, second), weights, strict=True):
            for node in part.walk():
                for name, tensor in zip(("W", "b"), theirs, strict=True):
                    if node.has_param(name):
                        np.testing.assert_allclose(
                            node.get_grad(name), tensor.grad, atol=1e-10
                        )

    @given(seed=st.integers(0, 300))
    def test_without_segmentation(self, nlp, seed):
        from spacy_spanft.ml.layers.span_pool import text_pool

        first, second = (make(cnn_pooling(), seed=seed + i) for i in (0, 1))
        X = self.batch(nlp, seed)
        X = X._replace(docs=[nlp.make_doc("no spans are looked at")] * len(X.docs))
        rows = torch.tensor(X.vectors, requires_grad=True)
        weights = [
            tuple(part[key] for key in sorted(part, key=lambda key: key[1]))
            for part in (params(first), params(second))
        ]
        docs = [nlp.make_doc("a b c d e f"[: 2 * n]) for n in (4, 0, 1, 6)]
        for doc in docs:
            doc.spans["x"] = []
        taken = [
            [start + row for piece in self.pieces(doc, encoding) for row in piece]
            for doc, start, encoding in zip(docs, X.starts, X.encodings, strict=False)
        ]
        sizes = [len(mine) for mine in taken]
        texts = rows[[row for mine in taken for row in mine]]
        windows = torch_window(texts, sizes, *weights[0])
        expected = torch_cnn(windows, sizes, *weights[1])
        Y, backprop = text_pool(first, second)(X, is_train=True)
        np.testing.assert_allclose(Y, expected.detach(), atol=1e-10)
        dY = np.random.default_rng(1).normal(size=Y.shape)
        (expected * torch.tensor(dY)).sum().backward()
        np.testing.assert_allclose(backprop(dY), rows.grad, atol=1e-10)
        gradient = first.get_ref("window").get_grad("W")
        np.testing.assert_allclose(gradient, weights[0][0].grad, atol=1e-10)

    def test_without_segmentation_there_must_be_windows(self):
        from spacy_spanft.ml.layers.span_pool import text_pool

        with pytest.raises(SpanftError, match=r"CnnPooling\.v1"):
            text_pool(max_pooling(), max_pooling())

    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("kind", ["cls", "mean", "last", "tokens"])
    def test_summary(self, nlp, kind, seed):
        from spacy_spanft.ml.layers.doc_summary import doc_summary

        X = self.batch(nlp, seed)
        if kind == "tokens":
            X = X._replace(cls=None)
        elif kind == "last":  # the row that stands for a text need not be the first
            sizes = np.diff(X.starts)
            X = X._replace(cls=[int(n) - 1 for n in sizes])
        layer = doc_summary("mean" if kind == "mean" else "cls")
        Y, backprop = layer(X, is_train=True)
        dY = np.random.default_rng(1).normal(size=Y.shape)
        parts = np.split(backprop(dY), X.starts[1:-1])
        for number, encoding in enumerate(X.encodings):
            own = X.vectors[X.starts[number] : X.starts[number + 1]]
            if kind in ("cls", "last") or not len(own):
                rows = [X.cls[number]] if len(own) else []
            else:  # those that are not padding
                sizes = encoding.windows.tolist()
                rows = [
                    w * encoding.width + i
                    for w, n in enumerate(sizes)
                    for i in range(n)
                ]
            expected = own[rows].mean(axis=0) if rows else np.zeros(WIDTH)
            np.testing.assert_allclose(Y[number], expected)
            gradient = np.zeros(own.shape)
            gradient[rows] = dY[number] / max(1, len(rows))
            np.testing.assert_allclose(parts[number], gradient)

    def test_an_encoder_without_cls(self, nlp):
        from spacy_spanft.ml.layers.doc_summary import doc_summary

        X = self.batch(nlp, 0)
        with pytest.raises(SpanftError, match='summary = "mean"'):
            doc_summary().predict(X._replace(cls=[-1] * len(X.docs)))


def test_zeros_for_nothing():
    """Rows of nothing have no scores and no gradient; the others are as they were."""
    from thinc.api import Softmax

    from spacy_spanft.ml.layers.scoring import zeros_for_nothing

    random = np.random.default_rng(0)
    X = random.normal(size=(4, WIDTH)).astype("f")
    X[[1, 3]] = 0.0
    plain = Softmax(3)
    plain.initialize(X=X, Y=np.zeros((4, 3), "f"))
    plain.set_param("W", random.normal(size=(3, WIDTH)).astype("f"))
    layer = zeros_for_nothing(plain)
    Y, backprop = layer(X, is_train=True)
    expected, backprop_plain = plain(X[[0, 2]], is_train=True)
    np.testing.assert_allclose(Y[[0, 2]], expected, rtol=1e-6)
    assert not Y[[1, 3]].any()
    dY = random.normal(size=Y.shape).astype("f")
    dX = backprop(dY)
    found = plain.get_grad("W").copy(), plain.get_grad("b").copy()
    for name in ("W", "b"):
        plain.set_grad(name, np.zeros_like(plain.get_grad(name)))
    np.testing.assert_allclose(dX[[0, 2]], backprop_plain(dY[[0, 2]]), rtol=1e-5)
    assert not dX[[1, 3]].any()
    for name, gradient in zip(("W", "b"), found, strict=True):
        np.testing.assert_allclose(plain.get_grad(name), gradient, rtol=1e-5)


@given(lengths=lengths_lists, kernel_size=st.integers(1, 5))
def test_any_kernel_size(lengths, kernel_size):
    layer = make(cnn_pooling(kernel_size))
    assert_equal(layer, ragged(lengths, 3), torch_cnn, ("W", "b"), 1e-10)
