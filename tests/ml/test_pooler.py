"""BERT's pooler in front of a classifier: as in Hugging Face's own."""

import numpy as np
import pytest
import spacy
import torch
from thinc.api import Adam
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from spacy_spanft.training.prepare import prepare_training

from ..tiny import save_encoder
from . import test_textcat as textcats

TEXTS = ["good", "the film was not very good", "a bad city", "new york"]


def make(folder):
    """Make a pipeline as `spacy train` does, up to the first step."""
    nlp = textcats.make(folder, textcats.MODELS["cls"] | {"pooler": True}, window=100)
    for label in "AB":
        nlp.get_pipe("textcat").add_label(label)
    nlp.config["training"]["annotating_components"] = ["span_segmenter"]
    nlp.config["initialize"]["after_init"] = {
        "@callbacks": "spacy-spanft.prepare_training.v1"
    }
    return nlp


def the_pooler(nlp):
    layers = nlp.get_pipe("textcat").model.walk()
    return next(layer for layer in layers if layer.name == "pooler")


@pytest.mark.parametrize("family", ["bert", "albert"])
def test_scores_are_those_of_hugging_face(family, tmp_path):
    folder = save_encoder(tmp_path / family, family)
    nlp = make(folder)
    nlp.initialize()
    theirs = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    output = nlp.get_pipe("textcat").model.get_ref("output_layer")
    with torch.no_grad():
        theirs.classifier.weight.normal_(0, 2.0)
        output.set_param("W", theirs.classifier.weight.numpy().copy())
        output.set_param("b", theirs.classifier.bias.numpy().copy())
        tokenizer = AutoTokenizer.from_pretrained(folder)
        batch = tokenizer(TEXTS, padding=True, return_tensors="pt")
        expected = theirs(**batch).logits.softmax(dim=1)[:, 0].tolist()
    assert np.ptp(expected) > 1e-4
    actual = [doc.cats["A"] for doc in nlp.pipe(TEXTS)]
    assert actual == pytest.approx(expected, abs=1e-6)


def test_learns_and_stays(bert, tmp_path):
    nlp = make(bert)
    nlp.initialize()
    before = the_pooler(nlp).get_param("W").copy()
    theirs = nlp.get_pipe("transformer").model.transformer.pooler.dense.weight
    assert np.array_equal(before, theirs.detach().numpy())
    examples, optimizer = textcats.examples_for(nlp), Adam(0.01)
    for _ in range(3):
        nlp.update(examples, sgd=optimizer, annotates=["span_segmenter"])
    after = the_pooler(nlp).get_param("W").copy()
    assert not np.array_equal(after, before)
    assert np.array_equal(before, theirs.detach().numpy())
    # What is trained on is not a new one, and keeps its weights.
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    with again.select_pipes(disable=["textcat"]):
        prepare_training()(again)
    assert np.array_equal(the_pooler(again).get_param("W"), after)


def test_an_encoder_without_pooler(tmp_path):
    nlp = make(save_encoder(tmp_path / "electra", "electra"))
    with pytest.warns(UserWarning, match="pooler of 'textcat' begins with random"):
        nlp.initialize()
    assert the_pooler(nlp).has_param("W")
