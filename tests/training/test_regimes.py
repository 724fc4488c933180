"""Frozen transformers: not a bit changes, nothing is left, and they thaw in time."""

from contextlib import contextmanager
from importlib.util import find_spec
from io import StringIO
from itertools import pairwise

import numpy as np
import pytest
import spacy
import torch
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config, registry
from thinc.api import Adam

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.parameter_groups import shim_of, transformers
from spacy_spanft.training.regimes import freeze_transformer

from ..made_configs import CONFIGS
from .regimes import (
    encoders,
    hash_of,
    head_weights,
    initialized,
    learns,
    make,
    optimizer,
    step,
)
from .test_prepare_training import table

KINDS = {
    "shared": {},
    "own": {"own": True},
    "ours": {"ours": True},
    "ours, own": {"ours": True, "own": True},
}


@contextmanager
def no_backward():
    """Let no backward pass of PyTorch run, nor any graph for one be built."""

    def fail(*args, **kwargs):
        raise AssertionError("a frozen transformer was trained")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.autograd, "backward", fail)
        if find_spec("spacy_transformers"):
            patch.setattr("spacy_transformers.layers.hf_shim.HFShim.begin_update", fail)
        yield


class TestFrozen:
    @pytest.mark.parametrize("kind", KINDS)
    def test_not_a_bit_changes(self, bert, kind):
        nlp, examples = initialized(make(bert, "textcat", "ner", **KINDS[kind]))
        adam = optimizer()
        for _ in range(3):  # then it is warm, and there are gradients of zeros
            step(nlp, examples, adam)
        freeze = freeze_transformer(until_step=20)
        before, head = hash_of(nlp), head_weights(nlp)
        with no_backward():
            for n in range(20):
                freeze(nlp, {"step": n, "epoch": 0})
                step(nlp, examples, adam)
                assert hash_of(nlp) == before
        for encoder in encoders(nlp):
            assert all(p.grad is None for p in encoder.parameters())
        for old, new in zip(head, head_weights(nlp), strict=True):
            # The parser has weights for what no example needs.
            assert old.size < 10 or not np.array_equal(old, new)
        assert learns(nlp)
        freeze(nlp, {"step": 20, "epoch": 0})
        step(nlp, examples, adam)
        assert hash_of(nlp) != before

    @pytest.mark.parametrize("ours", [False, True])
    def test_heads_learn_as_over_features(self, bert, ours):
        """The reference: spaCy's own way to have a transformer that is not trained."""
        dropout = {"transformer_config": {"hidden_dropout_prob": 0.5}}
        freeze = freeze_transformer(until_step=5)
        weights = []
        for fixed in ({}, {"exclude": ["transformer"], "annotates": ["transformer"]}):
            nlp, examples = initialized(
                make(bert, "textcat", "ner", ours=ours, **dropout)
            )
            adam = optimizer()
            for n in range(5):
                if not fixed:
                    freeze(nlp, {"step": n, "epoch": 0})
                step(nlp, examples, adam, **fixed)
            weights.append(head_weights(nlp))
        for frozen, reference in zip(*weights, strict=True):
            np.testing.assert_allclose(frozen, reference, atol=1e-6)

    def test_what_thaws_is_trained_as_if_nothing_had_been(self, bert):
        """From equal weights and optimizers, with and without a frozen phase before."""
        hashes = set()
        for n_frozen in (0, 3):
            nlp, examples = initialized(make(bert))
            freeze = freeze_transformer(until_step=n_frozen)
            still = Adam(0.0, L2=0.0)  # so that the head stays as it was
            adam = optimizer()
            for n in range(n_frozen + 3):
                freeze(nlp, {"step": n, "epoch": 0})
                step(nlp, examples, still if n < n_frozen else adam)
            hashes.add(hash_of(nlp))
        assert len(hashes) == 1

    @pytest.mark.parametrize("ours", [False, True])
    def test_beside_what_else_spacy_can_do(self, bert, ours):
        """Gradients accumulated, one head frozen, the transformer annotating."""
        nlp, examples = initialized(make(bert, "ner", "textcat", ours=ours))
        adam = optimizer()
        nlp.update(examples, sgd=adam)
        freeze = freeze_transformer(until_step=4)
        before = hash_of(nlp)
        settings = {"annotates": ["transformer"], "exclude": ["ner"]}
        for n in range(5):
            freeze(nlp, {"step": n, "epoch": 0})
            if n < 2:  # a loop of one's own: the transformer's update is finished first
                nlp.update(examples, sgd=adam)
                assert learns(nlp)
            else:
                step(nlp, examples, adam, accumulate=2, **settings)
            assert (hash_of(nlp) == before) == (n < 4)

    @pytest.mark.parametrize("ours", [False, True])
    def test_replaced_listeners_and_their_original(self, bert, ours):
        nlp, examples = initialized(make(bert, "textcat", "ner", ours=ours))
        nlp.replace_listeners("transformer", "ner", ["model.tok2vec"])
        assert len(encoders(nlp)) == 2
        freeze = freeze_transformer(until_step=2)
        before = hash_of(nlp)
        for n in range(3):
            assert hash_of(nlp) == before
            freeze(nlp, {"step": n, "epoch": 0})
            step(nlp, examples, optimizer())
        copy, original = (encoder.state_dict() for encoder in encoders(nlp))
        name = "encoder.layer.0.output.dense.weight"
        assert not torch.equal(copy[name], original[name])

    @pytest.mark.filterwarnings("ignore:.*CUDA is not available")
    def test_mixed_precision(self, bert):
        """A scaler of gradients refuses to work on the CPU: it is not even asked."""
        nlp, examples = initialized(make(bert, mixed_precision=True))
        (transformer,) = transformers(nlp.get_pipe("transformer").model)
        scaler = shim_of(transformer)._grad_scaler
        assert scaler._enabled
        before = hash_of(nlp), float(scaler._scale)
        freeze = freeze_transformer(until_step=3)
        for n in range(3):
            freeze(nlp, {"step": n, "epoch": 0})
            step(nlp, examples, optimizer())
        assert (hash_of(nlp), float(scaler._scale)) == before
        assert int(scaler._growth_tracker) == 0
        freeze(nlp, {"step": 3, "epoch": 0})
        with pytest.raises(ValueError, match="Gradient scaling is"):
            step(nlp, examples, optimizer())


class TestNothingIsLeft:
    @pytest.fixture
    def frozen(self, bert):
        nlp, examples = initialized(make(bert))
        freeze = freeze_transformer(until_step=9)
        freeze(nlp, {"step": 0, "epoch": 0})
        assert not learns(nlp)
        return nlp, examples, freeze

    def test_saved_in_the_middle(self, frozen, tmp_path):
        nlp, examples, _ = frozen
        nlp.update(examples, sgd=False)
        nlp.to_disk(tmp_path / "saved")
        loaded = spacy.load(tmp_path / "saved")
        assert learns(loaded)
        before = hash_of(nlp)
        assert hash_of(loaded) == before
        step(loaded, examples, optimizer())
        assert hash_of(loaded) != before
        texts = ["a film", "new york"]
        cats = [doc.cats["A"] for doc in nlp.pipe(texts)]
        again = spacy.load(tmp_path / "saved").pipe(texts)
        assert cats == pytest.approx([doc.cats["A"] for doc in again], abs=1e-6)

    def test_an_update_that_failed(self, frozen):
        """The next one puts right what it left, whether that is frozen or not."""
        nlp, examples, freeze = frozen
        freeze(nlp, {"step": 1, "epoch": 0})
        step(nlp, examples, optimizer())
        assert learns(nlp)
        freeze(nlp, {"step": 2, "epoch": 0})
        freeze(nlp, {"step": 9, "epoch": 0})
        nlp.update(examples, sgd=False)
        with pytest.raises(ZeroDivisionError):
            nlp.get_pipe("transformer").finish_update(lambda *args: 1 / 0)
        assert learns(nlp)
        freeze(nlp, {"step": 99, "epoch": 0})
        assert learns(nlp)
        before = hash_of(nlp)
        step(nlp, examples, optimizer())
        assert hash_of(nlp) != before


class TestThaw:
    """In spaCy's own loop: nine steps, four in an epoch, and the last one is 9."""

    @pytest.mark.filterwarnings("ignore:The transformer is frozen until step 10")
    @pytest.mark.parametrize(
        ("settings", "first"),
        [({"until_step": 0}, 0), ({"until_share": 0.29}, 3), ({"until_share": 1}, 10)],
    )
    def test_exactly_then(self, bert, tmp_path, settings, first):
        hashes = []

        @registry.callbacks("test.watch.v1")
        def make_watch(freeze):
            def call(nlp, info):
                assert info["step"] == len(hashes)
                hashes.append(hash_of(nlp))
                freeze(nlp, info)

            return call

        data = table(tmp_path / "data.csv", 8)
        freeze = {"@callbacks": "spacy-spanft.freeze_transformer.v1", **settings}
        watch = {"@callbacks": "test.watch.v1", "freeze": freeze}
        config = load_config(CONFIGS / "textcat_baseline.cfg")
        config["paths"].update(transformer=str(bert), train=str(data), dev=str(data))
        config["training"].update(before_update=watch, max_steps=9, eval_frequency=9)
        config["training"]["batcher"]["size"] = 2
        config["training"]["optimizer"]["learn_rate"] = 0.01
        nlp = init_nlp(config)
        train(nlp, stdout=StringIO(), stderr=StringIO())
        hashes.append(hash_of(nlp))
        assert learns(nlp)
        changes = [before != after for before, after in pairwise(hashes)]
        assert changes == [n >= first for n in range(10)]


class TestErrors:
    def test_exactly_one_limit(self):
        for limits in ({}, {"until_step": 1, "until_share": 0.5}):
            with pytest.raises(SpanftError, match="either until_step or until_share"):
                freeze_transformer(**limits)

    def test_pipelines(self, bert):
        nlp = spacy.blank("en")
        nlp.add_pipe("textcat").add_label("A")
        info = {"step": 0, "epoch": 0}
        with pytest.raises(SpanftError, match=r"no transformer .* has: textcat"):
            freeze_transformer(until_step=0)(nlp, info)
        nlp, _ = initialized(make(bert, "textcat", "ner"))
        nlp.config["training"]["max_steps"] = 10
        with pytest.warns(UserWarning, match="ends at 10: only the head learns"):
            freeze_transformer(until_step=10)(nlp, info)
        nlp.config["training"]["max_steps"] = 0
        with pytest.raises(SpanftError, match="max_steps, which is 0"):
            freeze_transformer(until_share=0.1)(nlp, info)

    def test_what_spacy_freezes_for_good_is_left_alone(self, bert):
        nlp, _ = initialized(make(bert, "textcat", "ner"))
        nlp.config["training"]["frozen_components"] = ["transformer"]
        nlp.replace_listeners("transformer", "ner", ["model.tok2vec"])
        freeze_transformer(until_step=1)(nlp, {"step": 0, "epoch": 0})
        assert not learns(nlp)
        nodes = transformers(nlp.get_pipe("transformer").model)
        assert not any("finish_update" in vars(shim_of(node)) for node in nodes)
