"""The encoder that is trained, and its tokenizer: found, changed, checked."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import Errors, PretrainingError, check_setting
from ..ml.encoder.safety import load_tokenizer, remove_code
from .settings import Settings
from .words import check_tokenizer

# Longer sequences cost more than they are worth, unless somebody asks for them.
_LONGEST = 512
_HEAD_WIDTH = 64


class Start(NamedTuple):
    """What training begins with.

    config (PretrainedConfig): The shape of the encoder.
    max_length (int): How many tokens a sequence has at most.
    """

    config: Any
    tokenizer: Any
    max_length: int


def find(
    name: str, settings: Settings, blocks: Callable[[], Iterable[list[str]]]
) -> Start:
    """Find the encoder's shape and its tokenizer.

    name (str): The model, by name or path.
    settings (Settings): The settings; what they change is changed.
    blocks (Callable[[], Iterable[list[str]]]): Reads the lines of the text, for a
        vocabulary of its own.
    RETURNS (Start): The shape and the tokenizer.
    """
    from transformers import AutoConfig
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING

    with _loading(name):
        config = AutoConfig.from_pretrained(name, trust_remote_code=False)
        remove_code(config)
    if type(config) not in MODEL_FOR_MASKED_LM_MAPPING or config.is_encoder_decoder:
        kind = config.model_type
        raise PretrainingError(Errors.NO_MLM_HEAD.format(name=name, kind=kind))
    with _loading(name):
        tokenizer = load_tokenizer(name, config)
    check_tokenizer(tokenizer)
    if settings.vocab_size is not None:
        tokenizer = tokenizer.train_new_from_iterator(
            chain.from_iterable(blocks()), settings.vocab_size, show_progress=False
        )
    if settings.from_scratch:
        _reshape(config, tokenizer, settings)
    if len(tokenizer) > config.vocab_size:
        sizes = {"tokens": len(tokenizer), "rows": config.vocab_size}
        raise PretrainingError(Errors.TOO_MANY_TOKENS.format(name=name, **sizes))
    return Start(config, tokenizer, _max_length(config, tokenizer, settings))


def _reshape(config: Any, tokenizer: Any, settings: Settings) -> None:
    """Change a config to what is asked for from scratch."""
    if settings.vocab_size is not None:
        config.vocab_size = len(tokenizer)
        for token in ("pad", "bos", "eos", "sep", "cls", "mask"):
            key = f"{token}_token_id"
            if getattr(config, key, None) is not None:
                setattr(config, key, getattr(tokenizer, key))
    if settings.layers is not None:
        config.num_hidden_layers = settings.layers
    width = settings.width
    if width is not None:
        needed = ("hidden_size", "intermediate_size", "num_attention_heads")
        is_known = all(hasattr(config, key) for key in needed)
        expected = f"a multiple of {_HEAD_WIDTH}, or less than that"
        if not is_known:
            expected = f"left out: the config of {config.model_type!r} has others"
        is_right = is_known and width % min(width, _HEAD_WIDTH) == 0
        check_setting("width", width, is_right, expected, PretrainingError)
        config.hidden_size = width
        config.intermediate_size = 4 * width
        config.num_attention_heads = max(1, width // _HEAD_WIDTH)


def _max_length(config: Any, tokenizer: Any, settings: Settings) -> int:
    """Find how many tokens a sequence may have, special ones included."""
    n_positions = getattr(config, "max_position_embeddings", None) or _LONGEST
    # RoBERTa and its like count positions from after that of the padding.
    if config.model_type in _COUNT_FROM_PADDING:
        n_positions -= config.pad_token_id + 1
    most = min(n_positions, tokenizer.model_max_length)
    asked = settings.max_length
    if asked is None:
        return min(most, _LONGEST)
    n_special = tokenizer.num_special_tokens_to_add()
    expected = f"from {n_special + 1} to {most}, which the encoder takes"
    is_right = n_special < asked <= most
    check_setting("max_length", asked, is_right, expected, PretrainingError)
    return asked


_COUNT_FROM_PADDING = {
    *("roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "longformer", "mpnet"),
    *("data2vec-text", "roberta-prelayernorm", "ibert", "xmod", "esm", "luke"),
}


def make(name: str, start: Start, settings: Settings, has_heads: bool) -> Any:
    """Make the encoder with its masked-LM head.

    name (str): The model, by name or path.
    start (Start): What was found.
    has_heads (bool): Whether its heads will be read, so that none is missing.
    RETURNS (PreTrainedModel): A model of AutoModelForMaskedLM.
    """
    from transformers import AutoModelForMaskedLM

    with _loading(name), _quiet() if has_heads else nullcontext():
        if settings.from_scratch:
            return AutoModelForMaskedLM.from_config(
                start.config, trust_remote_code=False
            )
        return AutoModelForMaskedLM.from_pretrained(
            name,
            config=start.config,
            torch_dtype="float32",
            trust_remote_code=False,
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers from warning of a head without weights."""
    from transformers.utils import logging

    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(before)


@contextmanager
def _loading(name: str) -> Iterator[None]:
    from safetensors import SafetensorError

    known = (OSError, ValueError, KeyError, ImportError, RuntimeError, SafetensorError)
    try:
        yield
    except known as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        if not Path(name).exists():
            reason = f"there is no folder of that name here, and else: {reason}"
        message = Errors.NO_ENCODER.format(name=name, reason=reason)
        raise PretrainingError(message) from error
