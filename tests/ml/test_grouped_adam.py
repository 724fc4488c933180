"""Adam by groups: thinc's own where they are alike, PyTorch's where they are not."""

import gc
from itertools import islice

import numpy as np
import pytest
import spacy
import torch
from thinc.api import Adam, RAdam, warmup_linear

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.encoder import hf_encoder
from spacy_spanft.ml.grouped_adam import GroupedAdam, can_fuse, fused_step
from spacy_spanft.ml.parameter_groups import (
    bind,
    models,
    parameter_groups,
    shim_of,
    transformers,
)
from spacy_spanft.training.regimes import group_parameters

from ..pipeline.test_encoder import make as make_encoder
from ..pipeline.test_encoder import module_of
from ..training.regimes import hash_of, head_weights, initialized, make, step

SETTINGS = {"beta1": 0.8, "beta2": 0.99, "eps": 1e-6, "L2": 0.1, "grad_clip": 0.5}
DEPTHS = {"embeddings": 2, "encoder.layer.0": 1, "encoder.layer.1": 0, "pooler": 0}


def shims(nlp):
    return [shim_of(x) for model in models(nlp).values() for x in transformers(model)]


def exchange(nlp, draw):
    """Set all parameters and gradients to what draw(key, weight) returns."""
    for model in models(nlp).values():
        for node in model.walk():
            for name in node.param_names:
                if node.has_param(name):
                    actual = draw((node.id, name), node.get_param(name))
                    node.set_param(name, actual[0])
                    node.set_grad(name, actual[1])
            for shim in node.shims:
                for name, parameter in shim._model.named_parameters():
                    actual = draw((shim.id, name), parameter.detach().numpy())
                    parameter.data = torch.tensor(actual[0])
                    parameter.grad = torch.tensor(actual[1])


def weights(nlp):
    actual = {}

    def note(key, weight):
        actual[key] = weight.copy()
        return weight.copy(), np.zeros_like(weight)

    exchange(nlp, note)
    return actual


@pytest.mark.parametrize(
    ("heads", "averages", "decay"),
    [(["textcat"], True, False), (["textcat", "ner"], False, True)],
)
def test_alike_it_is_thincs(bert, heads, averages, decay):
    """To the last bit, with all that thinc's has, also with equal rates given."""
    more = {"L2_is_weight_decay": decay, "use_averages": averages, **SETTINGS}
    rate = lambda: warmup_linear(0.01, 2, 8)  # noqa: E731
    grouped = {"decay_biases_and_norms": True, **more}
    rates = {"transformer_rate": rate(), "head_rate": rate()}
    actual = []
    for adam in (
        Adam(rate(), **more),
        GroupedAdam(rate(), **grouped),
        GroupedAdam(0.5, **rates, **grouped),
    ):
        nlp, examples = initialized(make(bert, *heads))
        for n in range(3):
            group_parameters()(nlp, {"step": n, "epoch": 0})
            step(nlp, examples, adam)
        averaged = adam.averages.values() if averages else []
        arrays = [*head_weights(nlp), *averaged]
        actual.append([hash_of(nlp), *(array.tobytes() for array in arrays)])
    assert actual[0] == actual[1] == actual[2]


@pytest.mark.parametrize("peer", [torch.optim.Adam, torch.optim.AdamW])
def test_groups_are_those_of_pytorch(bert, peer):
    nlp, _ = initialized(make(bert))
    bind(nlp)
    ids = {shim.id for shim in shims(nlp)}
    # AdamW shrinks a weight before its step, thinc after it, which differs by the
    # square of the rate.
    rates = {"transformer": (5e-4, 2, 8), "head": (1e-3, 1, 9)}
    ours = GroupedAdam(
        9.0,
        **{f"{part}_rate": warmup_linear(*rate) for part, rate in rates.items()},
        **{"layer_decay": 0.5, "L2": 0.3, "grad_clip": 0.0},
        L2_is_weight_decay=peer is torch.optim.AdamW,
    )
    random = np.random.default_rng(0)
    normal = lambda weight: random.normal(size=weight.shape).astype("f")  # noqa: E731
    exchange(nlp, lambda key, weight: (normal(weight), normal(weight)))
    theirs = {
        key: torch.nn.Parameter(torch.tensor(w)) for key, w in weights(nlp).items()
    }
    groups, factors = [], []
    for (number, name), parameter in theirs.items():
        part, depth = ("transformer" if number in ids else "head"), 0
        spared = name in ("b", "c", "G") or name.endswith("bias") or "Norm" in name
        if part == "transformer":
            depth = next(DEPTHS[prefix] for prefix in DEPTHS if name.startswith(prefix))
        decay = {"weight_decay": 0.0 if spared else 0.3}
        groups.append({"params": [parameter], "lr": 0.5**depth, **decay})
        factors.append([*islice(warmup_linear(*rates[part]), 7)].__getitem__)
    reference = peer(groups)
    schedule = torch.optim.lr_scheduler.LambdaLR(reference, factors)
    before = weights(nlp)
    for _ in range(6):

        def draw(key, weight):
            gradient = normal(weight)
            theirs[key].grad = torch.tensor(gradient)
            return weight, gradient

        exchange(nlp, draw)
        reference.step()
        schedule.step()
        for _, component in nlp.pipeline:
            component.finish_update(ours)
        ours.step_schedules()
    for key, weight in weights(nlp).items():
        expected = theirs[key].detach().numpy()
        np.testing.assert_allclose(weight, expected, atol=1e-5, err_msg=str(key))
        assert np.abs(expected - before[key]).max() > 1e-4


def test_without_a_transformer():
    nlp = spacy.blank("en")
    nlp.add_pipe("textcat")
    nlp, examples = initialized(nlp)
    bind(nlp)
    assert {group.part for group in parameter_groups(nlp).values()} == {"rest"}
    adam = GroupedAdam(0.01, transformer_rate=0.1, head_rate=0.1, layer_decay=0.9)
    step(nlp, examples, adam)
    nlp.add_pipe("ner")  # what comes later is bound as well
    nlp.get_pipe("ner").initialize(lambda: examples, nlp=nlp)
    step(nlp, examples, adam)


def test_copies_have_moments_of_their_own(bert):
    """What replaces a listener keeps the id of the original: Adam would mix them up."""
    nlp, examples = initialized(make(bert, "textcat", "ner"))
    nlp.replace_listeners("transformer", "ner", ["model.tok2vec"])
    one, other = shims(nlp)
    assert one.id == other.id
    adam = GroupedAdam(0.01)
    for n in range(2):
        group_parameters()(nlp, {"step": n, "epoch": 0})
        step(nlp, examples, adam)
    assert one.id != other.id
    name = "encoder.layer.0.output.dense.weight"
    assert [adam.nr_update[shim.id, name] for shim in (one, other)] == [2, 2]
    groups = parameter_groups(nlp)
    assert groups[one.id, name] == groups[other.id, name] == ("transformer", 1, False)


def test_a_pipeline_is_not_kept(bert):
    nlp, examples = initialized(make(bert))
    bind(nlp)
    model = nlp.get_pipe("textcat").model
    key = next((n.id, "W") for n in model.walk() if "W" in n.param_names)
    del nlp, examples, model
    gc.collect()
    other, _ = initialized(make(bert))  # whose being bound does not help
    bind(other)
    message = r"(?s)not know the parameter 'W'.*group_parameters\.v1.*bind\(nlp\)"
    with pytest.raises(SpanftError, match=message):
        GroupedAdam(0.1)(key, np.zeros(3, "f"), np.zeros(3, "f"))


def test_settings_that_cannot_be(bert, monkeypatch):
    with pytest.raises(SpanftError, match=r"layer_decay is 1\.1, but"):
        GroupedAdam(0.1, layer_decay=1.1)
    # An encoder without layers has no rates for them.
    nlp, _ = initialized(make(bert))
    (shim,) = shims(nlp)
    key, arrays = (shim.id, "weight"), (np.zeros((2, 2), "f"), np.ones((2, 2), "f"))
    monkeypatch.setattr(shim, "_model", torch.nn.Linear(2, 2))
    with pytest.raises(SpanftError, match=r"group_parameters\.v1.*bind\(nlp\)"):
        GroupedAdam(0.1)(key, *arrays)
    bind(nlp)
    GroupedAdam(0.1)(key, *arrays)
    with pytest.raises(SpanftError, match="layer_decay"):
        GroupedAdam(0.1, layer_decay=0.5)(key, *arrays)


# All weights of an encoder in one step, against the optimizer one by one.
FUSED = {"beta1": 0.8, "beta2": 0.99, "eps": 1e-6, "L2": 0.1, "use_averages": False}


def plain(**settings):
    return Adam(warmup_linear(0.01, 2, 8), **{**FUSED, **settings})


def grouped(**settings):
    rates = {"head_rate": 0.02, "layer_decay": 0.5}
    rate = warmup_linear(0.01, 2, 8)
    return GroupedAdam(rate, **{**FUSED, **rates, **settings})


def gradients(module, n_steps):
    """Make gradients of all sizes, zero and rounding among them."""
    random = torch.Generator().manual_seed(0)
    for _ in range(n_steps):
        yield {
            name: torch.randn(p.shape, generator=random) * 10.0 ** (i % 12 - 10)
            for i, (name, p) in enumerate(module.named_parameters())
        }


def stepped(bert, optimizer, frozen_at=None, n_steps=4):
    nlp = make_encoder(bert)
    if isinstance(optimizer, GroupedAdam):
        bind(nlp)
    module = module_of(nlp)
    shim = shim_of(nlp.get_pipe("transformer").model)
    for n, given in enumerate(gradients(module, n_steps)):
        for name, weight in module.named_parameters():
            weight.grad = given[name].clone()
        if n == frozen_at:  # what is frozen for a step has done one less
            module.embeddings.word_embeddings.weight.grad = None
        shim.finish_update(optimizer)
        optimizer.step_schedules()
    return module


@pytest.mark.parametrize(
    ("make_optimizer", "grad_clip", "frozen_at"),
    [(plain, 0.01, None), (grouped, 0.0, 1)],
)
def test_as_one_by_one(bert, monkeypatch, make_optimizer, grad_clip, frozen_at):
    calls = []

    def counted(*args):
        calls.append(1)
        fused_step(*args)

    monkeypatch.setattr(hf_encoder, "fused_step", counted)
    ours, theirs = (make_optimizer(grad_clip=grad_clip) for _ in range(2))
    actual = stepped(bert, ours, frozen_at)
    assert len(calls) == 4
    monkeypatch.setattr(hf_encoder, "can_fuse", lambda *_: False)
    expected = stepped(bert, theirs, frozen_at)
    assert len(calls) == 4
    for one, other in zip(actual.parameters(), expected.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-7)
    for what in ("nr_update", "mom1", "mom2"):
        own, other = (of_encoder(getattr(x, what)) for x in (ours, theirs))
        assert own.keys() == other.keys()
        for name, value in own.items():
            # thinc's 1 - beta2 is rounded otherwise.
            atol = 1e-5 * float(np.abs(value).max())
            np.testing.assert_allclose(value, other[name], rtol=0, atol=atol)


def of_encoder(state):
    return {name: value for (_, name), value in state.items() if "." in name}


def test_what_can_be_fused():
    linear = torch.nn.Linear(2, 2)
    assert can_fuse(plain(), linear)
    others = plain(use_averages=True), plain(L2_is_weight_decay=False), RAdam(0.01)
    assert not any(can_fuse(optimizer, linear) for optimizer in others)
    assert not can_fuse(plain(), linear.to(torch.bfloat16))
