"""When frozen transformers thaw, in which order, and what cannot be."""

from io import StringIO
from itertools import pairwise

import pytest
import spacy
import torch
from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config, registry
from thinc.api import Config

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.optimizers.groups import shim_of, transformers
from spacy_spanft.training.regimes import freeze_transformer

from ..made_configs import CONFIGS
from ..tiny import save_bert
from .regimes import encoders, hash_of, initialized, learns, make, optimizer, step

LAYERS = ("embeddings.", "encoder.layer.0.", "encoder.layer.1.")


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    folder = save_bert(tmp_path_factory.mktemp("bert") / "bert")
    docs = list(spacy.blank("en").pipe(f"new york {i}" for i in range(8)))
    for i, doc in enumerate(docs):
        doc.cats = {"A": i % 2, "B": 1 - i % 2}
    DocBin(docs=docs).to_disk(folder / "data.spacy")
    return folder


class TestThaw:
    @pytest.mark.filterwarnings("ignore:until_share = 1.0, but training ends")
    @pytest.mark.parametrize(
        ("settings", "first"),
        [
            ("until_step = 3", 3),
            ("until_step = 0", 0),
            ("until_epoch = 1", 4),
            ("until_epoch = 2", 8),
            ("until_share = 0.5", 5),
            ("until_share = 0.29", 3),
            ("until_share = 1.0", 10),
        ],
    )
    def test_exactly_then(self, bert, settings, first):
        """In spaCy's own loop: nine steps, four in an epoch, and the last one is 9."""
        assert self.changes(bert, settings) == [n >= first for n in range(10)]

    @pytest.mark.parametrize("settings", ["until_step = 2", "until_epoch = 1"])
    def test_layer_by_layer(self, bert, settings):
        begin = 2 if "step" in settings else 4
        for i, prefix in enumerate(reversed(LAYERS)):
            changes = self.changes(bert, f"{settings}\nsteps_per_layer = 2", prefix)
            assert changes == [n >= begin + 2 * i for n in range(10)], prefix

    def changes(self, bert, settings, prefix=""):
        """Train, and tell of each step whether it changed the transformer."""
        hashes = []

        @registry.callbacks("test.watch.v1")
        def make_watch(freeze):
            def call(nlp, info):
                assert info["step"] == len(hashes)
                hashes.append(hash_of(nlp, prefix))
                freeze(nlp, info)

            return call

        freeze = Config().from_str(f"[freeze]\n{settings}")["freeze"]
        freeze["@callbacks"] = "spacy-spanft.freeze_transformer.v1"
        watch = {"@callbacks": "test.watch.v1", "freeze": freeze}
        config = load_config(CONFIGS / "textcat_baseline.cfg")
        data = str(bert / "data.spacy")
        config["paths"].update(transformer=str(bert), train=data, dev=data)
        config["training"].update(before_update=watch, max_steps=9, eval_frequency=99)
        config["training"]["batcher"]["size"] = 2
        config["training"]["optimizer"]["learn_rate"] = 0.01
        nlp = init_nlp(config)
        train(nlp, stdout=StringIO(), stderr=StringIO())
        hashes.append(hash_of(nlp, prefix))
        assert learns(nlp)
        return [a != b for a, b in pairwise(hashes)]

    def test_layers_that_are_held_get_no_gradient(self, bert):
        nlp, examples = initialized(make(bert))
        step(nlp, examples, optimizer())
        freeze = freeze_transformer(until_step=0, steps_per_layer=1)
        (encoder,) = encoders(nlp)
        for n in range(4):
            freeze(nlp, {"step": n, "epoch": 0})
            nlp.update(examples, sgd=False)
            found = {
                prefix
                for name, parameter in encoder.named_parameters()
                for prefix in LAYERS
                if name.startswith(prefix) and parameter.grad is not None
            }
            assert found == set(LAYERS[::-1][: n + 1])
            nlp.get_pipe("transformer").finish_update(optimizer())
            assert learns(nlp)

    def test_another_training_begins_frozen(self, bert):
        """Steps and epochs count from 0 again when training is resumed."""
        nlp, examples = initialized(make(bert))
        freeze = freeze_transformer(until_epoch=1, steps_per_layer=3)
        for n, epoch, is_same in [(0, 0, True), (1, 1, False), (0, 0, True)]:
            before = hash_of(nlp, LAYERS[-1])
            freeze(nlp, {"step": n, "epoch": epoch})
            step(nlp, examples, optimizer())
            assert (hash_of(nlp, LAYERS[-1]) == before) == is_same
        # The layers below wait again: the last thaw was at step 1, this one is at 8.
        for n in (8, 9):
            before = hash_of(nlp, LAYERS[0])
            freeze(nlp, {"step": n, "epoch": 1})
            step(nlp, examples, optimizer())
            assert hash_of(nlp, LAYERS[0]) == before


class TestErrors:
    @pytest.mark.parametrize(
        ("settings", "expected"),
        [
            ({}, "exactly one of .* and has none"),
            ({"until_step": 1, "until_epoch": 2}, "has until_step, until_epoch"),
            ({"until_step": -1}, "until_step is -1, but must be a number of 0"),
            ({"until_epoch": -1}, "until_epoch is -1"),
            ({"until_share": 1.5}, "until_share is 1.5, but must be a number from"),
            ({"until_share": float("nan")}, "until_share is nan"),
            ({"until_step": 1, "steps_per_layer": 0}, "steps_per_layer is 0"),
        ],
    )
    def test_settings(self, settings, expected):
        with pytest.raises(SpanftError, match=expected):
            freeze_transformer(**settings)

    def test_no_transformer(self):
        nlp = spacy.blank("en")
        nlp.add_pipe("textcat").add_label("A")
        freeze = freeze_transformer(until_step=0)
        with pytest.raises(SpanftError, match=r"no transformer .* has: textcat"):
            freeze(nlp, {"step": 0, "epoch": 0})

    def test_frozen_for_good(self, bert):
        nlp, _ = initialized(make(bert, "textcat", "ner"))
        nlp.config["training"]["frozen_components"] = ["transformer"]
        freeze = freeze_transformer(until_step=1)
        with pytest.raises(SpanftError, match=r"\(transformer\), so that none"):
            freeze(nlp, {"step": 0, "epoch": 0})
        # One of two is frozen for good: it is left alone.
        nlp.replace_listeners("transformer", "ner", ["model.tok2vec"])
        freeze(nlp, {"step": 0, "epoch": 0})
        assert [e.embeddings.LayerNorm.weight.requires_grad for e in encoders(nlp)] == [
            *(True, False)
        ]

    @pytest.mark.parametrize(
        ("limit", "end"),
        [
            ({"until_step": 10}, {"max_steps": 10}),
            ({"until_epoch": 3}, {"max_epochs": 3}),
            ({"until_share": 1.0}, {"max_steps": 10}),
        ],
    )
    def test_never_thawed(self, bert, limit, end):
        nlp, _ = initialized(make(bert))
        nlp.config["training"].update(end)
        with pytest.warns(UserWarning, match="stays frozen to the end"):
            freeze_transformer(**limit)(nlp, {"step": 0, "epoch": 0})

    def test_share_of_what(self, bert):
        nlp, _ = initialized(make(bert))
        nlp.config["training"]["max_steps"] = 0
        with pytest.raises(SpanftError, match="max_steps, which is 0"):
            freeze_transformer(until_share=0.1)(nlp, {"step": 0, "epoch": 0})

    def test_no_layers(self, bert, monkeypatch):
        nlp, _ = initialized(make(bert))
        freeze = freeze_transformer(until_step=1, steps_per_layer=1)
        shim = shim_of(transformers(nlp.get_pipe("transformer").model)[0])
        monkeypatch.setattr(shim, "_model", torch.nn.Linear(2, 2))
        with pytest.raises(SpanftError, match=r"layers of Linear .* steps_per_layer"):
            freeze(nlp, {"step": 0, "epoch": 0})
