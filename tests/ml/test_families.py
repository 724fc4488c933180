"""Encoders of every family: trained, saved, loaded, aligned, and with pairs."""

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Span
from spacy.training import Example
from spacy.util import load_config

from spacy_spanft.ml.alignment import encoding_of_wordpieces

from ..made_configs import CONFIGS
from ..tiny import FAMILIES, save_encoder
from .families import DOCS, expected_rows

pytest.importorskip("spacy_transformers")


@pytest.fixture(scope="module", params=FAMILIES)
def encoder(request, tmp_path_factory):
    """Save an encoder that cuts nothing off."""
    folder = tmp_path_factory.mktemp("encoder") / request.param
    return save_encoder(folder, request.param, max_length=60)


def make(name, encoder, **settings):
    overrides = {"paths.transformer": str(encoder), **settings}
    config = load_config(CONFIGS / f"{name}.cfg", overrides=overrides)
    limit = config["components"]["transformer"]["model"]["tokenizer_config"]
    limit["model_max_length"] = 60
    spacy.util.fix_random_seed(0)
    return spacy.util.load_model_from_config(config.interpolate(), auto_fill=True)


def examples_of(nlp):
    """Give each Doc a label, and those that begin with New York an entity."""
    found = []
    for i, text in enumerate(DOCS):
        reference = nlp.make_doc(text)
        reference.cats = {"A": float(i % 2), "B": float(1 - i % 2)}
        if text.startswith("New York"):
            reference.ents = [Span(reference, 0, 2, "GPE")]
        found.append(Example(nlp.make_doc(text), reference))
    return found


def rows_by_token(nlp, docs):
    """Give the wordpieces of each token of each Doc, as the heads see them."""
    layers = nlp.get_pipe("textcat").model.walk()
    layer = next(layer for layer in layers if layer.name == "wordpiece_rows")
    transformer = nlp.get_pipe("transformer")
    transformer.set_annotations(docs, transformer.predict(docs))
    for encoding in layer.predict(docs).encodings:
        cuts = np.cumsum(encoding.n_rows)[:-1]
        yield [sorted(rows.tolist()) for rows in np.split(encoding.rows, cuts)]


def test_every_token_has_its_wordpieces(encoder):
    nlp = make("textcat_spanft", encoder)
    nlp.initialize(lambda: examples_of(nlp))
    tokenizer = nlp.get_pipe("transformer").model.tokenizer
    docs = [nlp.make_doc(text) for text in DOCS]
    for doc, rows in zip(docs, rows_by_token(nlp, docs), strict=True):
        if not len(doc):
            continue
        text = doc[:].text  # without space at its end, as the encoder gets it
        encoded = tokenizer(text, return_offsets_mapping=True)
        for token, mine in zip(doc, rows, strict=True):
            assert mine == expected_rows(text, encoded.offset_mapping, token)
            assert mine or token.is_space, token


@given(
    tokens=st.lists(
        st.tuples(st.lists(st.integers(0, 6), unique=True, max_size=3), st.booleans()),
        max_size=5,
    )
)
def test_only_space_keeps_tokens_from_sharing(tokens):
    """Against a plain loop: of a word cut in two, both have the wordpiece."""
    rows = [sorted(own) for own, _ in tokens]
    expected = [
        [r for r in own if not (apart and r in following)]
        for own, following, (_, apart) in zip(
            rows, [*rows, []][1:], tokens, strict=True
        )
    ]
    encoding = encoding_of_wordpieces(
        np.array([r for own in rows for r in own], np.int64),
        np.array([len(own) for own in rows], np.int64),
        [7],
        7,
        np.array([apart for _, apart in tokens], bool),
    )
    assert encoding.rows.tolist() == [r for own in expected for r in own]
    assert encoding.n_rows.tolist() == [len(own) for own in expected]
