"""Encoders and tokenizers of Hugging Face: loaded, and turned into bytes and back."""

import json
import tempfile
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import srsly

from ...errors import SpanftError
from .safety import (
    SAFE,
    WHERE,
    check_finite,
    load_model,
    load_tokenizer,
    remove_code,
    tokenizer_files,
)
from .settings import EncoderSettings


class Encoder(NamedTuple):
    """An encoder and its tokenizer.

    module (Any): The PyTorch module.
    tokenizer (Any): A fast tokenizer.
    config (Any): The config of the whole model, of which the module may be a part.
    """

    module: Any
    tokenizer: Any
    config: Any


def load_encoder(settings: EncoderSettings) -> Encoder:
    """Load an encoder from the hub or from a folder.

    settings (EncoderSettings): Its name or folder, and what to set in it.
    RETURNS (Encoder): The encoder, on the CPU. Of an encoder-decoder, only the encoder.
    """
    from transformers import AutoConfig, AutoModel

    name, given = settings.name, settings.transformer_config
    where = {key: given[key] for key in WHERE & set(given)}
    try:
        config, unused = AutoConfig.from_pretrained(
            name, **SAFE, **given, return_unused_kwargs=True
        )
        _check_plain(config, name, where)
        remove_code(config)
        tokenizer = load_tokenizer(name, config, **settings.tokenizer_config)
        module = load_model(AutoModel, name, config=config, **where)
    except SpanftError:
        raise
    except Exception as error:  # safetensors and tokenizers raise errors of no class
        raise _not_loaded(name, error) from error
    _check_known(config, set(unused) & set(given) - WHERE)
    # Of a folder without any, transformers makes a tokenizer that knows no word.
    if set(tokenizer.get_vocab()) <= set(tokenizer.all_special_tokens):
        raise SpanftError(
            f"The tokenizer of the encoder {name!r} has no words: its files are "
            "missing. Save it there with save_pretrained, or name another encoder with "
            "--paths.transformer."
        )
    return _checked(_encoder_of(module), tokenizer, config)


def encoder_to_bytes(encoder: Encoder) -> bytes:
    """Turn an encoder into bytes: its config, its tokenizer's files and its weights.

    RETURNS (bytes): The bytes. Reading them runs nothing that is in them.
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
        "tokenizer": tokenizer_files(files),
        "weights": save(state),
    }
    return bytes(srsly.msgpack_dumps(message))


def encoder_from_bytes(data: bytes, settings: EncoderSettings) -> Encoder:
    """Make an encoder of its bytes, which may come from anybody.

    settings (EncoderSettings): What to set in it. Its name is ignored.
    RETURNS (Encoder): The encoder, on the CPU.
    """
    from safetensors.torch import load
    from transformers import AutoConfig, AutoModel

    message = srsly.msgpack_loads(data)
    saved_config = json.loads(message["config"])
    remove_code(saved_config)
    files = tokenizer_files(message["tokenizer"])
    files["config.json"] = json.dumps(saved_config).encode()
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        given = _without(WHERE, settings.transformer_config)
        config, unused = AutoConfig.from_pretrained(
            folder, **SAFE, **given, return_unused_kwargs=True
        )
        remove_code(config)
        tokenizer = load_tokenizer(
            folder, config, **_without(WHERE, settings.tokenizer_config)
        )
    _check_known(config, set(unused) & set(given))
    module = _encoder_of(AutoModel.from_config(config, **SAFE))
    try:
        module.load_state_dict(load(message["weights"]))
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise SpanftError(
            "The saved weights are not those of such an encoder. Does "
            "transformer_config in the config that loads them change its shape? "
            f"{reason[:500]}"
        ) from error
    return _checked(module, tokenizer, config)


def _check_plain(config: Any, name: str, where: Mapping[str, Any]) -> None:
    """Raise where weights would be loaded from elsewhere, or not be those saved."""
    from transformers.utils import find_adapter_config_file

    kind = "quantized" if getattr(config, "quantization_config", None) else ""
    if find_adapter_config_file(name, **where) is not None:
        kind = "an adapter"
    if kind:
        raise SpanftError(
            f"The encoder {name!r} is {kind}, which cannot be trained and saved here. "
            "Use the model that it was made from, or merge the adapter into it."
        )


def _not_loaded(name: str, error: Exception) -> SpanftError:
    if "trust_remote_code" in str(error):
        return SpanftError(
            f"The encoder {name!r} comes with Python code of its own, which is never "
            "run: a pipeline trained with it could not be loaded again. Use an encoder "
            "that transformers implements itself."
        )
    reason = " ".join(str(error).split())[:500]
    if Path(name).is_dir():
        return SpanftError(
            f"The encoder in folder {name!r} cannot be loaded. It needs a config.json, "
            "weights and a tokenizer, as save_pretrained of transformers writes them; "
            f"name another with --paths.transformer: {reason}"
        )
    return SpanftError(
        f"The encoder {name!r} cannot be loaded. Name a folder with a config.json, or "
        "a model of the Hugging Face hub (--paths.transformer, or name in the config "
        f"of the transformer): {reason}"
    )


def _check_known(config: Any, unknown: Iterable[str]) -> None:
    """Raise if a config does not know a setting."""
    for name in sorted(unknown):
        raise SpanftError(
            f"transformer_config has {name!r}, which a {type(config).__name__} does "
            "not know. Is it misspelled?"
        )


def _without(names: Collection[str], settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: settings[name] for name in settings if name not in names}


def _encoder_of(module: Any) -> Any:
    """Return the encoder alone, in single precision whatever it was saved in.

    Steps of fine-tuning are smaller than what half precision can tell apart.
    """
    encoder = module.get_encoder() if module.config.is_encoder_decoder else module
    return encoder.float()


def _checked(module: Any, tokenizer: Any, config: Any) -> Encoder:
    if not tokenizer.is_fast:
        raise SpanftError(
            f"{type(tokenizer).__name__} is not a fast tokenizer, so it does not say "
            "which characters its wordpieces are made of. Set use_fast = true in the "
            "transformer's tokenizer_config; some encoders have no fast tokenizer."
        )
    check_finite(module)
    return Encoder(module, tokenizer, config)
