"""Whether the functions that a config names take what it gives them.

spaCy says so as well, but in the run: once for each seed, and after it has read the
data. Nothing is built here.
"""

import os
from collections.abc import Iterator
from typing import Any

from confection import Config, ConfigValidationError
from spacy.language import Language
from spacy.schemas import ConfigSchemaNlp, ConfigSchemaTraining
from spacy.util import registry

from ...configs import LISTENERS, check_encoder
from ...errors import Errors, SpanftError
from ...util.names import SEGMENTER
from .reasons import hint_of, reasons_of, reasons_of_types
from .registered import blank_of

# What spaCy reads when it trains, beside the components.
_SECTIONS = ("nlp", "corpora", "training", "initialize")
# Of these it also says which types their own settings have.
_SCHEMAS = {"nlp": ConfigSchemaNlp, "training": ConfigSchemaTraining}


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
            hint = hint_of(place, block, error.errors)
            text = {"who": who, "reasons": reasons_of(error.errors), "hint": hint}
            raise SpanftError(Errors.BAD_SETTINGS.format(**text)) from error
    for name, schema in _SCHEMAS.items():
        if wrong := _wrong_types(name, whole[name], schema):
            text = {"who": who, "reasons": wrong, "hint": ""}
            raise SpanftError(Errors.BAD_SETTINGS.format(**text))
    _check_dictionaries(config, who)
    _check_encoders(config)


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
    if _is_promise(block):
        yield place, block
        return
    for key, value in block.items():
        yield from _blocks(f"{place}.{key}", value)


def _wrong_types(name: str, section: dict[str, Any], schema: Any) -> str:
    """Say which settings of a section itself have a wrong type."""
    known = [key for key in schema.__annotations__ if key in section]
    # What names a function has another type once it is called.
    own = {key: section[key] for key in known if not _is_promise(section[key])}
    try:
        registry.resolve(own, schema=schema)
    except ConfigValidationError as error:
        return reasons_of_types(name, own, error.errors)
    return ""


def _is_promise(value: Any) -> bool:
    return bool(registry.is_promise(value))


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


def _check_encoders(config: Config) -> None:
    """Raise if the folder of a transformer has none."""
    for block in config["components"].values():
        name = block.get("model", {}).get("name")
        if block.get("factory") in LISTENERS and isinstance(name, str):
            check_encoder(name)
