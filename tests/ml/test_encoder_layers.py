"""Which layer of an encoder a parameter belongs to, in one family after the other."""

import pytest
from transformers import AutoConfig, AutoModel
from transformers.pytorch_utils import ALL_LAYERNORM_LAYERS
from transformers.trainer_pt_utils import get_parameter_names

from spacy_spanft.ml.parameter_groups import is_bias_or_norm, parameter_depths

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
# What some families call one thing, others call another.
SMALL = {
    **dict.fromkeys(["hidden_size", "dim", "d_model", "n_embd", "emb_dim"], 8),
    **dict.fromkeys(["intermediate_size", "hidden_dim", "d_inner"], 8),
    **dict.fromkeys(["encoder_ffn_dim", "decoder_ffn_dim"], 8),
    **dict.fromkeys(["num_attention_heads", "n_heads", "n_head"], 2),
    **dict.fromkeys(["encoder_attention_heads", "decoder_attention_heads"], 2),
    **dict.fromkeys(["num_hidden_layers", "n_layers", "n_layer"], 3),
    **dict.fromkeys(["encoder_layers", "decoder_layers"], 3),
    **{"vocab_size": 20, "n_words": 20, "pad_token_id": 0, "embedding_size": 4},
    **{"relative_attention": True, "norm_rel_ebd": "layer_norm"},
    "position_buckets": 4,
}


def make(family):
    return AutoModel.from_config(AutoConfig.for_model(family, **SMALL))


@pytest.mark.parametrize("family", FAMILIES)
def test_layers_and_what_gets_no_weight_decay(family):
    """The reference of the latter: how Hugging Face's Trainer tells it."""
    encoder = make(family)
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
    encoder = make("bart")
    depths = parameter_depths(encoder)
    for i, layer in enumerate(("decoder.layers.0", "encoder.layers.2"), 2):
        assert depths[f"{layer}.fc1.weight"] == i
    for name in ("shared.weight", "decoder.embed_positions.weight"):
        assert depths[name] == 6
