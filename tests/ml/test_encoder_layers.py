"""Which layer of an encoder a parameter belongs to, in one family after the other."""

import pytest
from transformers import AutoModel
from transformers.pytorch_utils import ALL_LAYERNORM_LAYERS
from transformers.trainer_pt_utils import get_parameter_names

from spacy_spanft.ml.parameter_groups import is_bias_or_norm, parameter_depths

from ..tiny import tiny_config

# By family: the lowest, and the highest of the parameters outside the layers.
FAMILIES = {
    "bert": ("embeddings.LayerNorm.bias", "pooler.dense.bias"),
    "distilbert": ("embeddings.LayerNorm.bias", None),
    "electra": ("embeddings_project.weight", None),
    "deberta-v2": ("encoder.LayerNorm.weight", None),
    "mpnet": ("encoder.relative_attention_bias.weight", "pooler.dense.bias"),
    "xlnet": ("mask_emb", None),
    "gpt2": ("wpe.weight", "ln_f.weight"),
    "xlm": ("layer_norm_emb.bias", None),
    "modernbert": ("embeddings.tok_embeddings.weight", "final_norm.weight"),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_layers_and_what_gets_no_weight_decay(family):
    """The reference of the latter: how Hugging Face's Trainer tells it."""
    encoder = AutoModel.from_config(tiny_config(family, 3))
    depths = parameter_depths(encoder)
    assert set(depths) == {name for name, _ in encoder.named_parameters()}
    low, high = FAMILIES[family]
    assert depths[low] == 3
    assert high is None or depths[high] == 0
    for name, depth in depths.items():
        number = next((int(part) for part in name.split(".") if part.isdigit()), None)
        if number is not None:
            assert depth == 2 - number, name
        elif "emb" in name or "wte" in name:
            assert depth == 3, name
    norms = {type(module) for module in encoder.modules()}
    norms = [one for one in norms if "Norm" in one.__name__] + ALL_LAYERNORM_LAYERS
    decayed = {n for n in get_parameter_names(encoder, norms) if "bias" not in n}
    decayed |= {n for n in dict(encoder.named_parameters()) if ".relative_" in n}
    actual = is_bias_or_norm(encoder)
    assert set(actual) == set(depths)
    assert {name for name, special in actual.items() if not special} == decayed


def test_decoders_are_on_top_of_encoders():
    encoder = AutoModel.from_config(tiny_config("bart", 3))
    depths = parameter_depths(encoder)
    for i, layer in enumerate(("decoder.layers.0", "encoder.layers.2"), 2):
        assert depths[f"{layer}.fc1.weight"] == i
    for name in ("shared.weight", "decoder.embed_positions.weight"):
        assert depths[name] == 6
