"""The settings of spanft_encoder, when a pipeline that was saved is loaded."""

import shutil

import pytest
import spacy

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.encoder.hf_encoder import shim_of

from ..tiny import encoder_config
from .test_encoder import TEXTS, answers, make

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


def load_with(folder, **settings):
    config = {"components": {"transformer": {"model": settings}}}
    return spacy.load(folder, config=config)


def test_settings_of_the_config_that_loads(bert, tmp_path):
    make(bert).to_disk(tmp_path)
    changed = {"window": 12, "max_batch_rows": 24, "precision": "bf16"}
    nlp = load_with(tmp_path, **changed)
    model = nlp.get_pipe("transformer").model
    assert shim_of(model).window == (12, 2)
    assert shim_of(model).settings.max_batch_rows == 24
    rows = nlp.get_pipe("transformer").rows_of([nlp.make_doc("the film is good " * 5)])
    assert len(rows.encodings[0].windows) > 1


def test_settings_of_the_encoder_and_its_tokenizer_are_kept(bert, tmp_path):
    """transformers writes some into its files, and others not."""
    settings = {
        "transformer_config": {"attn_implementation": "eager", "num_labels": 7},
        "tokenizer_config": {"do_lower_case": False, "local_files_only": True},
    }
    nlp = make(bert, encoder=encoder_config(bert, **settings))
    nlp.to_disk(tmp_path)
    for one in (nlp, spacy.load(tmp_path)):
        config = shim_of(one.get_pipe("transformer").model).encoder.config
        assert (config._attn_implementation, config.num_labels) == ("eager", 7)
    assert answers(spacy.load(tmp_path).pipe(TEXTS)) == answers(nlp.pipe(TEXTS))
    other = load_with(
        tmp_path,
        transformer_config={"attn_implementation": "sdpa", "hidden_dropout_prob": 0.25},
        tokenizer_config={"model_max_length": 9},
    )
    _, tokenizer, config = shim_of(other.get_pipe("transformer").model).encoder
    assert config._attn_implementation == "sdpa"
    assert (config.hidden_dropout_prob, config.num_labels) == (0.25, 7)
    assert tokenizer.model_max_length == 9


def test_weights_in_half_precision(bert, tmp_path):
    """They are trained in single precision, and saved in it."""
    folder = shutil.copytree(bert, tmp_path / "bert")
    transformers.AutoModel.from_pretrained(folder).bfloat16().save_pretrained(folder)
    nlp = make(folder)
    nlp.to_disk(tmp_path / "nlp")
    loaded = spacy.load(tmp_path / "nlp")
    for one in (nlp, loaded):
        module = shim_of(one.get_pipe("transformer").model).encoder.module
        assert {weight.dtype for weight in module.parameters()} == {torch.float32}
    assert answers(loaded.pipe(TEXTS)) == answers(nlp.pipe(TEXTS))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"window": 61}, "window is 61, but must be null, or a number from 3 to"),
        ({"transformer_config": {"hidden_size": 32}}, "are not those of such"),
        ({"transformer_config": {"dtype": "bfloat16"}}, 'precision: "bf16"'),
    ],
)
def test_wrong_settings_of_the_config_that_loads(bert, settings, message, tmp_path):
    """They are named at once, and not at the first text."""
    make(bert).to_disk(tmp_path)
    with pytest.raises(SpanftError, match=message):
        load_with(tmp_path, **settings)


def test_a_damaged_pipeline(bert, tmp_path):
    make(bert).to_disk(tmp_path)
    path = tmp_path / "transformer" / "model"
    data = path.read_bytes()
    for damaged in (
        data[: len(data) // 2],
        b"",
        b"version https://git-lfs.github.com/spec/v1\n",
        data.replace(b"tokenizer.json", b"x"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(SpanftError, match="'transformer' cannot be read"):
            spacy.load(tmp_path)
