"""Frozen transformers: not a bit changes, nothing is paid for, and nothing is left."""

from contextlib import contextmanager
from importlib.util import find_spec

import numpy as np
import pytest
import spacy
import torch
from thinc.api import Adam

from spacy_spanft.ml.optimizers.groups import shim_of, transformers
from spacy_spanft.training.regimes import freeze_transformer

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

KINDS = {
    "shared": {},
    "own": {"own": True},
    "ours": {"ours": True},
    "ours, own": {"ours": True, "own": True},
}
LAYERS = ("embeddings.", "encoder.layer.0.", "encoder.layer.1.")


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
    @pytest.mark.parametrize("heads", [["textcat"], ["textcat", "ner"]])
    @pytest.mark.parametrize("kind", KINDS)
    def test_not_a_bit_changes(self, bert, kind, heads):
        nlp, examples = initialized(make(bert, *heads, **KINDS[kind]))
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
    @pytest.mark.parametrize("heads", [["textcat"], ["textcat", "ner"]])
    def test_heads_learn_as_over_features(self, bert, heads, ours):
        """The reference: spaCy's own way to have a transformer that is not trained."""
        dropout = {"transformer_config": {"hidden_dropout_prob": 0.5}}
        freeze = freeze_transformer(until_step=5)
        found = []
        for kind in ("ours", "spacy"):
            nlp, examples = initialized(make(bert, *heads, ours=ours, **dropout))
            adam = optimizer()
            fixed = {"exclude": ["transformer"], "annotates": ["transformer"]}
            for n in range(5):
                if kind == "ours":
                    freeze(nlp, {"step": n, "epoch": 0})
                step(nlp, examples, adam, **(fixed if kind == "spacy" else {}))
            found.append(head_weights(nlp))
        for ours, theirs in zip(*found, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-6)

    def test_what_thaws_is_trained_as_if_nothing_had_been(self, bert):
        """From equal weights and optimizers, with and without a frozen phase before."""
        found = []
        for n_frozen in (0, 3):
            nlp, examples = initialized(make(bert))
            freeze = freeze_transformer(until_step=n_frozen)
            still = Adam(0.0, L2=0.0)  # so that the head stays as it was
            for n in range(n_frozen):
                freeze(nlp, {"step": n, "epoch": 0})
                step(nlp, examples, still)
            adam = optimizer()
            for n in range(3):
                freeze(nlp, {"step": n_frozen + n, "epoch": 0})
                step(nlp, examples, adam)
            found.append(hash_of(nlp))
        assert found[0] == found[1]

    @pytest.mark.parametrize("ours", [False, True])
    @pytest.mark.parametrize("accumulate", [1, 2])
    def test_beside_what_else_spacy_can_do(self, bert, accumulate, ours):
        """Gradients accumulated, one head frozen, the transformer annotating."""
        nlp, examples = initialized(make(bert, "ner", "textcat", ours=ours))
        freeze = freeze_transformer(until_step=3)
        before = hash_of(nlp)
        settings = {"annotates": ["transformer"], "exclude": ["ner"]}
        for n in range(4):
            freeze(nlp, {"step": n, "epoch": 0})
            step(nlp, examples, optimizer(), accumulate=accumulate, **settings)
            assert (hash_of(nlp) == before) == (n < 3)

    @pytest.mark.parametrize("ours", [False, True])
    def test_update_with_an_optimizer(self, bert, ours):
        """In a loop of one's own, where the transformer's update is finished first."""
        nlp, examples = initialized(make(bert, ours=ours))
        adam = optimizer()
        freeze = freeze_transformer(until_step=4)
        nlp.update(examples, sgd=adam)
        before = hash_of(nlp)
        for n in range(4):
            freeze(nlp, {"step": n, "epoch": 0})
            nlp.update(examples, sgd=adam)
        assert hash_of(nlp) == before
        assert learns(nlp)

    @pytest.mark.parametrize("ours", [False, True])
    def test_replaced_listeners_and_their_original(self, bert, ours):
        nlp, examples = initialized(make(bert, "textcat", "ner", ours=ours))
        nlp.replace_listeners("transformer", "ner", ["model.tok2vec"])
        assert len(encoders(nlp)) == 2
        freeze = freeze_transformer(until_step=2)
        before = hash_of(nlp)
        for n in range(2):
            freeze(nlp, {"step": n, "epoch": 0})
            step(nlp, examples, optimizer())
        assert hash_of(nlp) == before
        freeze(nlp, {"step": 2, "epoch": 0})
        step(nlp, examples, optimizer())
        one, other = (encoder.state_dict() for encoder in encoders(nlp))
        name = "encoder.layer.0.output.dense.weight"
        assert not torch.equal(one[name], other[name])

    @pytest.mark.filterwarnings("ignore:.*CUDA is not available")
    def test_mixed_precision(self, bert):
        """A scaler of gradients refuses to work on the CPU: it is not even asked."""
        nlp, examples = initialized(make(bert, mixed_precision=True))
        scaler = shim_of(
            transformers(nlp.get_pipe("transformer").model)[0]
        )._grad_scaler
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
    def frozen(self, bert, **settings):
        nlp, examples = initialized(make(bert))
        freeze = freeze_transformer(until_step=9, **settings)
        freeze(nlp, {"step": 0, "epoch": 0})
        assert not learns(nlp)
        return nlp, examples, freeze

    def test_saved_in_the_middle(self, bert, tmp_path):
        nlp, examples, _ = self.frozen(bert)
        nlp.update(examples, sgd=False)
        nlp.to_disk(tmp_path / "saved")
        loaded = spacy.load(tmp_path / "saved")
        assert learns(loaded)
        assert hash_of(loaded) == hash_of(nlp)
        before = hash_of(loaded)
        step(loaded, examples, optimizer())
        assert hash_of(loaded) != before
        found = [d.cats["A"] for d in nlp.pipe(["a film", "new york"])]
        again = spacy.load(tmp_path / "saved").pipe(["a film", "new york"])
        assert found == pytest.approx([d.cats["A"] for d in again], abs=1e-6)

    def test_an_update_that_failed(self, bert):
        """The next one puts right what it left, whether that is frozen or not."""
        nlp, examples, freeze = self.frozen(bert)
        freeze(nlp, {"step": 1, "epoch": 0})
        step(nlp, examples, optimizer())
        assert learns(nlp)
        freeze(nlp, {"step": 2, "epoch": 0})
        freeze(nlp, {"step": 9, "epoch": 0})
        assert learns(nlp)
        before = hash_of(nlp)
        step(nlp, examples, optimizer())
        assert hash_of(nlp) != before

    def test_an_optimizer_that_failed(self, bert):
        nlp, examples, freeze = self.frozen(bert, steps_per_layer=1)
        freeze(nlp, {"step": 9, "epoch": 0})
        nlp.update(examples, sgd=False)
        with pytest.raises(ZeroDivisionError):
            nlp.get_pipe("transformer").finish_update(lambda *args: 1 / 0)
        assert learns(nlp)

    def test_what_others_froze(self, bert):
        nlp, examples = initialized(make(bert))
        (encoder,) = encoders(nlp)
        encoder.embeddings.word_embeddings.weight.requires_grad_(False)
        freeze = freeze_transformer(until_step=1)
        freeze(nlp, {"step": 0, "epoch": 0})
        step(nlp, examples, optimizer())
        trained = [p.requires_grad for p in encoder.parameters()]
        assert trained == [False] + [True] * (len(trained) - 1)
