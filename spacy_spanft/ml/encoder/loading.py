"""Loads encoders and tokenizers of Hugging Face, and turns them into bytes."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import srsly

from ...errors import Errors, PairError, SpanftError

# Tokenizers that know no limit say so with 10 to the power of 30.
_NO_LIMIT = 10**9
# Families whose positions begin after that of padding.
_OFFSET_POSITIONS = ("roberta", "camembert", "xlm-roberta", "longformer", "mpnet")


class Encoder(NamedTuple):
    """An encoder and its tokenizer.

    module (Any): The PyTorch module.
    tokenizer (Any): A fast tokenizer.
    config (Any): What the whole model was made of, if the module is a part of one.
    """

    module: Any
    tokenizer: Any
    config: Any


def load_encoder(
    name: str,
    transformer_config: Mapping[str, Any],
    tokenizer_config: Mapping[str, Any],
    trust_remote_code: bool,
) -> Encoder:
    """Load an encoder from the hub or from a folder.

    Of an encoder-decoder it is the encoder.

    name (str): Its name, or its folder.
    transformer_config (Mapping[str, Any]): Settings of the encoder.
    tokenizer_config (Mapping[str, Any]): Settings of the tokenizer.
    trust_remote_code (bool): Whether code that comes with it may run.
    RETURNS (Encoder): The encoder, on the CPU.
    """
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    trust = {"trust_remote_code": trust_remote_code}
    try:
        config, unused = AutoConfig.from_pretrained(
            name, **trust, **transformer_config, return_unused_kwargs=True
        )
        tokenizer = AutoTokenizer.from_pretrained(name, **trust, **tokenizer_config)
        module = AutoModel.from_pretrained(name, config=config, **trust)
    except Exception as error:  # safetensors and tokenizers raise errors of no class
        text = Errors.NOT_AN_ENCODER if Path(name).is_dir() else Errors.NO_SUCH_ENCODER
        reason = " ".join(str(error).split())
        raise SpanftError(text.format(name=name, reason=reason)) from error
    if wrong := sorted(set(unused) & set(transformer_config)):
        kind = type(config).__name__
        raise SpanftError(Errors.NO_SUCH_SETTING.format(name=wrong[0], kind=kind))
    # Of a folder without any, transformers makes a tokenizer that knows no word.
    if set(tokenizer.get_vocab()) <= set(tokenizer.all_special_tokens):
        raise SpanftError(Errors.NO_VOCABULARY.format(name=name))
    return Encoder(_without_decoder(module), _fast(tokenizer), config)


def encoder_to_bytes(encoder: Encoder) -> bytes:
    """Turn an encoder into bytes: its config, its tokenizer's files and its weights.

    RETURNS (bytes): Nothing in them is executed when they are read.
    """
    from safetensors.torch import save

    with tempfile.TemporaryDirectory() as folder:
        encoder.tokenizer.save_pretrained(folder)
        files = {
            path.name: path.read_bytes()
            for path in Path(folder).iterdir()
            if path.is_file()
        }
    weights = encoder.module.state_dict()
    # Weights that are shared, as input and output embeddings, are written twice.
    state = {name: tensor.cpu().clone() for name, tensor in weights.items()}
    message = {
        "config": encoder.config.to_json_string(use_diff=False),
        "tokenizer": files,
        "weights": save(state),
    }
    return bytes(srsly.msgpack_dumps(message))


def encoder_from_bytes(data: bytes) -> Encoder:
    """Make an encoder of its bytes.

    RETURNS (Encoder): The encoder, on the CPU.
    """
    from safetensors.torch import load
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    message = srsly.msgpack_loads(data)
    with tempfile.TemporaryDirectory() as folder:
        for name, content in message["tokenizer"].items():
            # A name from a file may be a path.
            (Path(folder) / Path(name).name).write_bytes(content)
        (Path(folder) / "config.json").write_text(message["config"], "utf8")
        tokenizer = AutoTokenizer.from_pretrained(folder)
        config = AutoConfig.from_pretrained(folder)
        module = _without_decoder(AutoModel.from_config(config))
    module.load_state_dict(load(message["weights"]))
    return Encoder(module, _fast(tokenizer), config)


def longest_window(encoder: Encoder) -> int | None:
    """Find out how many wordpieces an encoder takes at once.

    RETURNS (Optional[int]): How many; None if there is no limit.
    """
    config, limits = encoder.config, []
    positions = getattr(config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        is_offset = config.model_type in _OFFSET_POSITIONS
        limits.append(positions - (config.pad_token_id + 1 if is_offset else 0))
    if encoder.tokenizer.model_max_length < _NO_LIMIT:
        limits.append(int(encoder.tokenizer.model_max_length))
    return min(limits, default=None)


def _without_decoder(module: Any) -> Any:
    return module.get_encoder() if module.config.is_encoder_decoder else module


def _fast(tokenizer: Any) -> Any:
    if not tokenizer.is_fast:
        raise PairError(Errors.SLOW_TOKENIZER.format(name=type(tokenizer).__name__))
    return tokenizer
