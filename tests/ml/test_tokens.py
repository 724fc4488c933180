"""Token vectors that know their span: against plain loops, and in spaCy's own heads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thinc.api import reduce_first, reduce_mean
from thinc.types import Ragged

from spacy_spanft.ml.alignment import encoding_of_wordpieces
from spacy_spanft.ml.layers.encoder_rows import DocRows
from spacy_spanft.ml.layers.span_tokens import span_tokens

from .test_layers import doc_rows
from .torch_twins import WIDTH, assert_equal, best_window, initialized, ragged

torch = pytest.importorskip("torch")


def reference(X, rows, W, b, first, keep, key, pooled):
    actual = []
    for doc, start, encoding in zip(X.docs, X.starts, X.encodings, strict=False):
        known = [(span.start, span.end) for span in doc.spans["x"]]
        spans = [(0, len(doc))] if key is None else known
        inside = {i: (a, e) for a, e in spans for i in range(a, e)}
        windows, tokens = [], []
        for aligned in np.split(encoding.rows, np.cumsum(encoding.n_rows)[:-1]):
            best = best_window(aligned.tolist(), encoding.width)
            mine = start + aligned[aligned // encoding.width == best]
            mine = mine[:1] if first else mine
            tokens.append(rows[mine].sum(dim=0) / max(1, len(mine)))
        for i in range(len(doc)):
            begin, end = inside.get(i, (i, i + 1))
            total = b
            for index, weight in enumerate(W):
                j = i + index - len(W) // 2
                if begin <= j < end:
                    total = total + weight @ tokens[j]
            windows.append(torch.relu(total))
        inside = {i: (a, e) for a, e in known for i in range(a, e)}
        for i, window in enumerate(windows):
            begin, end = inside.get(i, (i, i + 1))
            views = [tokens[i], window] if keep else [window]
            if pooled:
                views.append(torch.stack(windows[begin:end]).max(dim=0).values)
            actual.append(torch.cat(views))
    return torch.stack(actual)


@pytest.mark.filterwarnings("ignore:The transformer cut off")
@pytest.mark.parametrize(("key", "pooled"), [("x", None), (None, None), (None, "x")])
@given(
    first=st.booleans(),
    keep=st.booleans(),
    kernel_size=st.integers(1, 4),
    seed=st.integers(0, 300),
)
def test_equals_plain_loops(nlp, first, keep, key, pooled, kernel_size, seed):
    pooling = reduce_first() if first else reduce_mean()
    layer = span_tokens(pooling, kernel_size, key, keep, pooled)
    layer.initialize(X=Ragged(np.zeros((1, WIDTH), "f"), np.ones(1, "i")))
    assert layer.get_dim("nO") == WIDTH * (1 + keep + bool(pooled))
    initialized(layer.layers[1], ragged([1], dtype="f"), seed=seed)
    X = doc_rows(nlp, seed)

    def plain(rows, W, b):
        return reference(X, rows, W, b, first, keep, key, bool(pooled))

    assert [len(part) for part in layer.predict(X)] == [len(doc) for doc in X.docs]
    assert_equal(layer, X, plain)


def test_a_text_that_is_cut_off_is_warned_of(nlp):
    layer = span_tokens(reduce_first())
    layer.initialize(X=Ragged(np.zeros((1, WIDTH), "f"), np.ones(1, "i")))
    doc, vectors = nlp.make_doc("a b c"), np.zeros((4, WIDTH), "f")
    encoding = encoding_of_wordpieces([1, 2], [1, 1, 0], [4], 4)
    with pytest.warns(UserWarning, match="cut off a text"):
        layer.predict(DocRows([doc], vectors, [0, 4], [encoding], None))
