"""Token vectors that know their span: against plain loops, and in spaCy's own heads."""

import warnings

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.training import Example
from spacy.util import registry
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
from spacy_spanft.ml.layers.span_tokens import span_tokens
from spacy_spanft.ml.layers.span_window import span_window
from spacy_spanft.ml.layers.with_nonempty import with_nonempty

from ..tiny import LISTENER, transformer_config

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
    found = []
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
            for place in range(len(W)):
                j = i + place - before
                if begin <= j < end:
                    total = total + W[place] @ tokens[j]
            windows.append(torch.relu(total))
        inside = {i: (a, e) for a, e in known for i in range(a, e)}
        for i, window in enumerate(windows):
            begin, end = inside.get(i, (i, i + 1))
            views = [tokens[i], window] if keep else [window]
            if pooled:
                views.append(torch.stack(windows[begin:end]).max(dim=0).values)
            found.append(torch.cat(views))
    return torch.stack(found) if found else rows.new_zeros(0, width)


@pytest.mark.filterwarnings("ignore:The transformer cut off")
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize(("key", "pooled"), [("x", None), (None, None), (None, "x")])
@given(batch=batches(), kernel_size=st.integers(1, 4), seed=st.integers(0, 99))
def test_equals_plain_loops(nlp, first, keep, key, pooled, batch, kernel_size, seed):
    random = np.random.default_rng(seed)
    window = span_window(kernel_size, before=kernel_size // 2)
    pooling = with_nonempty(reduce_first() if first else reduce_mean())
    layer = span_tokens(pooling, window, key, keep, pooled)
    layer.initialize(X=Ragged(np.zeros((1, WIDTH), "f"), np.ones(1, "i")))
    assert layer.get_dim("nO") == WIDTH * (1 + keep + bool(pooled))
    weights = {}
    for name in ("W", "b"):
        weights[name] = random.normal(size=window.get_param(name).shape)
        window.set_param(name, weights[name])
    X = doc_rows(nlp, batch, seed)
    rows, W, b = (
        torch.tensor(a, requires_grad=True) for a in (X.vectors, *weights.values())
    )
    expected = reference(X, batch, rows, W, b, first, keep, key, bool(pooled))
    Y, backprop = layer(X, is_train=True)
    assert [len(part) for part in Y] == [len(doc) for doc in X.docs]
    np.testing.assert_allclose(np.concatenate(Y), expected.detach(), atol=1e-10)
    dY = [random.normal(size=part.shape) for part in Y]
    d_rows = backprop(dY)
    if not len(expected):
        return
    # A token without rows has nothing to do with them, and they no gradient.
    zero = sum((tensor * 0).sum() for tensor in (rows, W, b))
    ((expected * torch.tensor(np.concatenate(dY))).sum() + zero).backward()
    np.testing.assert_allclose(d_rows, rows.grad, atol=1e-10)
    for name, tensor in (("W", W), ("b", b)):
        np.testing.assert_allclose(window.get_grad(name), tensor.grad, atol=1e-10)


def test_of_windows_that_overlap_the_first_counts():
    rows = [1, 2, 6, 7]  # token 0: row 1; token 1: rows 2 and 6; token 2: row 7
    encoding = encoding_of_wordpieces(rows, [1, 2, 1], [4, 4], 5)
    found, counts = align_tokens(encoding)
    assert found.tolist() == [1, 2, 7]
    assert counts.tolist() == [1, 1, 1]


def test_lengths_of_pieces():
    assert lengths_of_pieces(np.array([[1, 3]]), 5).tolist() == [1, 2, 1, 1]
    assert lengths_of_pieces(np.zeros((0, 2), np.int64), 0).tolist() == []


def model_for(component, tok2vec, **settings):
    """Configure spaCy's own component over span-aware tokens."""
    vectors = {
        "@architectures": "spacy-spanft.SpanTok2Vec.v2",
        "tok2vec": tok2vec,
        "token_pooling": {"@layers": "reduce_first.v1"},
        **settings,
    }
    if component == "tagger":
        return {"@architectures": "spacy.Tagger.v2", "tok2vec": vectors}
    return {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "ner",
        "extra_state_tokens": False,
        "hidden_width": 16,
        "maxout_pieces": 2,
        "use_upper": False,
        "tok2vec": vectors,
    }


TRAIN = [
    ("new york was bad", [(0, 8, "GPE")]),
    ("", []),
    ("it was a  good film in new york !", [(23, 31, "GPE")]),
    ("this film was very good", []),
    ("the united states was good", [(4, 17, "GPE")]),
]


def make(bert, component, window=6, **settings):
    """Make a pipeline whose windows are small, so that they overlap."""
    spacy.util.fix_random_seed(0)
    model = model_for(component, LISTENER, **settings)
    pipeline = ["transformer", "span_segmenter", component]
    config = {
        "nlp": {"lang": "en", "pipeline": pipeline},
        "components": {
            "transformer": transformer_config(bert, window, window - 2),
            "span_segmenter": {"factory": "span_segmenter"},
            component: {"factory": component, "model": model},
        },
    }
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    ngrams = NgramDictionary({"new york": 3, "united states": 2, "good film": 1})
    nlp.get_pipe("span_segmenter").initialize(dictionary=ngrams)
    return nlp


def examples_for(nlp):
    found = []
    for text, entities in TRAIN:
        doc = nlp.make_doc(text)
        tags = [f"T{len(token)}" for token in doc]
        annotations = {"entities": entities, "tags": tags}
        found.append(Example.from_dict(doc, annotations))
    return found


def train(nlp, steps):
    examples = examples_for(nlp)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.003
    for _ in range(steps):
        nlp.update(examples, sgd=optimizer, annotates=["span_segmenter"])
    return nlp, examples


def test_replaced_listeners(bert, tmp_path):
    nlp, _ = train(make(bert, "ner"), 40)
    texts = [text for text, _ in TRAIN]
    found = [doc.to_json() for doc in nlp.pipe(texts)]
    nlp.replace_listeners("transformer", "ner", ["model.tok2vec.tok2vec"])
    nlp.remove_pipe("transformer")
    assert [doc.to_json() for doc in nlp.pipe(texts)] == found
    nlp.to_disk(tmp_path)
    assert [doc.to_json() for doc in spacy.load(tmp_path).pipe(texts)] == found


def test_without_segmentation_no_span_is_looked_at(bert):
    nlp = make(bert, "ner", segmentation="none")
    examples = examples_for(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    doc = nlp.get_pipe("transformer")(nlp.make_doc("it was in new york"))
    found = vectors_of(nlp, doc)
    doc.spans["ngrams"] = [doc[3:5]]
    np.testing.assert_array_equal(vectors_of(nlp, doc), found)
    with pytest.raises(ConfigValidationError, match="segmentation"):
        make(bert, "ner", segmentation="all")


def vectors_of(nlp, doc):
    model = nlp.get_pipe("ner").model.get_ref("tok2vec").layers[0]
    return model.predict([doc])[0]


def test_long_texts_are_read_to_their_end(bert):
    """The encoder takes 24 wordpieces, the text has thousands."""
    nlp = make(bert, "ner")
    nlp.initialize(lambda: examples_for(nlp))
    doc = nlp.make_doc("it was unbelievable in new york , very good \n " * 200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("transformer", "span_segmenter"):
            doc = nlp.get_pipe(name)(doc)
        vectors = vectors_of(nlp, doc)
    has_vector = vectors[:, :16].any(axis=1)
    assert all(
        has or token.is_space for has, token in zip(has_vector, doc, strict=True)
    )


def test_what_is_cut_off_is_warned_of(bert):
    nlp = make(bert, "ner", window=100)
    nlp.initialize(lambda: examples_for(nlp))
    doc = nlp.make_doc("it was unbelievable in new york , very good \n " * 9)
    for name in ("transformer", "span_segmenter"):
        doc = nlp.get_pipe(name)(doc)
    with pytest.warns(UserWarning, match="cut off a text"):
        vectors_of(nlp, doc)


@pytest.mark.parametrize("size", [0, "3", 2.5, True])
def test_a_window_has_a_whole_number_of_tokens(bert, size):
    message = f"kernel_size is {size!r}, but must be a whole number of 1 or more"
    vectors = model_for("tagger", None)["tok2vec"]
    make_vectors = registry.architectures.get(vectors["@architectures"])
    with pytest.raises(SpanftError, match=message):
        make_vectors(Model("t", None), with_nonempty(reduce_mean()), kernel_size=size)
