"""The settings of spanft_encoder: kept, and changed by a config that loads."""

import shutil

import numpy as np
import pytest
import spacy

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.parameter_groups import shim_of

from ..tiny import encoder_config
from .test_encoder import TEXTS, answers, gradients, make, module_of

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


def load_with(folder, **settings):
    config = {"components": {"transformer": {"model": settings}}}
    return spacy.load(folder, config=config)


@pytest.fixture(scope="module")
def saved(bert, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    make(bert).to_disk(folder)
    return folder


def test_settings_of_the_encoder_and_its_tokenizer_are_kept(bert, tmp_path):
    settings = {
        "transformer_config": {"attn_implementation": "eager", "num_labels": 7},
        "tokenizer_config": {"do_lower_case": False, "local_files_only": True},
    }
    nlp = make(bert, encoder=encoder_config(bert, **settings))
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    for one in (nlp, loaded):
        config = shim_of(one.get_pipe("transformer").model).encoder.config
        assert (config._attn_implementation, config.num_labels) == ("eager", 7)
    assert answers(loaded.pipe(TEXTS)) == answers(nlp.pipe(TEXTS))
    other = load_with(
        tmp_path,
        window=8,
        transformer_config={"attn_implementation": "sdpa", "hidden_dropout_prob": 0.25},
        tokenizer_config={"model_max_length": 9},
    )
    shim = shim_of(other.get_pipe("transformer").model)
    _, tokenizer, config = shim.encoder
    assert config._attn_implementation == "sdpa"
    assert (config.hidden_dropout_prob, config.num_labels) == (0.25, 7)
    assert (tokenizer.model_max_length, shim.window) == (9, (8, 1))


def test_weights_in_half_precision(bert, tmp_path):
    folder = shutil.copytree(bert, tmp_path / "bert")
    transformers.AutoModel.from_pretrained(folder).bfloat16().save_pretrained(folder)
    nlp = make(folder, "tagger")
    nlp.to_disk(tmp_path / "nlp")
    for one in (nlp, spacy.load(tmp_path / "nlp")):
        assert {p.dtype for p in module_of(one).parameters()} == {torch.float32}


def test_wrong_settings_of_the_config_that_loads(saved):
    with pytest.raises(SpanftError, match="window is 61"):
        load_with(saved, window=61)
    with pytest.raises(SpanftError, match="are not those of such"):
        load_with(saved, transformer_config={"hidden_size": 32})


def test_a_damaged_pipeline(saved, tmp_path):
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "transformer" / "model"
    data = path.read_bytes()
    heads = ["span_segmenter", "textcat", "tagger"]
    for damaged in (data[: len(data) // 2], data.replace(b"tokenizer.json", b"x")):
        path.write_bytes(damaged)
        with pytest.raises(SpanftError, match="'transformer' cannot be read"):
            spacy.load(tmp_path, exclude=heads)


# PyTorch 2.4 warns of what it does itself.
@pytest.mark.filterwarnings(r"ignore:`torch.cpu.amp.autocast:FutureWarning")
def test_checkpointing_computes_again(bert, tmp_path):
    plain = gradients(make(bert))
    nlp = make(bert, encoder=encoder_config(bert, gradient_checkpointing=True))
    changed = gradients(nlp)
    assert len(plain) > 10
    dropout = {"hidden_dropout_prob": 0.3, "attention_probs_dropout_prob": 0.3}
    noisy = []
    for how in ({}, {"gradient_checkpointing": True}):
        config = encoder_config(bert, transformer_config=dropout, **how)
        one = make(bert, encoder=config)
        torch.manual_seed(0)
        # While the heads wait for their turn, the encoder predicts.
        noisy.append(gradients(one, annotates=["span_segmenter", "transformer"]))
    for name, gradient in noisy[0].items():
        np.testing.assert_allclose(gradient, noisy[1][name], atol=1e-5)
    for name, one in plain.items():
        np.testing.assert_allclose(one, changed[name], atol=1e-5)
    nlp.to_disk(tmp_path)
    for one, times in ((make(bert), 1), (spacy.load(tmp_path), 2)):
        calls = []
        # Its own layers are called for the output, and again for the gradient.
        module_of(one).encoder.layer[0].attention.register_forward_hook(
            lambda *_, calls=calls: calls.append(1)
        )
        list(one.pipe(TEXTS))
        n_batches = len(calls)
        assert n_batches > 0
        gradients(one)
        assert len(calls) == (1 + times) * n_batches
