"""The component that encodes: our own, or that of spacy-transformers."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from confection import Config

from ..errors import SpanftError
from ..util.extras import require

CURATED = "curated_transformer"
# The factories of components that share an encoder, and the listeners to each.
LISTENERS = {
    "spanft_encoder": "spacy-spanft.EncoderListener.v1",
    "transformer": "spacy-transformers.TransformerListener.v1",
    CURATED: "spacy-curated-transformers.LastTransformerLayerListener.v1",
}
_ENCODER = "spacy-spanft.HuggingFaceEncoder.v1"
_NAME = "transformer"


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
    if isinstance(block, dict):
        if block.get("@architectures") == LISTENERS["transformer"]:
            yield block
        for value in block.values():
            yield from _listeners(value)


# By the name of --encoder: changes a config over spacy-transformers.
ENCODERS: dict[str, Callable[[Config], None]] = {
    "spanft": _spanft,
    "spacy-transformers": _spacy_transformers,
}


def check_encoder(name: str) -> None:
    """Raise for a folder that is not an encoder; names on the hub are not looked up."""
    is_path = name.startswith((".", "~", "/")) or name.endswith("/")
    if (is_path or Path(name).exists()) and not (Path(name) / "config.json").is_file():
        raise SpanftError(
            f"The encoder {name!r} cannot be loaded. Name a folder with a config.json, "
            "or a model of the Hugging Face hub."
        )
