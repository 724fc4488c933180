"""What measures whether explanations are faithful, on a model that is made for it."""

import random

import numpy as np
import pytest

from benchmarks import faithfulness as bench
from spacy_spanft.explanation import explain, explain_pipe

from ..explanation.test_explanation import MODELS, shake
from ..ml.test_textcat import examples_for, make, train
from ..tiny import OWN_LISTENER, encoder_config, save_bert

LONG = "new york city is a bad and unbelievable city of the united states"
TEXTS = [LONG, "this film is a very good film in new york city .", "good"]


@pytest.fixture(scope="module", params=["cls", "mean"])
def nlp(request, tmp_path_factory):
    bert = save_bert(tmp_path_factory.mktemp("bert"), max_length=60)
    model = {**MODELS["cnn-cnn"], "tok2vec": OWN_LISTENER, "summary": request.param}
    nlp = make(bert, model, encoder=encoder_config(bert))
    train(nlp, examples_for(nlp), steps=8, rate=0.01)
    shake(nlp.get_pipe("textcat").model)
    return nlp


@pytest.fixture(scope="module")
def texts(nlp):
    found = [bench.text_of(nlp, one) for one in explain_pipe(nlp, TEXTS)]
    assert found[2] is None  # too few parts to choose among
    return found[:2]


def test_parts_have_their_tokens(texts):
    for text, words in zip(texts, TEXTS, strict=False):
        doc = text.explanation.doc
        assert doc.text == words
        tokens = [i for start, end in text.spans for i in range(start, end)]
        assert tokens == list(range(len(doc)))
        assert bench.shares(text).sum() == pytest.approx(
            sum(added for part, added in bench.reasons_of(text).parts if part.text)
        )
        assert 0 < bench.share_of_whole(text) < 1


def test_integrated_gradients_add_up(nlp, texts, monkeypatch):
    """To the difference of the logits from those of no embeddings at all."""
    import torch

    monkeypatch.setattr(bench, "N_STEPS", 200)
    model = nlp.get_pipe("textcat").model
    for text in texts:
        bert, inputs = bench._bert(nlp, text.explanation.doc)
        rows = model.get_ref("rows").predict([text.explanation.doc])
        output = model.get_ref("output_layer")
        W = output.get_param("W")[text.label] - output.get_param("W")[text.rival]
        rest = {key: value for key, value in inputs.items() if key != "input_ids"}

        def logit(X, rest=rest, rows=rows, W=W, bert=bert):
            with torch.no_grad():
                found = bert(inputs_embeds=X, **rest).last_hidden_state[0].numpy()
            pooled = model.get_ref("pooled").predict(rows._replace(vectors=found))
            return float(pooled[0] @ W)

        words = bert.embeddings.word_embeddings(inputs["input_ids"])
        expected = logit(words) - logit(torch.zeros_like(words))
        assert bench.gradients(nlp, text).sum() == pytest.approx(expected, abs=0.05)


def test_attention_is_a_distribution(nlp, texts):
    for text in texts:
        weights = bench.attention(nlp, text)
        assert weights.sum() == pytest.approx(1)
        assert (weights > 0).all()


@pytest.mark.parametrize("name", bench.METHODS)
def test_orders_have_all_parts(nlp, texts, name):
    orders = bench.order(name, nlp, texts, random.Random(0))
    for text, ranks in zip(texts, orders, strict=True):
        assert sorted(ranks) == list(range(len(text.spans)))
    if name == "shares":
        best = int(np.argmax(bench.shares(texts[0])))
        assert orders[0][0] == best


def test_texts_without_parts(texts):
    text = texts[0]
    (start, end), *_ = text.spans
    words = LONG.split()
    assert bench.without(text, [(start, end)]) == " ".join(words[end:])
    assert bench.without(text, [(start, end)], keep=True) == " ".join(words[:end])
    # One part at least, and no more than the share of the tokens.
    assert len(bench._best(text, range(len(text.spans)), 0.01)) == 1
    half = bench._best(text, range(len(text.spans)), 0.5)
    assert sum(end - start for start, end in half) <= len(words) / 2


def test_deleting_all_that_speaks_for_a_label_lowers_it(nlp, texts):
    words = [text.explanation.doc.text for text in texts]
    labels = [explain(nlp, one).label for one in words]
    odds = bench.odds(nlp, texts, words)
    assert all(value > 0 for value in odds)  # it is the label that each text has
    for text, label, value in zip(texts, labels, odds, strict=True):
        logits = text.explanation.contributions().logits
        assert text.explanation.labels[text.label] == label
        assert value == pytest.approx(logits[text.label] - logits[text.rival], abs=1e-3)
