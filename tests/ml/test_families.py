"""Encoders of every family over spacy-transformers: which wordpieces a token has."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_spanft.ml.alignment import encoding_of_wordpieces

from ..tiny import FAMILIES, save_encoder
from .families import DOCS, expected_rows
from .test_textcat import MODELS, examples_for, make

pytest.importorskip("spacy_transformers")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_token_has_its_wordpieces(family, tmp_path):
    nlp = make(save_encoder(tmp_path, family, max_length=60), MODELS["cls"], window=60)
    nlp.initialize(lambda: examples_for(nlp))
    layers = nlp.get_pipe("textcat").model.walk()
    layer = next(layer for layer in layers if layer.name == "wordpiece_rows")
    transformer = nlp.get_pipe("transformer")
    docs = [nlp.make_doc(text) for text in DOCS]
    transformer.set_annotations(docs, transformer.predict(docs))
    for doc, encoding in zip(docs, layer.predict(docs).encodings, strict=True):
        if not len(doc):
            continue
        text = doc[:].text  # without space at its end, as the encoder gets it
        encoded = transformer.model.tokenizer(text, return_offsets_mapping=True)
        rows_of_tokens = np.split(encoding.rows, np.cumsum(encoding.n_rows)[:-1])
        for token, rows in zip(doc, rows_of_tokens, strict=True):
            expected = expected_rows(text, encoded.offset_mapping, token)
            assert sorted(rows.tolist()) == expected
            assert expected or token.is_space, token


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
