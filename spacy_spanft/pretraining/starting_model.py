"""The model and the tokenizer that pre-training begins with."""

from typing import Any

from transformers import AutoConfig
from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING

from ..errors import SpanftError, check_setting
from ..ml.encoder import safety
from ..ml.encoder.loading import loading, longest_window
from .collator import check_mask_token
from .objective import with_objective

# Longer sequences cost more than they are worth, unless somebody asks for them.
_LONGEST = 512


def load_parts(name: str) -> tuple[Any, Any]:
    """Load the config and the tokenizer of a masked language model."""
    with loading(name):
        config = AutoConfig.from_pretrained(name, **safety.SAFE)
        safety.remove_code(config)
    if type(config) not in MODEL_FOR_MASKED_LM_MAPPING or config.is_encoder_decoder:
        raise SpanftError(
            f"The model {name!r} is of type {config.model_type!r}, for which there is "
            "no masked language model. Use an encoder such as BERT or RoBERTa."
        )
    with loading(name):
        tokenizer = safety.load_tokenizer(name, config)
    check_mask_token(tokenizer)
    return config, tokenizer


def max_length_of(config: Any, tokenizer: Any, asked: int | None) -> int:
    """Return the largest number of tokens of a sequence, special ones included."""
    most = longest_window(tokenizer, config) or _LONGEST
    length = min(most, _LONGEST) if asked is None else asked
    least = tokenizer.num_special_tokens_to_add() + 1
    is_right = least <= length <= most
    check_setting("max_length", length, is_right, f"from {least} to {most}")
    return int(length)


def make_model(name: str, config: Any, sbo: bool, from_scratch: bool) -> Any:
    """Make the model that is trained: a masked language model with the objective."""
    model_class = with_objective(MODEL_FOR_MASKED_LM_MAPPING[type(config)], sbo)
    if from_scratch:
        return model_class(config)
    with loading(name):
        how = {"torch_dtype": "float32", "output_loading_info": True}
        model, info = safety.load_model(model_class, name, config=config, **how)
    if any(key.startswith("boundary.") for key in info["missing_keys"]):
        model.boundary.initialize()  # some models draw no weights of unknown layers
    return model
