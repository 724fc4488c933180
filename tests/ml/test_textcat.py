"""The contract of the text classifiers: every architecture goes through all of it."""

import numpy as np
import pytest
import spacy
import torch
from spacy.training import Example
from thinc.api import Adam
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.alignment import mark_sample
from spacy_spanft.training.prepare import prepare_training

from ..tiny import LISTENER, make_pipeline, save_encoder, train, transformer_config


def pooling(name, **settings):
    return {"@architectures": f"spacy-spanft.{name}Pooling.v1", **settings}


def span_model(first, second, tok2vec=LISTENER, **settings):
    pooling = {"span_pooling": first, "doc_pooling": second}
    model = {"@architectures": "spacy-spanft.SpanTextCat.v1", "tok2vec": tok2vec}
    return {**model, **pooling, "exclusive_classes": True, **settings}


CNN, ATTENTION, MAX = pooling("Cnn"), pooling("Attention"), pooling("Max")
TOKENS = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    **{"width": 16, "depth": 1, "embed_size": 100, "window_size": 1},
    **{"maxout_pieces": 2, "subword_features": True, "pretrained_vectors": None},
}
CLS = {"@architectures": "spacy-spanft.ClsTextCat.v1", "exclusive_classes": True}
MODELS = {
    "cls": {**CLS, "tok2vec": LISTENER},
    "cnn-cnn": span_model(CNN, CNN),
    "attention-attention": span_model(ATTENTION, ATTENTION),
    "no-segmentation": span_model(CNN, CNN, segmentation="none"),
    "capped": span_model(pooling("Cnn", kernel_size=2), CNN, max_pieces=4, max_rows=2),
    "reductions": span_model(
        {"@layers": "reduce_mean.v1"}, {"@layers": "reduce_max.v1"}
    ),
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


def scores(docs):
    return np.array([[doc.cats[c] for c in "AB"] for doc in docs])


def test_a_text_that_is_cut_off_changes_no_other(bert):
    """Padding is not pooled, though spacy-transformers counts it as wordpieces then."""
    nlp = make(bert, MODELS["cnn-cnn"], window=100)
    train(nlp, examples_for(nlp))
    long = "very good film in new york " * 12
    alone = scores([nlp("very good film"), nlp(long)])
    among = scores(nlp.pipe([long, "very good film", ""]))
    np.testing.assert_allclose(among[[1, 0]], alone, atol=1e-5)


def test_gradients_are_those_of_a_plain_loop(bert):
    nlp = make(bert, {**MODELS["cls"], "dropout": 0.0}, window=100)
    examples = examples_for(nlp, [pair for pair in TRAIN if pair[0]])
    nlp.initialize(lambda: examples)
    nlp.update(examples, sgd=False)
    head = nlp.get_pipe("textcat").model.get_ref("output_layer")
    shim = nlp.get_pipe("transformer").model.layers[0].shims[0]
    tokenizer = AutoTokenizer.from_pretrained(bert)
    encoder = AutoModel.from_pretrained(bert)
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


def test_spans_that_are_missing(bert):
    nlp = make(bert, MODELS["cnn-cnn"])
    examples = examples_for(nlp)
    # By another head that was initialized with them.
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


# Texts that fit into a window.
WHOLE = ["good", "the film was not very good", "a bad city", "new york"]


def make_pooled(folder):
    """Make a pipeline as `spacy train` does, up to the first step."""
    nlp = make(folder, MODELS["cls"] | {"pooler": True}, window=100)
    for label in "AB":
        nlp.get_pipe("textcat").add_label(label)
    nlp.config["training"]["annotating_components"] = ["span_segmenter"]
    callback = {"@callbacks": "spacy-spanft.prepare_training.v1"}
    nlp.config["initialize"]["after_init"] = callback
    return nlp


def the_pooler(nlp):
    layers = nlp.get_pipe("textcat").model.walk()
    return next(layer for layer in layers if layer.name == "pooler")


@pytest.mark.parametrize("family", ["bert", "albert"])
def test_scores_are_those_of_hugging_face(family, tmp_path):
    folder = save_encoder(tmp_path / family, family)
    nlp = make_pooled(folder)
    nlp.initialize()
    theirs = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    output = nlp.get_pipe("textcat").model.get_ref("output_layer")
    with torch.no_grad():
        theirs.classifier.weight.normal_(0, 2.0)
        output.set_param("W", theirs.classifier.weight.numpy().copy())
        output.set_param("b", theirs.classifier.bias.numpy().copy())
        tokenizer = AutoTokenizer.from_pretrained(folder)
        batch = tokenizer(WHOLE, padding=True, return_tensors="pt")
        expected = theirs(**batch).logits.softmax(dim=1)[:, 0].tolist()
    assert np.ptp(expected) > 1e-4
    actual = [doc.cats["A"] for doc in nlp.pipe(WHOLE)]
    assert actual == pytest.approx(expected, abs=1e-6)


def test_learns_and_stays(bert, tmp_path):
    nlp = make_pooled(bert)
    nlp.initialize()
    before = the_pooler(nlp).get_param("W").copy()
    theirs = nlp.get_pipe("transformer").model.transformer.pooler.dense.weight
    assert np.array_equal(before, theirs.detach().numpy())
    nlp.update(examples_for(nlp), sgd=Adam(0.01), annotates=["span_segmenter"])
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
    nlp = make_pooled(save_encoder(tmp_path / "electra", "electra"))
    with pytest.warns(UserWarning, match="pooler of 'textcat' begins with random"):
        nlp.initialize()
    assert the_pooler(nlp).has_param("W")


def test_a_text_without_cls(tmp_path):
    nlp = make(save_encoder(tmp_path, "gpt2"), MODELS["cls"])
    nlp.initialize(lambda: examples_for(nlp))
    with pytest.raises(SpanftError, match=r"puts no \[CLS\]"):
        nlp("good")


@pytest.mark.filterwarnings("ignore:The transformer cut off")
def test_a_window_that_was_cut_off_still_has_its_cls(tmp_path):
    pytest.importorskip("spacy_transformers")
    encoder = transformer_config(save_encoder(tmp_path / "x", "roberta"), 6, 4)
    model = {**CLS, "tok2vec": LISTENER}
    nlp = make_pipeline({"transformer": encoder, "textcat": {"model": model}})
    cats = {"A": 1.0, "B": 0.0}
    examples = [Example.from_dict(nlp.make_doc("the city"), {"cats": cats})]
    train(nlp, examples, annotates=()).to_disk(tmp_path / "nlp")
    nlp = spacy.load(tmp_path / "nlp")
    assert nlp("unbelievableunbelievable new york").cats.keys() == {"A", "B"}
