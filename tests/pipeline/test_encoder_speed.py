"""Settings of the encoder that change its speed and memory, and nothing else."""

import numpy as np
import pytest
import spacy
import torch

from ..tiny import encoder_config
from .test_encoder import TEXTS, gradients, make, module_of


def layer_of(nlp):
    return module_of(nlp).encoder.layer[0]


def same_gradients(bert, **settings):
    plain = gradients(make(bert))
    nlp = make(bert, encoder=encoder_config(bert, **settings))
    changed = gradients(nlp)
    assert len(plain) > 10
    for name, one in plain.items():
        np.testing.assert_allclose(one, changed.pop(name), atol=1e-5)
    # PyTorch compiles BERT's own pooler, too, which nothing uses.
    for name, one in changed.items():
        assert "pooler" in name
        assert not one.any()
    return nlp


# PyTorch 2.4 warns of what it does itself.
@pytest.mark.filterwarnings(r"ignore:`torch.cpu.amp.autocast:FutureWarning")
def test_checkpointing_computes_again(bert, tmp_path):
    nlp = same_gradients(bert, gradient_checkpointing=True)
    nlp.to_disk(tmp_path)
    for one, times in ((make(bert), 1), (spacy.load(tmp_path), 2)):
        calls = []
        # Its own layers are called for the output, and again for the gradient.
        layer_of(one).attention.register_forward_hook(
            lambda *_, calls=calls: calls.append(1)
        )
        gradients(one)
        trained = len(calls)
        assert trained % times == 0
        calls.clear()
        list(one.pipe(TEXTS))
        n_batches = len(calls)
        assert n_batches > 0
        assert trained == times * n_batches


# What PyTorch says of Python 3.13.0.
@pytest.mark.filterwarnings("ignore:Guards may run slower:RuntimeWarning")
def test_compiled(bert, monkeypatch, tmp_path):
    compiled = []

    def compile_without_compiler(module, **settings):
        assert settings == {"dynamic": True}
        compiled.append(module)
        return original(module, backend="aot_eager", **settings)

    original = torch.compile
    monkeypatch.setattr(torch, "compile", compile_without_compiler)
    nlp = same_gradients(bert, compile=True)
    assert len(compiled) == 1
    expected = [doc.cats for doc in make(bert).pipe(TEXTS)]
    nlp.to_disk(tmp_path)
    for one in (nlp, spacy.load(tmp_path)):
        for doc, cats in zip(one.pipe(TEXTS), expected, strict=True):
            assert doc.cats == pytest.approx(cats, abs=1e-5)
    assert len(compiled) == 2
