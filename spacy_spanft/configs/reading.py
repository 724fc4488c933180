"""Reads configs that users name."""

import configparser
from pathlib import Path

from confection import Config
from spacy.util import load_config

from ..errors import SpanftError, check_setting
from ..util.files import read_whole


def read_config(path: str | Path) -> Config:
    """Read a config without filling in its variables."""
    read_whole(path)  # for its errors about the path
    try:
        return load_config(path, interpolate=False)
    except (ValueError, OSError, configparser.Error) as error:
        reason = str(error).strip()
        raise SpanftError(f"{str(path)!r} is not a spaCy config: {reason}") from error


def interpolated(config: Config) -> Config:
    """Return a copy of a config with its variables filled in."""
    try:
        return config.interpolate()
    except ValueError as error:
        reason = str(error).strip()
        raise SpanftError(f"The config has an unknown variable: {reason}") from error


def check_blocks(plain: Config) -> None:
    """Raise for a component that has no block in a config without variables."""
    pipeline = plain.get("nlp", {}).get("pipeline", [])
    is_list = isinstance(pipeline, list)
    check_setting("[nlp] pipeline", pipeline, is_list, "a list of names")
    for name in pipeline:
        block = plain.get("components", {}).get(name)
        if not (isinstance(block, dict) and isinstance(block.get("model", {}), dict)):
            raise SpanftError(
                f"[nlp] pipeline names {name!r}, but [components.{name}] is missing or "
                "is not a block of settings. Add it, or remove it from the pipeline."
            )
