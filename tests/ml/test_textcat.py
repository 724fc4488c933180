"""The contract of the text classifiers: every architecture goes through all of it."""

import shutil

import numpy as np
import pytest
import spacy
import torch
from spacy.training import Example
from transformers import AutoModel, AutoTokenizer

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.alignment import mark_sample

from ..tiny import LISTENER, make_pipeline, transformer_config


def pooling(name, **settings):
    return {"@architectures": f"spacy-spanft.{name}Pooling.v1", **settings}


def span_model(first, second, **settings):
    return {
        "@architectures": "spacy-spanft.SpanTextCat.v1",
        "tok2vec": LISTENER,
        "span_pooling": first,
        "doc_pooling": second,
        "exclusive_classes": True,
        **settings,
    }


CNN, ATTENTION, MAX = pooling("Cnn"), pooling("Attention"), pooling("Max")
TOKENS = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "pretrained_vectors": None,
    "width": 16,
    "depth": 1,
    "embed_size": 100,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
}
MODELS = {
    "cls": {
        "@architectures": "spacy-spanft.ClsTextCat.v1",
        "tok2vec": LISTENER,
        "exclusive_classes": True,
    },
    "cnn-cnn": span_model(CNN, CNN),
    "cnn-max": span_model(CNN, MAX),
    "attention-attention": span_model(ATTENTION, ATTENTION),
    "attention-max": span_model(ATTENTION, MAX),
    "no-segmentation": span_model(CNN, CNN, segmentation="none"),
    "no-cls": span_model(CNN, CNN, use_cls=False),
    "capped": span_model(pooling("Cnn", kernel_size=2), CNN, max_pieces=4, max_rows=2),
    "mean": span_model({"@layers": "reduce_mean.v1"}, CNN),
    "tokens": span_model(CNN, CNN, tok2vec=TOKENS),
}
TRAIN = [
    ("this film is very good .", "A"),
    ("new york city is bad and unbelievable walking in the united states", "B"),
    ("", "B"),
    ("it was a very good film in new york", "A"),
    ("the united states not good", "B"),
    ("a  good\u00a0film !", "A"),
]
NGRAMS = "new york", "united states", "very good film"


def make(bert, model, component="textcat", window=6):
    """Make a pipeline whose windows are small, so that they overlap."""
    if component == "textcat_multilabel":
        model = {**model, "exclusive_classes": False}
    components = {
        "transformer": transformer_config(bert, window, window - 2),
        "span_segmenter": {},
        "textcat": {"factory": component, "model": model},
    }
    return make_pipeline(components, NGRAMS)


def examples_for(nlp, texts=TRAIN):
    cats = {label: {c: float(c == label) for c in "AB"} for label in "AB"}
    pairs = [(nlp.make_doc(text), {"cats": cats[label]}) for text, label in texts]
    return [Example.from_dict(*pair) for pair in pairs]


def train(nlp, examples, steps=1, annotates=("span_segmenter",), rate=0.003):
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = rate
    for _ in range(steps):
        nlp.update(examples, sgd=optimizer, annotates=annotates)
    return nlp


def scores(docs):
    return np.array([[doc.cats[c] for c in "AB"] for doc in docs])


TEXTS = [text for text, _ in TRAIN]


@pytest.mark.parametrize("name", ["cls", "cnn-cnn", "mean"])
def test_a_text_that_is_cut_off_changes_no_other(bert, name):
    """Padding is not pooled, though spacy-transformers counts it as wordpieces then."""
    nlp = make(bert, MODELS[name], window=100)
    train(nlp, examples_for(nlp), steps=5)
    long = "very good film in new york " * 12
    alone = scores([nlp("very good film"), nlp(long)])
    among = scores(nlp.pipe([long, "very good film", ""]))
    np.testing.assert_allclose(among[[1, 0]], alone, atol=1e-5)


def test_gradients_are_those_of_a_plain_loop(bert):
    """Every parameter of the encoder and of the head, against PyTorch alone."""
    nlp = make(bert, {**MODELS["cls"], "dropout": 0.0}, window=100)
    examples = examples_for(nlp, [pair for pair in TRAIN if pair[0]])
    nlp.initialize(lambda: examples)
    nlp.update(examples, sgd=False)
    head = nlp.get_pipe("textcat").model.get_ref("output_layer")
    shim = nlp.get_pipe("transformer").model.layers[0].shims[0]
    tokenizer, encoder = (
        kind.from_pretrained(bert) for kind in (AutoTokenizer, AutoModel)
    )
    linear = torch.nn.Linear(*head.get_param("W").shape[::-1])
    linear.weight.data = torch.tensor(head.get_param("W").copy())
    linear.bias.data.zero_()
    texts = [example.text for example in examples]
    labels = nlp.get_pipe("textcat").labels
    truth = [labels.index(label) for text, label in TRAIN if text]
    inputs = tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
    logits = linear(encoder(**inputs).last_hidden_state[:, 0])
    cross_entropy = torch.nn.CrossEntropyLoss(reduction="sum")
    cross_entropy(logits, torch.tensor(truth)).backward()
    np.testing.assert_allclose(head.get_grad("W"), linear.weight.grad, atol=1e-4)
    np.testing.assert_allclose(head.get_grad("b"), linear.bias.grad, atol=1e-4)
    ours = dict(shim._model.named_parameters())
    assert linear.weight.grad.abs().max() > 0.1
    for name, parameter in encoder.named_parameters():
        actual, expected = ours[name].grad, parameter.grad
        assert (actual is None) == (expected is None)
        if expected is not None:
            np.testing.assert_allclose(actual, expected, atol=1e-4, err_msg=name)


def test_loads_where_nothing_of_the_build_is_left(bert, tmp_path):
    source = shutil.copytree(bert, tmp_path / "bert")
    nlp = make(source, MODELS["cnn-cnn"])
    train(nlp, examples_for(nlp)).to_disk(tmp_path / "pipeline")
    expected = scores(nlp.pipe(TEXTS))
    source.rename(tmp_path / "gone")
    nlp = spacy.load(tmp_path / "pipeline")
    np.testing.assert_allclose(scores(nlp.pipe(TEXTS)), expected, atol=1e-5)
    nlp.replace_listeners("transformer", "textcat", ["model.tok2vec"])
    nlp.remove_pipe("transformer")
    np.testing.assert_allclose(scores(nlp.pipe(TEXTS)), expected, atol=1e-5)
    examples, optimizer = examples_for(nlp), nlp.create_optimizer()
    nlp.update(examples, sgd=optimizer, annotates=["span_segmenter"])


@pytest.mark.parametrize("is_marked", [False, True])
def test_spans_that_are_missing(bert, is_marked):
    nlp = make(bert, MODELS["cnn-cnn"])
    examples = examples_for(nlp)
    if is_marked:  # by another head that was initialized with them
        mark_sample([example.predicted for example in examples], "ngrams")
    with pytest.raises(SpanftError, match="annotating_components"):
        train(nlp, examples, annotates=())
    train(nlp, examples)  # the segmenter may write over them


def test_transformer_that_is_missing_or_did_not_run(bert):
    nlp = make(bert, MODELS["cls"])
    train(nlp, examples_for(nlp))
    with nlp.select_pipes(disable=["transformer"]):
        with pytest.raises(SpanftError, match="no transformer before this component"):
            nlp("very good")
        assert np.isfinite(scores([nlp("")])).all()
    nlp = make(bert, MODELS["cnn-cnn"])
    nlp.remove_pipe("transformer")
    with pytest.raises(SpanftError, match="no transformer before this component"):
        nlp.initialize(lambda: examples_for(nlp))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"dropout": 1.0}, "dropout is 1.0"),
        ({"max_pieces": 0}, "max_pieces is 0"),
        ({"max_rows": -1}, "max_rows is -1"),
        ({"span_pooling": MAX, "segmentation": "none"}, "has no windows"),
    ],
)
def test_settings(bert, settings, expected):
    with pytest.raises(ValueError, match=expected):
        make(bert, span_model(CNN, CNN) | settings)
