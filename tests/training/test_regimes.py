"""Frozen transformers: not a bit changes, nothing is left, and they thaw in time."""

import numpy as np
import pytest
import spacy
import torch
from thinc.api import Adam

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.parameter_groups import shim_of, transformers
from spacy_spanft.training.regimes import freeze_transformer

from . import regimes

KINDS = {
    "shared": {},
    "own": {"own": True},
    "ours": {"ours": True},
    "ours, own": {"ours": True, "own": True},
}


@pytest.mark.parametrize("kind", KINDS)
def test_not_a_bit_changes(bert, kind, monkeypatch):
    nlp, examples = regimes.initialized(
        regimes.make(bert, "textcat", "ner", **KINDS[kind])
    )
    adam = regimes.optimizer()
    regimes.step(nlp, examples, adam)  # then there are gradients of zeros
    freeze, head = freeze_transformer(until_step=4), regimes.head_weights(nlp)
    with monkeypatch.context() as patch:
        # No backward pass of PyTorch runs, nor is any graph for one built.
        patch.setattr(torch.autograd, "backward", None)
        if not KINDS[kind].get("ours"):
            patch.setattr("spacy_transformers.layers.hf_shim.HFShim.begin_update", None)
        assert regimes.changes(nlp, examples, freeze, 4, adam) == [False] * 4
    for encoder in regimes.encoders(nlp):
        assert all(p.grad is None for p in encoder.parameters())
    for old, new in zip(head, regimes.head_weights(nlp), strict=True):
        # The parser has weights for what no example needs.
        assert old.size < 10 or not np.array_equal(old, new)
    assert regimes.learns(nlp)
    assert regimes.changes(nlp, examples, freeze, 1, adam, first=4) == [True]


@pytest.mark.parametrize("ours", [False, True])
def test_heads_learn_as_over_features(bert, ours):
    """The reference: spaCy's own way to have a transformer that is not trained."""
    dropout = {"transformer_config": {"hidden_dropout_prob": 0.5}}
    freeze = freeze_transformer(until_step=3)
    weights = []
    for fixed in ({}, {"exclude": ["transformer"], "annotates": ["transformer"]}):
        nlp = regimes.make(bert, "textcat", "ner", ours=ours, **dropout)
        nlp, examples = regimes.initialized(nlp)
        adam = regimes.optimizer()
        for n in range(3):
            if not fixed:
                freeze(nlp, {"step": n, "epoch": 0})
            regimes.step(nlp, examples, adam, **fixed)
        weights.append(regimes.head_weights(nlp))
    for frozen, reference in zip(*weights, strict=True):
        np.testing.assert_allclose(frozen, reference, atol=1e-6)


def test_what_thaws_is_trained_as_if_nothing_had_been(bert):
    """From equal weights and optimizers, with and without a frozen phase before."""
    hashes = set()
    for n_frozen in (0, 2):
        nlp, examples = regimes.initialized(regimes.make(bert))
        freeze = freeze_transformer(until_step=n_frozen)
        still = Adam(0.0, L2=0.0)  # so that the head stays as it was
        regimes.changes(nlp, examples, freeze, n_frozen, still)
        regimes.changes(nlp, examples, freeze, 3, regimes.optimizer(), n_frozen)
        hashes.add(regimes.hash_of(nlp))
    assert len(hashes) == 1


def test_beside_what_else_spacy_can_do(bert):
    """Gradients accumulated, one head frozen, the transformer annotating."""
    nlp, examples = regimes.initialized(regimes.make(bert, "ner", "textcat"))
    how = nlp, examples, freeze_transformer(until_step=2), 3, regimes.optimizer()
    settings = {"accumulate": 2, "annotates": ["transformer"], "exclude": ["ner"]}
    assert regimes.changes(*how, **settings) == [False, False, True]


@pytest.mark.parametrize("ours", [False, True])
def test_replaced_listeners_and_their_original(bert, ours):
    nlp, examples = regimes.initialized(regimes.make(bert, "textcat", "ner", ours=ours))
    nlp.replace_listeners("transformer", "ner", ["model.tok2vec"])
    assert len(regimes.encoders(nlp)) == 2
    how = nlp, examples, freeze_transformer(until_step=2), 3, regimes.optimizer()
    assert regimes.changes(*how) == [False, False, True]
    copy, original = (encoder.state_dict() for encoder in regimes.encoders(nlp))
    name = "encoder.layer.0.output.dense.weight"
    assert not torch.equal(copy[name], original[name])


def test_saved_in_the_middle(bert, tmp_path):
    nlp, examples = regimes.initialized(regimes.make(bert))
    freeze_transformer(until_step=9)(nlp, {"step": 0, "epoch": 0})
    assert not regimes.learns(nlp)
    nlp.update(examples, sgd=False)
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert regimes.learns(loaded)
    before = regimes.hash_of(nlp)
    assert regimes.hash_of(loaded) == before
    regimes.step(loaded, examples, regimes.optimizer())
    assert regimes.hash_of(loaded) != before


def test_an_update_that_failed(bert):
    """The next one puts right what it left."""
    nlp, examples = regimes.initialized(regimes.make(bert))
    freeze = freeze_transformer(until_step=9)
    freeze(nlp, {"step": 2, "epoch": 0})
    nlp.update(examples, sgd=False)  # and never finished
    freeze(nlp, {"step": 9, "epoch": 0})
    assert regimes.learns(nlp)
    freeze(nlp, {"step": 0, "epoch": 0})
    nlp.update(examples, sgd=False)
    freeze(nlp, {"step": 99, "epoch": 0})
    before = regimes.hash_of(nlp)
    regimes.step(nlp, examples, regimes.optimizer())
    assert regimes.hash_of(nlp) != before


@pytest.mark.parametrize(("share", "first"), [(0.29, 3), (1, 10)])
def test_it_thaws_exactly_then(bert, share, first):
    """Of the steps 0 to 9, as spaCy's loop counts them."""
    nlp, examples = regimes.initialized(regimes.make(bert))
    nlp.config["training"]["max_steps"] = 9
    how = freeze_transformer(until_share=share), 10, regimes.optimizer()
    changed = regimes.changes(nlp, examples, *how)
    assert changed == [n >= first for n in range(10)]


def test_errors(bert):
    with pytest.raises(SpanftError, match="either until_step or until_share"):
        freeze_transformer(until_step=1, until_share=0.5)
    with pytest.raises(SpanftError, match="must be"):
        freeze_transformer(until_share=1.5)
    info = {"step": 0, "epoch": 0}
    with pytest.raises(SpanftError, match="no transformer"):
        freeze_transformer(until_step=0)(spacy.blank("en"), info)
    nlp, _ = regimes.initialized(regimes.make(bert, "textcat", "ner"))
    nlp.config["training"]["max_steps"] = 0
    with pytest.raises(SpanftError, match="max_steps, which is 0"):
        freeze_transformer(until_share=0.1)(nlp, info)


def test_what_spacy_freezes_for_good_is_left_alone(bert):
    nlp, _ = regimes.initialized(regimes.make(bert, "textcat", "ner"))
    nlp.config["training"]["frozen_components"] = ["transformer"]
    nlp.replace_listeners("transformer", "ner", ["model.tok2vec"])
    freeze_transformer(until_step=1)(nlp, {"step": 0, "epoch": 0})
    assert not regimes.learns(nlp)
    nodes = transformers(nlp.get_pipe("transformer").model)
    assert not any("finish_update" in vars(shim_of(node)) for node in nodes)
