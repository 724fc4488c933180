"""Loads encoders and tokenizers of Hugging Face, and turns them into bytes."""

import tempfile
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import srsly

from ...errors import Errors, PairError, SpanftError
from .settings import EncoderSettings

# What says where an encoder is found, and nothing once it is.
_WHERE = {
    *("revision", "subfolder", "cache_dir", "token"),
    *("local_files_only", "force_download", "proxies"),
}


class Encoder(NamedTuple):
    """An encoder and its tokenizer.

    module (Any): The PyTorch module.
    tokenizer (Any): A fast tokenizer.
    config (Any): What the whole model was made of, if the module is a part of one.
    """

    module: Any
    tokenizer: Any
    config: Any


def load_encoder(settings: EncoderSettings) -> Encoder:
    """Load an encoder from the hub or from a folder.

    Of an encoder-decoder it is the encoder.

    settings (EncoderSettings): Its name or folder, and what is to be set in it.
    RETURNS (Encoder): The encoder, on the CPU.
    """
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    name, given = settings.name, settings.transformer_config
    trust = {"trust_remote_code": settings.trust_remote_code}
    where = {key: given[key] for key in _WHERE & set(given)}
    try:
        config, unused = AutoConfig.from_pretrained(
            name, **trust, **given, return_unused_kwargs=True
        )
        tokenizer = AutoTokenizer.from_pretrained(
            name, **trust, **settings.tokenizer_config
        )
        module = AutoModel.from_pretrained(name, config=config, **trust, **where)
    except Exception as error:  # safetensors and tokenizers raise errors of no class
        text = Errors.NOT_AN_ENCODER if Path(name).is_dir() else Errors.NO_SUCH_ENCODER
        reason = " ".join(str(error).split())
        raise SpanftError(text.format(name=name, reason=reason)) from error
    _check_known(config, set(unused) & set(given) - _WHERE)
    # Of a folder without any, transformers makes a tokenizer that knows no word.
    if set(tokenizer.get_vocab()) <= set(tokenizer.all_special_tokens):
        raise SpanftError(Errors.NO_VOCABULARY.format(name=name))
    return Encoder(_for_training(module), _fast(tokenizer), config)


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


def encoder_from_bytes(data: bytes, settings: EncoderSettings) -> Encoder:
    """Make an encoder of its bytes.

    settings (EncoderSettings): What is to be set in it; its name says nothing.
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
        tokenizer = AutoTokenizer.from_pretrained(
            folder, **_without(_WHERE, settings.tokenizer_config)
        )
        given = _without(_WHERE, settings.transformer_config)
        config, unused = AutoConfig.from_pretrained(
            folder, **given, return_unused_kwargs=True
        )
        _check_known(config, set(unused) & set(given))
        module = _for_training(AutoModel.from_config(config))
    try:
        module.load_state_dict(load(message["weights"]))
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise SpanftError(Errors.OTHER_WEIGHTS.format(reason=reason)) from error
    return Encoder(module, _fast(tokenizer), config)


def _check_known(config: Any, unknown: Iterable[str]) -> None:
    """Raise if a config does not know a setting."""
    for name in sorted(unknown):
        kind = type(config).__name__
        raise SpanftError(Errors.NO_SUCH_SETTING.format(name=name, kind=kind))


def _without(names: Collection[str], settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: settings[name] for name in settings if name not in names}


def _for_training(module: Any) -> Any:
    """Take the encoder alone, in single precision whatever its weights were saved in.

    Steps of fine-tuning are smaller than what half precision can tell apart.
    """
    own = module.get_encoder() if module.config.is_encoder_decoder else module
    return own.float()


def _fast(tokenizer: Any) -> Any:
    if not tokenizer.is_fast:
        raise PairError(Errors.SLOW_TOKENIZER.format(name=type(tokenizer).__name__))
    return tokenizer
