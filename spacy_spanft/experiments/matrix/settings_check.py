"""Whether the functions that a config names take what it gives them.

spaCy says so as well, but in the run: once for each seed, and after it has read the
data. Nothing is built here.
"""

import os
from collections.abc import Iterator
from typing import Any

from confection import Config, ConfigValidationError
from spacy.language import Language
from spacy.util import registry

from ...configs import check_encoder
from ...errors import Errors, SpanftError
from ...util.names import SEGMENTER
from .registered import blank_of

# What spaCy reads when it trains, beside the components.
_SECTIONS = ("nlp", "corpora", "training", "initialize")


def check_settings(config: Config, who: str) -> None:
    """Raise for settings that a function does not take, no dictionary, no encoder.

    config (Config): The config, its variables filled in. Its names are known.
    who (str): Whose it is, for the error.
    """
    nlp = blank_of(config["nlp"]["lang"])
    # As spaCy does: a config may leave out what its default one has.
    whole = Config(nlp.default_config).merge(config).interpolate()
    blocks = [*_components(whole, nlp)]
    for section in _SECTIONS:
        blocks.extend(_blocks(section, whole[section]))
    for place, block in blocks:
        try:
            registry.fill({place: block})
        except ConfigValidationError as error:
            text = {"who": who, "reasons": _reasons(error)}
            raise SpanftError(Errors.BAD_SETTINGS.format(**text)) from error
    _check_dictionaries(config, who)
    for block in config["components"].values():
        name = block.get("model", {}).get("name")
        if block.get("factory") == "transformer" and isinstance(name, str):
            check_encoder(name)


def _components(config: Config, nlp: Language) -> Iterator[tuple[str, dict[str, Any]]]:
    """Make the blocks that spaCy makes of components: with the factory's defaults."""
    for name in config["nlp"]["pipeline"]:
        block = dict(config["components"].get(name, {}))
        factory = block.pop("factory", None)
        if factory is None:  # it is from another pipeline
            continue
        defaults = Config(nlp.get_factory_meta(factory).default_config)
        own = {"@factories": factory, "nlp": nlp, "name": name}
        yield f"components.{name}", {**defaults.merge(block), **own}


def _blocks(place: str, block: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Find the outermost blocks that name functions."""
    if not isinstance(block, dict):
        return
    if registry.is_promise(block):
        yield place, block
        return
    for key, value in block.items():
        yield from _blocks(f"{place}.{key}", value)


def _reasons(error: ConfigValidationError) -> str:
    places = (".".join(map(str, one.get("loc", ()))) for one in error.errors)
    said = (str(one["msg"]).removeprefix("at root: ") for one in error.errors)
    return "; ".join(map(": ".join, zip(places, said, strict=True)))


def _check_dictionaries(config: Config, who: str) -> None:
    """Raise if a file that a segmenter is to cut with is not there."""
    settings = config.get("initialize", {}).get("components", {})
    for name, block in config["components"].items():
        if block.get("factory") != SEGMENTER:
            continue
        found = settings.get(name, {}).get("dictionary")
        path = found.get("path") if isinstance(found, dict) else found
        if isinstance(path, str) and not os.path.exists(path):
            text = {"who": who, "path": path, "cwd": os.getcwd()}
            raise SpanftError(Errors.NO_DICTIONARY.format(**text))
