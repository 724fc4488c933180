"""The masked language model and the tokenizer that pre-training begins with."""

from collections.abc import Iterator
from contextlib import contextmanager
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

from transformers import AutoConfig
from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING

from ..errors import SpanftError, check_setting
from ..ml.encoder import safety
from .collator import check_tokenizer
from .objective import with_objective

if TYPE_CHECKING:
    from datasets import Dataset

# Longer sequences cost more than they are worth, unless somebody asks for them.
_LONGEST = 512
_HEAD_WIDTH = 64


@contextmanager
def _loading(name: str) -> Iterator[None]:
    try:
        yield
    except SpanftError:
        raise
    except (OSError, ValueError, UnpicklingError) as error:  # or pickled code
        raise SpanftError(f"The model {name!r} cannot be loaded: {error}") from error


def load_tokenizer(
    name: str, config: Any, lines: "Dataset", vocab_size: int | None
) -> Any:
    """Load the tokenizer of a model, or train one like it with another vocabulary."""
    with _loading(name):
        tokenizer = safety.load_tokenizer(name, config)
    check_tokenizer(tokenizer)
    if vocab_size is None:
        return tokenizer
    texts = (batch["text"] for batch in lines.iter(1000))
    return tokenizer.train_new_from_iterator(texts, vocab_size, show_progress=False)


def load_config(name: str, layers: int | None, width: int | None) -> Any:
    """Load the config of a model, and change its shape to what is asked for."""
    with _loading(name):
        config = AutoConfig.from_pretrained(name, **safety.SAFE)
        safety.remove_code(config)
    if type(config) not in MODEL_FOR_MASKED_LM_MAPPING or config.is_encoder_decoder:
        raise SpanftError(
            f"The model {name!r} is of type {config.model_type!r}, for which there is "
            "no masked language model. Use an encoder such as BERT or RoBERTa."
        )
    if layers is not None:
        config.num_hidden_layers = layers
    if width is not None:
        is_right = width % min(width, _HEAD_WIDTH) == 0
        check_setting("width", width, is_right, f"a multiple of {_HEAD_WIDTH}, or less")
        config.hidden_size = width
        config.intermediate_size = 4 * width
        config.num_attention_heads = max(1, width // _HEAD_WIDTH)
    return config


def set_vocabulary(config: Any, tokenizer: Any) -> None:
    """Change a config to the vocabulary of a tokenizer that was just trained."""
    config.vocab_size = len(tokenizer)
    for token in ("pad", "bos", "eos", "sep", "cls", "mask"):
        key = f"{token}_token_id"
        if getattr(config, key, None) is not None:
            setattr(config, key, getattr(tokenizer, key))


def max_length_of(config: Any, tokenizer: Any, asked: int | None) -> int:
    """Return the largest number of tokens of a sequence, special ones included."""
    n_positions = getattr(config, "max_position_embeddings", None) or _LONGEST
    # RoBERTa and its like pad with token 1, and count positions from 2.
    n_positions -= 2 * (config.pad_token_id == 1)
    most = min(n_positions, tokenizer.model_max_length)
    if asked is None:
        return min(most, _LONGEST)
    n_special = tokenizer.num_special_tokens_to_add()
    is_right = n_special < asked <= most
    check_setting("max_length", asked, is_right, f"from {n_special + 1} to {most}")
    return asked


def make_model(name: str, config: Any, sbo: bool, from_scratch: bool) -> Any:
    """Make the model that is trained: a masked language model with the objective."""
    model_class = with_objective(MODEL_FOR_MASKED_LM_MAPPING[type(config)], sbo)
    if from_scratch:
        return model_class(config)
    with _loading(name):
        how = {"torch_dtype": "float32", "output_loading_info": True}
        model, info = safety.load_model(model_class, name, config=config, **how)
    safety.check_finite(model)
    if any(key.startswith("boundary.") for key in info["missing_keys"]):
        model.boundary.initialize()  # some models draw no weights of unknown layers
    return model
