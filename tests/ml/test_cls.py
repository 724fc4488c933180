"""The vector that stands for a text: at the beginning, at the end, or nowhere."""

import numpy as np
import pytest
import spacy
import torch
from spacy.training import Example

from spacy_spanft.errors import SpanftError

from ..tiny import FAMILIES, LISTENER, OTHERS, save_encoder, transformer_config

# Of many lengths, so that a batch is padded.
TEXTS = ["good", "the film was  not very good", "a bad city", "", "new york " * 12]
TEXTS += [f"it is {word} in the united states" for word in ("good", "bad", "walking")]


def make(folder, **settings):
    nlp = spacy.blank("en")
    spacy.util.fix_random_seed(0)
    # Some texts have several windows.
    transformer = transformer_config(folder, 12, 8)["model"]
    nlp.add_pipe("transformer", config={"model": transformer})
    settings = {"exclusive_classes": True, "tok2vec": LISTENER, **settings}
    settings["@architectures"] = "spacy-spanft.ClsTextCat.v1"
    nlp.add_pipe("textcat", config={"model": settings})
    docs = [nlp.make_doc(text) for text in TEXTS]
    for i, doc in enumerate(docs):
        doc.cats = {"A": float(i % 2), "B": float(1 - i % 2)}
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in docs]
    nlp.initialize(lambda: examples)
    output = nlp.get_pipe("textcat").model.get_ref("output_layer")
    # Weights so large that the texts get different scores.
    weights = np.random.default_rng(0).normal(0, 0.2, output.get_param("W").shape)
    output.set_param("W", weights.astype("f"))
    torch.manual_seed(0)
    with torch.no_grad():
        for weight in nlp.get_pipe("transformer").model.transformer.parameters():
            if weight.dim() > 1:
                weight.normal_(0, 0.4)
    return nlp


@pytest.mark.parametrize(
    ("family", "summary"),
    [(family, "cls") for family in (*FAMILIES, *OTHERS)]
    + [(family, "mean") for family in ("bert", "roberta", "xlnet", "gpt2", "llama")],
)
def test_scores_do_not_change_with_the_batch(family, summary, tmp_path):
    folder = save_encoder(tmp_path / family, family, max_length=60)
    nlp = make(folder, summary=summary)
    if family in ("gpt2", "llama") and summary == "cls":
        with pytest.raises(SpanftError, match=r"puts no \[CLS\]"):
            nlp(TEXTS[0])
        return
    together = list(nlp.pipe(TEXTS * 2, batch_size=16))
    scores = [doc.cats["A"] for doc in together]
    assert np.ptp([s for s, text in zip(scores, TEXTS * 2, strict=True) if text]) > 0.01
    for text, score in zip(TEXTS, scores, strict=False):
        if text:
            assert nlp(text).cats["A"] == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize("family", ["bert", "roberta", "albert", "xlnet"])
def test_it_is_the_row_of_the_tokenizers_cls(family, tmp_path):
    folder = save_encoder(tmp_path / family, family, max_length=60)
    nlp = make(folder)
    transformer = nlp.get_pipe("transformer")
    layer = next(
        layer
        for layer in nlp.get_pipe("textcat").model.walk()
        if layer.name == "wordpiece_rows"
    )
    docs = [nlp.make_doc(text) for text in TEXTS]
    transformer.set_annotations(docs, transformer.predict(docs))
    rows = layer.predict(docs)
    cls = transformer.model.tokenizer.cls_token_id
    for doc, row in zip(docs, rows.cls, strict=True):
        if len(doc):
            data = doc._.trf_data
            assert data.wordpieces.input_ids.ravel()[row] == cls
            windows = len(data.wordpieces.input_ids)
            assert (row == 0) == (family != "xlnet" and windows > 0)
        else:
            assert row == -1
