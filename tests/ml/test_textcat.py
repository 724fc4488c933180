"""The contract of the text classifiers: every architecture goes through all of it."""

import json

import numpy as np
import pytest
import spacy
from spacy.training import Example

from spacy_spanft import NgramDictionary
from spacy_spanft.errors import SpanftError

from .. import interpreter
from ..tiny import LISTENER, save_bert, transformer_config


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
NGRAMS = {"new york": 3, "united states": 2, "very good film": 1}


def make(bert, model, component="textcat", window=6, encoder=None):
    """Make a pipeline whose windows are small, so that they overlap."""
    spacy.util.fix_random_seed(0)
    if component == "textcat_multilabel":
        model = {**model, "exclusive_classes": False}
    config = {
        "nlp": {"lang": "en", "pipeline": ["transformer", "span_segmenter", "textcat"]},
        "components": {
            "transformer": encoder
            or transformer_config(bert, window, max(1, window - 2)),
            "span_segmenter": {"factory": "span_segmenter"},
            "textcat": {"factory": component, "model": model},
        },
    }
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    nlp.get_pipe("span_segmenter").initialize(dictionary=NgramDictionary(NGRAMS))
    return nlp


def examples_for(nlp, texts=TRAIN):
    return [
        Example.from_dict(
            nlp.make_doc(text), {"cats": {c: float(c == cat) for c in "AB"}}
        )
        for text, cat in texts
    ]


def train(
    nlp, examples, steps=1, annotates=("span_segmenter",), exclude=(), rate=0.003
):
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = rate
    for _ in range(steps):
        nlp.update(examples, sgd=optimizer, annotates=annotates, exclude=exclude)
    return nlp


def scores(docs):
    return np.array([[doc.cats[c] for c in "AB"] for doc in docs])


TEXTS = [text for text, _ in TRAIN]


@pytest.mark.parametrize("name", ["cls", "cnn-cnn", "attention-max", "mean"])
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
    import torch
    from transformers import AutoModel, AutoTokenizer

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
    texts, truth = [], []
    for example in examples:
        texts.append(example.text)
        truth.append(nlp.get_pipe("textcat").labels.index(best(example)))
    inputs = tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
    logits = linear(encoder(**inputs).last_hidden_state[:, 0])
    loss = torch.nn.functional.cross_entropy(
        logits, torch.tensor(truth), reduction="sum"
    )
    loss.backward()
    np.testing.assert_allclose(head.get_grad("W"), linear.weight.grad, atol=1e-4)
    np.testing.assert_allclose(head.get_grad("b"), linear.bias.grad, atol=1e-4)
    ours = dict(shim._model.named_parameters())
    assert linear.weight.grad.abs().max() > 0.1
    for name, parameter in encoder.named_parameters():
        if parameter.grad is None:
            assert ours[name].grad is None
            continue
        np.testing.assert_allclose(
            ours[name].grad, parameter.grad, atol=1e-4, err_msg=name
        )


def best(example):
    return max(example.reference.cats, key=example.reference.cats.get)


def test_replaced_listeners(bert, tmp_path):
    nlp = train(make(bert, MODELS["cnn-cnn"]), examples_for(make(bert, MODELS["cls"])))
    expected = scores(nlp.pipe(TEXTS))
    nlp.replace_listeners("transformer", "textcat", ["model.tok2vec"])
    nlp.remove_pipe("transformer")
    np.testing.assert_allclose(scores(nlp.pipe(TEXTS)), expected, atol=1e-5)
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    np.testing.assert_allclose(scores(again.pipe(TEXTS)), expected, atol=1e-5)
    again.update(
        examples_for(again),
        sgd=again.create_optimizer(),
        annotates=["span_segmenter"],
    )


def test_loads_where_nothing_of_the_build_is_left(bert, tmp_path):
    source = tmp_path / "bert"
    save_bert(source)
    nlp = train(
        make(source, MODELS["cnn-cnn"]), examples_for(make(bert, MODELS["cls"]))
    )
    nlp.to_disk(tmp_path / "pipeline")
    expected = scores(nlp.pipe(TEXTS)).tolist()
    source.rename(tmp_path / "gone")
    code = (
        "import json, sys, spacy; nlp = spacy.load(sys.argv[1]);"
        "docs = nlp.pipe(json.loads(sys.argv[2]));"
        "print(json.dumps([[d.cats['A'], d.cats['B']] for d in docs]))"
    )
    arguments = (tmp_path / "pipeline", json.dumps(TEXTS))
    done = interpreter.run("-c", code, *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(json.loads(done.stdout), expected, atol=1e-5)


class TestErrors:
    def test_spans_that_are_missing(self, bert):
        nlp = make(bert, MODELS["cnn-cnn"])
        examples = examples_for(nlp)
        with pytest.raises(SpanftError, match="annotating_components"):
            train(nlp, examples, annotates=())

    def test_spans_that_another_head_was_initialised_with(self, bert):
        from spacy_spanft.ml.alignment import mark_sample

        nlp = make(bert, MODELS["cnn-cnn"])
        examples = examples_for(nlp)
        mark_sample([example.predicted for example in examples], "ngrams")
        with pytest.raises(SpanftError, match="annotating_components"):
            train(nlp, examples, annotates=())
        train(nlp, examples)  # the segmenter may write over them

    def test_no_transformer(self, bert):
        nlp = make(bert, MODELS["cnn-cnn"])
        nlp.remove_pipe("transformer")
        with pytest.raises(SpanftError, match="no transformer for this component"):
            nlp.initialize(lambda: examples_for(nlp))

    def test_transformer_that_did_not_run(self, bert):
        nlp = train(make(bert, MODELS["cls"]), examples_for(make(bert, MODELS["cls"])))
        with nlp.select_pipes(disable=["transformer"]):
            with pytest.raises(SpanftError, match="no transformer for this component"):
                nlp("very good")
            assert np.isfinite(scores([nlp("")])).all()

    @pytest.mark.parametrize(
        ("settings", "expected"),
        [
            ({"dropout": 1.0}, "dropout is 1.0"),
            ({"dropout": -0.1}, "dropout is -0.1"),
            ({"max_pieces": 0}, "max_pieces is 0"),
            ({"max_rows": -1}, "max_rows is -1"),
            ({"span_pooling": pooling("Cnn", kernel_size=0)}, "kernel_size is 0"),
            ({"span_pooling": MAX, "segmentation": "none"}, "has no windows"),
        ],
    )
    def test_settings(self, bert, settings, expected):
        with pytest.raises(ValueError, match=expected):
            make(bert, span_model(CNN, CNN) | settings)
