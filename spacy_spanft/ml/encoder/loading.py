"""Encoders and tokenizers of Hugging Face: their settings, loaded and saved."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import srsly

from ...errors import SpanftError, check_number, reported
from ..pairs import check_separator
from .safety import (
    SAFE,
    WHERE,
    check_settings,
    load_model,
    load_tokenizer,
    remove_code,
    tokenizer_files,
)

Precision = Literal["single", "bf16", "fp16"]
TextRow = Literal["auto", "first", "last", "mean"]
# The name of the settings among the attrs of a layer.
SETTINGS = "settings"
# Tokenizers without a limit have one of 10 to the power of 30.
_NO_LIMIT = 10**9
# Families whose positions begin after that of padding.
_OFFSET_POSITIONS = {"roberta", "camembert", "xlm-roberta", "longformer", "mpnet"}
_OFFSET_POSITIONS |= {"data2vec-text", "esm", "ibert", "lilt", "luke", "markuplm"}
_OFFSET_POSITIONS |= {"roberta-prelayernorm", "xlm-roberta-xl", "xmod"}
# By default, windows share a quarter, and are 512 long where nothing limits them.
_SHARED = 4
_UNLIMITED = 512


class Encoder(NamedTuple):
    """A PyTorch module and its fast tokenizer.

    The config is that of the whole model, of which the module may be a part.
    """

    module: Any
    tokenizer: Any
    config: Any


@dataclass(frozen=True)
class EncoderSettings:
    """The settings of an encoder; see `spacy-spanft.HuggingFaceEncoder.v1`.

    The config has them, not the weights: `spacy.load(..., config=...)` can change them.
    A saved encoder ignores its name.
    """

    name: str
    window: int | None = None
    stride: int | None = None
    separator: str | None = None
    text_row: TextRow = "auto"
    precision: Precision = "single"
    max_batch_rows: int = 8192
    tokenizer_config: Mapping[str, Any] = field(default_factory=dict)
    transformer_config: Mapping[str, Any] = field(default_factory=dict)
    gradient_checkpointing: bool = False

    def __post_init__(self) -> None:
        if self.separator is not None:
            check_separator(self.separator)
        check_settings("tokenizer_config", self.tokenizer_config)
        check_settings("transformer_config", self.transformer_config)
        expected = "a number of 1 or more"
        check_number("max_batch_rows", self.max_batch_rows, lambda n: n >= 1, expected)


def window_of(encoder: Encoder, settings: EncoderSettings) -> tuple[int, int]:
    """Check the settings, and return the length of windows and how much two share.

    Both are wordpieces. Special ones count in the length alone.
    """
    longest = longest_window(encoder.tokenizer, encoder.config)
    least = encoder.tokenizer.num_special_tokens_to_add() + 1
    size = longest or _UNLIMITED if settings.window is None else settings.window
    most = f"to {longest}, what {settings.name!r} takes" if longest else "or more"
    expected = f"null, or a number from {least} {most}"
    check_number("window", size, lambda n: least <= n <= (longest or n), expected)
    inside = size - least + 1
    stride = settings.stride
    if stride is None:
        stride = max(1, inside - inside // _SHARED)
    expected = f"null, or a number from 1 to {inside}, what a window has of a text"
    check_number("stride", stride, lambda n: 1 <= n <= inside, expected)
    return size, inside - stride


def longest_window(tokenizer: Any, config: Any) -> int | None:
    """Return the most wordpieces that an encoder takes at once; None for no limit."""
    limits = []
    positions = getattr(config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        is_offset = config.model_type in _OFFSET_POSITIONS
        limits.append(positions - (config.pad_token_id + 1 if is_offset else 0))
    if tokenizer.model_max_length < _NO_LIMIT:
        limits.append(int(tokenizer.model_max_length))
    return min(limits, default=None)


def load_encoder(settings: EncoderSettings) -> Encoder:
    """Load an encoder, or that of an encoder-decoder, from the hub or a folder."""
    from transformers import AutoModel

    name, given = settings.name, settings.transformer_config
    where = {key: given[key] for key in WHERE & set(given)}
    with loading(name):
        config = _read_config(name, given)
        _check_plain(config, name, where)
        remove_code(config)
        tokenizer = load_tokenizer(name, config, **settings.tokenizer_config)
        module = load_model(AutoModel, name, config=config, **where)
    # Of a folder without any, transformers makes a tokenizer that knows no word.
    if set(tokenizer.get_vocab()) <= set(tokenizer.all_special_tokens):
        raise SpanftError(
            f"The tokenizer of the encoder {name!r} has no words: its files are "
            "missing. Save it there with save_pretrained, or name another encoder with "
            "--paths.transformer."
        )
    return Encoder(_encoder_of(module), tokenizer, config)


def encoder_to_bytes(encoder: Encoder) -> bytes:
    """Turn an encoder into bytes: its config, its tokenizer's files and its weights."""
    from safetensors.torch import save

    with tempfile.TemporaryDirectory() as folder:
        encoder.tokenizer.save_pretrained(folder)
        paths = filter(Path.is_file, Path(folder).iterdir())
        files = {path.name: path.read_bytes() for path in paths}
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
    """Make an encoder of its bytes, which may come from anybody: none is run."""
    from safetensors.torch import load
    from transformers import AutoModel

    message = srsly.msgpack_loads(data)
    saved_config = json.loads(message["config"])
    remove_code(saved_config)
    files = tokenizer_files(message["tokenizer"])
    files["config.json"] = json.dumps(saved_config).encode()
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        config = _read_config(folder, _without_where(settings.transformer_config))
        remove_code(config)
        given = _without_where(settings.tokenizer_config)
        tokenizer = load_tokenizer(folder, config, **given)
    module = _encoder_of(AutoModel.from_config(config, **SAFE))
    wrong = (
        "The saved weights are not those of such an encoder (does transformer_config "
        "in the config that loads them change its shape?)"
    )
    with reported(wrong, RuntimeError):
        module.load_state_dict(load(message["weights"]))
    return Encoder(module, tokenizer, config)


def _read_config(folder: str, given: Mapping[str, Any]) -> Any:
    from transformers import AutoConfig

    config, unused = AutoConfig.from_pretrained(
        folder, **SAFE, **given, return_unused_kwargs=True
    )
    for name in sorted(set(unused) & set(given) - WHERE):
        raise SpanftError(
            f"transformer_config has {name!r}, unknown to {type(config).__name__}."
        )
    return config


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


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Name the model that transformers cannot load."""
    message = (
        f"The encoder {name!r} cannot be loaded. Name a folder of save_pretrained, "
        "with weights and a tokenizer, or a model of the Hugging Face hub "
        "(--transformer, --model, or paths.transformer in the config)"
    )
    with reported(message, Exception):  # safetensors raises errors of no class
        try:
            yield
        except Exception as error:
            if isinstance(error, SpanftError) or "trust_remote" not in str(error):
                raise
            raise SpanftError(
                f"The encoder {name!r} comes with Python code of its own, which is "
                "never run: a pipeline trained with it could not be loaded again. Use "
                "an encoder that transformers implements itself."
            ) from error


def _without_where(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: settings[name] for name in settings if name not in WHERE}


def _encoder_of(module: Any) -> Any:
    encoder = module.get_encoder() if module.config.is_encoder_decoder else module
    # Half precision tells no such small steps apart as those of fine-tuning.
    return encoder.float()
