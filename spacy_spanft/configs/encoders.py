"""Which component encodes, our own or that of spacy-transformers, and with what."""

import os
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from confection import Config

from ..errors import Errors, SpanftError, Warnings
from ..util.extras import require

CURATED = "curated_transformer"
# The factories of components that share an encoder, and how others listen to each.
LISTENERS = {
    "spanft_encoder": "spacy-spanft.EncoderListener.v1",
    "transformer": "spacy-transformers.TransformerListener.v1",
    CURATED: "spacy-curated-transformers.LastTransformerLayerListener.v1",
}
# The encoder and the loader that cannot read how merges are written today.
_KEYS = ("@architectures", "@model_loaders")
_NO_MERGES = [
    "spacy-curated-transformers.RobertaTransformer.v1",
    "spacy-curated-transformers.HFPieceEncoderLoader.v1",
]
_ENCODER = "spacy-spanft.HuggingFaceEncoder.v1"
_NAME = "transformer"
# What a folder needs, and how the files are called that have it.
_PARTS = {
    "config.json": r"config\.json",
    "weights": r".*\.(safetensors|bin)(\.index\.json)?",
    "tokenizer": r"tokenizer\.json|vocab\..*|.*\.model|.*tokenizer.*\.py",
}
# How nothing on the hub is named.
_OF_PATHS = (".", "~", "/")


def check_curated(config: Config) -> None:
    """Warn of a RoBERTa that spacy-curated-transformers cannot initialize.

    config (Config): The config, its variables filled in.
    """
    loaders = config.get("initialize", {}).get("components", {})
    for name, block in config.get("components", {}).items():
        loader = loaders.get(name, {}).get("piecer_loader", {})
        names = (block.get("model", {}), loader)
        if [one.get(key) for one, key in zip(names, _KEYS, strict=True)] == _NO_MERGES:
            warnings.warn(Warnings.MERGES_FOR_CURATED.format(name=name), stacklevel=3)


def _spanft(config: Config) -> None:
    """Put `spanft_encoder` in the place of the transformer, under its name."""
    model = config["components"][_NAME]["model"]
    block = {"@architectures": _ENCODER, "name": model["name"]}
    if "separator" in model:
        block["separator"] = model["separator"]
    config["components"][_NAME] = {"factory": "spanft_encoder", "model": block}
    for listener in _listeners(config["components"]):
        listener["@architectures"] = LISTENERS["spanft_encoder"]


def _spacy_transformers(config: Config) -> None:
    """Leave the base as it is, unless it takes pairs."""
    if "separator" in config["components"][_NAME]["model"]:
        raise SpanftError(
            "--encoder spacy-transformers cannot encode pairs of texts. Leave it out: "
            "spanft_encoder can."
        )
    require("--encoder spacy-transformers", "spacy-transformers")


def _listeners(block: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(block, dict):
        return
    if block.get("@architectures") == LISTENERS["transformer"]:
        yield block
    for value in block.values():
        yield from _listeners(value)


# What changes a config over spacy-transformers.
ENCODERS: dict[str, Callable[[Config], None]] = {
    "spanft": _spanft,
    "spacy-transformers": _spacy_transformers,
}


def check_encoder(name: str) -> None:
    """Raise for a folder that is not an encoder; names on the hub are not looked up.

    name (str): The name or the folder of an encoder.
    """
    folder = Path(name)
    if not os.path.exists(name):
        is_path = name.startswith(_OF_PATHS) or name.endswith("/")
        reason = "there is no such folder" if is_path or folder.is_absolute() else None
    elif not folder.is_dir():
        reason = "it is a file"
    else:
        reason = _missing({path.name for path in folder.iterdir()})
    if reason is not None:
        raise SpanftError(Errors.NO_ENCODER_THERE.format(name=name, reason=reason))


def _missing(files: set[str]) -> str | None:
    """Say what a folder with these files lacks to be an encoder; None if nothing."""
    for part, pattern in _PARTS.items():
        if not any(re.fullmatch(pattern, name) for name in files):
            return f"the folder has no {part}"
    return None
