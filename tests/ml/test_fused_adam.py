"""All weights of an encoder in one step, against thinc's optimizer, one by one."""

import numpy as np
import pytest
import torch
from thinc.api import Adam, RAdam, warmup_linear

from spacy_spanft.ml.encoder import hf_encoder
from spacy_spanft.ml.grouped_adam import (
    GroupedAdam,
    can_fuse,
    fused_step,
)
from spacy_spanft.ml.parameter_groups import shim_of
from spacy_spanft.training.regimes import bind

from ..pipeline.test_encoder import make, module_of

SETTINGS = {"beta1": 0.8, "beta2": 0.99, "eps": 1e-6, "L2": 0.1, "use_averages": False}


def plain(**settings):
    return Adam(warmup_linear(0.01, 2, 8), **{**SETTINGS, **settings})


def grouped(**settings):
    rates = {"head_rate": 0.02, "layer_decay": 0.5}
    rate = warmup_linear(0.01, 2, 8)
    return GroupedAdam(rate, **{**SETTINGS, **rates, **settings})


def gradients(module, n_steps):
    """Make gradients of all sizes, zero and rounding among them."""
    random = torch.Generator().manual_seed(0)
    for _ in range(n_steps):
        yield {
            name: torch.randn(p.shape, generator=random) * 10.0 ** (i % 12 - 10)
            for i, (name, p) in enumerate(module.named_parameters())
        }


def stepped(bert, optimizer, frozen_at=None, n_steps=4):
    """Take steps with the same gradients, and give the encoder's weights."""
    nlp = make(bert)
    if isinstance(optimizer, GroupedAdam):
        bind(nlp)
    module = module_of(nlp)
    shim = shim_of(nlp.get_pipe("transformer").model)
    for step, given in enumerate(gradients(module, n_steps)):
        for name, weight in module.named_parameters():
            weight.grad = given[name].clone()
        if step == frozen_at:  # what is frozen for a step has done one less
            module.embeddings.word_embeddings.weight.grad = None
        shim.finish_update(optimizer)
        optimizer.step_schedules()
    return module


@pytest.mark.parametrize(("grad_clip", "frozen_at"), [(0.0, 1), (0.01, None)])
@pytest.mark.parametrize("make_optimizer", [plain, grouped])
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
    pairs = zip(actual.named_parameters(), expected.parameters(), strict=True)
    for (name, one), other in pairs:
        weights = (x.detach().numpy() for x in (one, other))
        np.testing.assert_allclose(*weights, rtol=1e-6, atol=1e-7, err_msg=name)
    for what in ("nr_update", "mom1", "mom2"):
        own, other = (of_encoder(getattr(x, what)) for x in (ours, theirs))
        assert own.keys() == other.keys()
        for name, value in own.items():
            # thinc's 1 - beta2 is rounded otherwise.
            atol = 1e-5 * float(np.abs(value).max())
            np.testing.assert_allclose(value, other[name], rtol=0, atol=atol)


def of_encoder(state):
    """Give what an optimizer knows of each weight of the encoder, by its name."""
    return {name: value for (_, name), value in state.items() if "." in name}


@pytest.mark.parametrize(
    ("optimizer", "expected"),
    [
        (plain(), True),
        (plain(use_averages=True), False),
        (plain(L2_is_weight_decay=False), False),
        (RAdam(0.01), False),
        (lambda key, weight, gradient: (weight, gradient), False),
    ],
)
def test_what_can_be_fused(optimizer, expected):
    assert can_fuse(optimizer, torch.nn.Linear(2, 2)) is expected
    assert not can_fuse(optimizer, torch.nn.Linear(2, 2).to(torch.bfloat16))
