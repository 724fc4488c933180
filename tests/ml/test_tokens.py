"""Token vectors that know their span: against plain loops, and in spaCy's own heads."""

import warnings

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.training import Example
from thinc.api import ConfigValidationError, Model, reduce_first, reduce_mean
from thinc.types import Ragged

from spacy_spanft import NgramDictionary
from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.alignment import (
    align_tokens,
    encoding_of_tokens,
    encoding_of_wordpieces,
    lengths_of_pieces,
)
from spacy_spanft.ml.layers.doc_rows import DocRows
from spacy_spanft.ml.layers.sequences import with_nonempty
from spacy_spanft.ml.layers.span_tokens import span_tok2vec, span_tokens
from spacy_spanft.ml.layers.span_window import span_window

from ..tiny import LISTENER, transformer_config
from .torch_twins import assert_equal, initialized, ragged

torch = pytest.importorskip("torch")

WIDTH = 4


@st.composite
def batches(draw):
    """Docs of 0 to 6 tokens with disjoint spans, and which rows each token has."""
    docs = []
    for n_tokens in draw(st.lists(st.integers(0, 6), min_size=1, max_size=4)):
        cuts = draw(st.lists(st.integers(0, n_tokens), max_size=4, unique=True))
        cuts = sorted(cuts)
        spans = [(a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
        rows, at = [], 1
        for _ in range(n_tokens):
            n = draw(st.integers(0, 3))
            shared = [at - 1] if at > 1 and n and draw(st.booleans()) else []
            rows.append([*shared, *range(at, at + n)])
            at += n
        docs.append((n_tokens, spans, rows, at + 1))
    return docs


def doc_rows(nlp, batch, seed):
    """Make the rows of an encoder for them."""
    docs, encodings, starts = [], [], [0]
    for n_tokens, spans, rows, size in batch:
        doc = nlp.make_doc(" ".join("abcdef"[:n_tokens]))
        doc.spans["x"] = [doc[a:b] for a, b in spans]
        docs.append(doc)
        flat = [row for mine in rows for row in mine]
        counts = [len(mine) for mine in rows]
        encodings.append(
            encoding_of_wordpieces(flat, counts, [size], size)
            if n_tokens
            else encoding_of_tokens(0)
        )
        starts.append(starts[-1] + (size if n_tokens else 0))
    vectors = np.random.default_rng(seed).normal(size=(starts[-1], WIDTH))
    cls = [0 if len(doc) else -1 for doc in docs]
    return DocRows(docs, vectors, starts, encodings, cls)


def reference(X, batch, rows, W, b, first, keep, key, pooled):
    """Walk over the tokens one by one; without a key the text is one span."""
    actual = []
    width = WIDTH * (1 + keep + pooled)
    before = len(W) // 2
    for (n_tokens, known, aligned, _), start in zip(batch, X.starts, strict=False):
        spans = [(0, n_tokens)] if key is None else known
        inside = {i: (a, e) for a, e in spans for i in range(a, e)}
        windows = []
        tokens = []
        for mine in aligned:
            own = [rows[start + row] for row in (mine[:1] if first else mine)]
            tokens.append(sum(own) / len(own) if own else rows.new_zeros(WIDTH))
        for i in range(n_tokens):
            begin, end = inside.get(i, (i, i + 1))
            total = b
            for index in range(len(W)):
                j = i + index - before
                if begin <= j < end:
                    total = total + W[index] @ tokens[j]
            windows.append(torch.relu(total))
        inside = {i: (a, e) for a, e in known for i in range(a, e)}
        for i, window in enumerate(windows):
            begin, end = inside.get(i, (i, i + 1))
            views = [tokens[i], window] if keep else [window]
            if pooled:
                views.append(torch.stack(windows[begin:end]).max(dim=0).values)
            actual.append(torch.cat(views))
    return torch.stack(actual) if actual else rows.new_zeros(0, width)


@pytest.mark.filterwarnings("ignore:The transformer cut off")
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize(("key", "pooled"), [("x", None), (None, None), (None, "x")])
@given(batch=batches(), kernel_size=st.integers(1, 4), seed=st.integers(0, 99))
def test_equals_plain_loops(nlp, first, keep, key, pooled, batch, kernel_size, seed):
    window = span_window(kernel_size, before=kernel_size // 2)
    pooling = with_nonempty(reduce_first() if first else reduce_mean())
    layer = span_tokens(pooling, window, key, keep, pooled)
    layer.initialize(X=Ragged(np.zeros((1, WIDTH), "f"), np.ones(1, "i")))
    assert layer.get_dim("nO") == WIDTH * (1 + keep + bool(pooled))
    window = initialized(window, ragged([1], width=WIDTH, dtype="f"), seed=seed)
    X = doc_rows(nlp, batch, seed)

    def plain(rows, W, b):
        return reference(X, batch, rows, W, b, first, keep, key, bool(pooled))

    assert [len(part) for part in layer.predict(X)] == [len(doc) for doc in X.docs]
    assert_equal(layer, X, plain)


def test_of_windows_that_overlap_the_first_counts():
    rows = [1, 2, 6, 7]  # token 0: row 1; token 1: rows 2 and 6; token 2: row 7
    encoding = encoding_of_wordpieces(rows, [1, 2, 1], [4, 4], 5)
    actual, counts = align_tokens(encoding)
    assert actual.tolist() == [1, 2, 7]
    assert counts.tolist() == [1, 1, 1]


def test_lengths_of_pieces():
    assert lengths_of_pieces(np.array([[1, 3]]), 5).tolist() == [1, 2, 1, 1]
    assert lengths_of_pieces(np.zeros((0, 2), np.int64), 0).tolist() == []


TEXTS = [
    "new york was bad",
    "",
    "it was a  good film in new york !",
    "the united states was good",
]


def make(bert, window=6, **settings):
    """Make a tagger whose windows are small, so that they overlap."""
    spacy.util.fix_random_seed(0)
    vectors = {
        "@architectures": "spacy-spanft.SpanTok2Vec.v2",
        "tok2vec": LISTENER,
        "token_pooling": {"@layers": "reduce_first.v1"},
        **settings,
    }
    nlp = spacy.blank("en")
    config = transformer_config(bert, window, window - 2)
    nlp.add_pipe(config.pop("factory"), config=config)
    segmenter = nlp.add_pipe("span_segmenter")
    model = {"@architectures": "spacy.Tagger.v2", "tok2vec": vectors}
    nlp.add_pipe("tagger", config={"model": model})
    docs = [nlp.make_doc(text) for text in TEXTS]
    tags = [[f"T{len(token)}" for token in doc] for doc in docs]
    pairs = zip(docs, tags, strict=True)
    examples = [Example.from_dict(doc, {"tags": of_doc}) for doc, of_doc in pairs]
    optimizer = nlp.initialize(lambda: examples)
    ngrams = {"new york": 3, "united states": 2, "good film": 1}
    segmenter.initialize(dictionary=NgramDictionary(ngrams))
    nlp.update(examples, sgd=optimizer, annotates=["span_segmenter"])
    return nlp


def vectors_of(nlp, doc):
    return nlp.get_pipe("tagger").model.get_ref("tok2vec").predict([doc])[0]


def test_replaced_listeners(bert, tmp_path):
    nlp = make(bert)
    expected = [doc.to_json() for doc in nlp.pipe(TEXTS)]
    nlp.replace_listeners("transformer", "tagger", ["model.tok2vec.tok2vec"])
    nlp.remove_pipe("transformer")
    assert [doc.to_json() for doc in nlp.pipe(TEXTS)] == expected
    nlp.to_disk(tmp_path)
    assert [doc.to_json() for doc in spacy.load(tmp_path).pipe(TEXTS)] == expected


def test_without_segmentation_no_span_is_looked_at(bert):
    nlp = make(bert, segmentation="none")
    doc = nlp.get_pipe("transformer")(nlp.make_doc("it was in new york"))
    vectors = vectors_of(nlp, doc)
    doc.spans["ngrams"] = [doc[3:5]]
    np.testing.assert_array_equal(vectors_of(nlp, doc), vectors)
    with pytest.raises(ConfigValidationError, match="segmentation"):
        make(bert, segmentation="all")


@pytest.mark.parametrize(("window", "n_times"), [(6, 200), (100, 9)])
def test_long_texts_are_read_to_their_end_or_warned_of(bert, window, n_times):
    """The encoder takes 24 wordpieces, the text has hundreds or thousands."""
    nlp = make(bert, window)
    doc = nlp.make_doc("it was unbelievable in new york , very good \n " * n_times)
    for name in ("transformer", "span_segmenter"):
        doc = nlp.get_pipe(name)(doc)
    if window == 100:
        with pytest.warns(UserWarning, match="cut off a text"):
            vectors_of(nlp, doc)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        has_vector = vectors_of(nlp, doc)[:, :16].any(axis=1)
    pairs = zip(has_vector, doc, strict=True)
    assert all(has or token.is_space for has, token in pairs)


@pytest.mark.parametrize("size", [0, "3", 2.5, True])
def test_a_window_has_a_whole_number_of_tokens(size):
    message = f"kernel_size is {size!r}, but must be a whole number of 1 or more"
    with pytest.raises(SpanftError, match=message):
        span_tok2vec(Model("t", None), reduce_mean(), kernel_size=size)
