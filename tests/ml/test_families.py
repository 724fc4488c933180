"""Encoders of every family over spacy-transformers: wordpieces, and what is a text's.

The vector that stands for a text is at the beginning, at the end, or nowhere.
"""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.alignment import encoding_of_wordpieces

from ..tiny import FAMILIES, OTHERS, save_encoder
from .families import DOCS, assert_aligned
from .test_textcat import MODELS, examples_for, make

pytest.importorskip("spacy_transformers")

# Of many lengths, so that a batch is padded.
TEXTS = ["good", "the film was  not very good", "a bad city", "", "new york " * 12]
TEXTS += [f"it is {word} in the united states" for word in ("good", "bad", "walking")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    def make_folder(family):
        path = folders / family
        return path if path.exists() else save_encoder(path, family, max_length=60)

    folders = tmp_path_factory.mktemp("families")
    return make_folder


def pipeline(folder, window, **settings):
    nlp = make(folder, {**MODELS["cls"], **settings}, window=window)
    nlp.initialize(lambda: examples_for(nlp))
    return nlp


def rows_of(nlp, texts):
    layers = nlp.get_pipe("textcat").model.walk()
    layer = next(layer for layer in layers if layer.name == "wordpiece_rows")
    transformer = nlp.get_pipe("transformer")
    docs = [nlp.make_doc(text) for text in texts]
    transformer.set_annotations(docs, transformer.predict(docs))
    return docs, layer.predict(docs), transformer.model.tokenizer


@pytest.mark.parametrize("family", FAMILIES)
def test_every_token_has_its_wordpieces(folder, family):
    docs, rows, tokenizer = rows_of(pipeline(folder(family), window=60), DOCS)
    for doc, encoding in zip(docs, rows.encodings, strict=True):
        text = doc[:].text  # without space at its end, as the encoder gets it
        offsets = tokenizer(text, return_offsets_mapping=True).offset_mapping
        assert_aligned(doc, text, offsets, encoding)


@given(
    tokens=st.lists(
        st.tuples(st.lists(st.integers(0, 6), unique=True, max_size=3), st.booleans()),
        max_size=5,
    )
)
def test_only_space_keeps_tokens_from_sharing(tokens):
    """Against a plain loop: of a word cut in two, both have the wordpiece."""
    rows = [sorted(of_token) for of_token, _ in tokens]
    expected = [
        [row for row in rows[i] if not (is_apart and row in [*rows, []][i + 1])]
        for i, (_, is_apart) in enumerate(tokens)
    ]
    encoding = encoding_of_wordpieces(
        np.array([row for of_token in rows for row in of_token], np.int64),
        np.array([len(of_token) for of_token in rows], np.int64),
        *([7], 7),
        np.array([is_apart for _, is_apart in tokens], bool),
    )
    assert encoding.rows.tolist() == [row for of_token in expected for row in of_token]
    assert encoding.n_rows.tolist() == [len(of_token) for of_token in expected]


@pytest.mark.parametrize(
    ("family", "summary"),
    [(family, "cls") for family in (*FAMILIES, *OTHERS)]
    + [(family, "mean") for family in ("bert", "roberta", "xlnet", "gpt2", "llama")],
)
def test_scores_do_not_change_with_the_batch(folder, family, summary):
    nlp = pipeline(folder(family), window=12, summary=summary)
    if family in ("gpt2", "llama") and summary == "cls":
        with pytest.raises(SpanftError, match=r"puts no \[CLS\]"):
            nlp(TEXTS[0])
        return
    # Weights so large that the texts get different scores.
    output = nlp.get_pipe("textcat").model.get_ref("output_layer")
    weights = np.random.default_rng(0).normal(0, 0.2, output.get_param("W").shape)
    output.set_param("W", weights.astype("f"))
    torch.manual_seed(0)
    with torch.no_grad():
        for weight in nlp.get_pipe("transformer").model.transformer.parameters():
            if weight.dim() > 1:
                weight.normal_(0, 0.4)
    scores = [doc.cats["A"] for doc in nlp.pipe(TEXTS * 2, batch_size=16)]
    assert np.ptp([s for s, text in zip(scores, TEXTS * 2, strict=True) if text]) > 0.01
    for text, score in zip(TEXTS, scores, strict=False):
        if text:
            assert nlp(text).cats["A"] == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize("family", ["bert", "roberta", "albert", "xlnet"])
def test_the_row_of_a_text_is_that_of_the_tokenizers_cls(folder, family):
    docs, rows, tokenizer = rows_of(pipeline(folder(family), window=12), TEXTS)
    for doc, row in zip(docs, rows.cls, strict=True):
        if len(doc):
            ids = doc._.trf_data.wordpieces.input_ids.ravel()
            assert ids[row] == tokenizer.cls_token_id
            assert (row == 0) == (family != "xlnet")
        else:
            assert row == -1
