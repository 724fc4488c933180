"""Pipelines over spacy-curated-transformers, as the official trf pipelines are."""

from copy import deepcopy

import numpy as np
import pytest
import spacy
from confection import Config
from spacy.training import Example
from thinc.api import chain, reduce_mean

from spacy_spanft import NgramDictionary
from spacy_spanft.configs.adding import add_spans
from spacy_spanft.ml.layers.encoder_rows import encoder_rows, rows_to_tokens
from spacy_spanft.ml.parameter_groups import parameter_groups
from spacy_spanft.training.regimes import freeze_transformer

from ..tiny import roberta_byte_pairs
from ..training import regimes

pytest.importorskip("spacy_curated_transformers")

WIDTH = 16
# No token, white space alone, more wordpieces than a window has.
TEXTS = ["New York is unbelievable.", "", "\n ", "bad"]
TEXTS.append("It was  a very good film in new york city , walking " * 3)
OWN = "spacy-curated-transformers"
TRANSFORMER = {
    "@architectures": f"{OWN}.RobertaTransformer.v1",
    **{"vocab_size": 400, "hidden_width": WIDTH, "intermediate_width": 2 * WIDTH},
    **{"num_attention_heads": 2, "num_hidden_layers": 2},
    **{"max_position_embeddings": 64, "model_max_length": 60},
    **{"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0},
    "piece_encoder": {"@architectures": f"{OWN}.ByteBpeEncoder.v1"},
    "with_spans": {"@architectures": f"{OWN}.WithStridedSpans.v1"},
}
TRANSFORMER["with_spans"] |= {"window": 24, "stride": 16}


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    made = roberta_byte_pairs(tmp_path_factory.mktemp("roberta"))
    return {"vocab_path": made["vocab_file"], "merges_path": made["merges_file"]}


def listener(kind="LastTransformerLayer"):
    block = {
        "@architectures": f"{OWN}.{kind}Listener.v1",
        "width": "${components.transformer.model.hidden_width}",
        "pooling": {"@layers": "reduce_mean.v1"},
        "upstream": "*",
    }
    if kind == "ScalarWeighting":
        weighting = {"@architectures": f"{OWN}.ScalarWeight.v1"}
        block["weighting"] = {**weighting, "num_layers": 2, "dropout_prob": 0.0}
    return block


def trf_config(vocabulary, **components):
    """Configure a pipeline as en_core_web_trf is, with a tiny RoBERTa."""
    transformer = {"factory": "curated_transformer", "model": deepcopy(TRANSFORMER)}
    transformer["all_layer_outputs"] = True
    loader = {"@model_loaders": f"{OWN}.ByteBpeLoader.v1", **vocabulary}
    config = {"nlp": {"lang": "en", "pipeline": ["transformer", *components]}}
    config["components"] = {"transformer": transformer, **components}
    config["initialize"] = {"components": {"transformer": {"piecer_loader": loader}}}
    return Config(config)


def with_spans(vocabulary):
    base = trf_config(vocabulary, textcat={"factory": "textcat"})
    return build(add_spans(base, segmentation="spans").config)


def build(config):
    spacy.util.fix_random_seed(0)
    config = Config(config).interpolate()
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    examples = []
    for i, text in enumerate(TEXTS):
        doc, gold = nlp.make_doc(text), {"cats": {"A": i % 2, "B": 1 - i % 2}}
        gold["tags"] = ["XY"[len(token) > 3] for token in doc]
        examples.append(Example.from_dict(doc, gold))
    nlp.config["initialize"]["components"].pop("span_segmenter", None)
    optimizer = nlp.initialize(lambda: examples)
    if "span_segmenter" in nlp.pipe_names:
        dictionary = NgramDictionary({"new york": 2, "very good film": 2})
        nlp.get_pipe("span_segmenter").initialize(dictionary=dictionary)
    return nlp, examples, optimizer


@pytest.mark.parametrize("kind", ["LastTransformerLayer", "ScalarWeighting"])
def test_rows_pooled_are_what_the_listener_gives(vocabulary, kind):
    model = {"@architectures": "spacy.Tagger.v2", "tok2vec": listener(kind)}
    tagger = {"factory": "tagger", "model": model}
    nlp, _, _ = build(trf_config(vocabulary, tagger=tagger))
    transformer = nlp.get_pipe("transformer")
    # Its weighting takes no Doc without wordpieces.
    texts = [x for x in TEXTS if x.strip() or kind == "LastTransformerLayer"]
    docs = [nlp.make_doc(text) for text in texts]
    own = nlp.get_pipe("tagger").model.get_ref("tok2vec")

    def pooled():
        rows = encoder_rows(own)
        rows.initialize()
        return chain(rows, rows_to_tokens(reduce_mean()))

    actual = []
    for make in (lambda: own, pooled):
        layer = make()
        examples = [Example(doc, doc) for doc in docs]
        transformer.update(examples, drop=0.0)
        vectors, backprop = layer(docs, True)
        seeded = np.random.default_rng(0)
        backprop([seeded.normal(size=one.shape).astype("f") for one in vectors])
        module = transformer.model.get_ref("transformer").shims[0]._model
        weights = dict(module.named_parameters()).items()
        grads = {n: p.grad.clone() for n, p in weights if p.grad is not None}
        actual.append((vectors, grads))
        module.zero_grad()
        for doc in docs:
            doc._.trf_data = None
        transformer.set_annotations(docs, transformer.predict(docs))
        for one, other in zip(layer.predict(docs), vectors, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)
    (theirs, their_grads), (ours, our_grads) = actual
    for one, other in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    assert set(their_grads) == set(our_grads)
    assert len(our_grads) > 10
    for name, grad in their_grads.items():
        np.testing.assert_allclose(grad, our_grads[name], atol=1e-5)


def test_learns_saves_and_loads(vocabulary, tmp_path):
    nlp, examples, optimizer = with_spans(vocabulary)
    parts = {group.part for group in parameter_groups(nlp).values()}
    assert parts == {"transformer", "head"}
    optimizer.learn_rate = 0.02
    losses = [
        nlp.update(examples, sgd=optimizer, annotates=["span_segmenter"])["textcat"]
        for _ in range(12)
    ]
    assert losses[-1] < 0.7 * losses[0]
    expected = answers(nlp)
    nlp.to_disk(tmp_path / "shared")
    assert answers(spacy.load(tmp_path / "shared")) == expected
    nlp.replace_listeners("transformer", "textcat", ["model.tok2vec"])
    nlp.remove_pipe("transformer")
    nlp.to_disk(tmp_path / "alone")
    for one in (nlp, spacy.load(tmp_path / "alone")):
        assert answers(one) == expected


def test_is_frozen_and_thaws(vocabulary):
    nlp, examples, optimizer = with_spans(vocabulary)
    freeze = freeze_transformer(until_step=2)
    how = {"annotates": ["span_segmenter"]}
    changed = regimes.changes(nlp, examples, freeze, 4, optimizer, **how)
    assert changed == [False, False, True, True]


def answers(nlp):
    docs = nlp.pipe(TEXTS)
    return [{name: round(x, 5) for name, x in doc.cats.items()} for doc in docs]
