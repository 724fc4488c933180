"""Encoders of every family over spacy-transformers: wordpieces, and what is a text's.

The vector that stands for a text is at the beginning, at the end, or nowhere.
"""

import numpy as np
import pytest
import torch

from spacy_spanft.errors import SpanftError

from ..tiny import OTHERS, save_encoder
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


@pytest.mark.parametrize("family", ["bert", "roberta", "albert", "deberta-v2"])
def test_every_token_has_its_wordpieces(folder, family):
    docs, rows, tokenizer = rows_of(pipeline(folder(family), window=60), DOCS)
    for doc, encoding, row in zip(docs, rows.encodings, rows.cls, strict=True):
        text = doc[:].text  # without space at its end, as the encoder gets it
        offsets = tokenizer(text, return_offsets_mapping=True).offset_mapping
        assert_aligned(doc, text, offsets, encoding)
        assert row == (0 if len(doc) else -1)


@pytest.mark.parametrize(
    ("family", "summary"),
    [*((x, "cls") for x in ("bert", "roberta", "electra", *OTHERS)), ("gpt2", "mean")],
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
    scores = [doc.cats["A"] for doc in nlp.pipe(TEXTS, batch_size=16)]
    assert np.ptp([s for s, text in zip(scores, TEXTS, strict=True) if text]) > 0.01
    for text, score in zip(TEXTS, scores, strict=True):
        if text:
            assert nlp(text).cats["A"] == pytest.approx(score, abs=1e-5)


def test_xlnets_row_of_a_text_is_the_last(folder):
    docs, rows, tokenizer = rows_of(pipeline(folder("xlnet"), window=12), TEXTS)
    for doc, row in zip(docs, rows.cls, strict=True):
        if len(doc):
            ids = doc._.trf_data.wordpieces.input_ids.ravel()
            assert ids[row] == tokenizer.cls_token_id
            assert row > 0
