"""Reads configs of one's own, and says what is wrong with them."""

import configparser
from pathlib import Path
from typing import Any

from confection import Config
from spacy.util import load_config

from ..errors import Errors, SpanftError, check_setting
from ..util.files import read_whole


def read_config(path: str | Path) -> Config:
    """Read a config without filling in its variables.

    path (Union[str, Path]): The file.
    """
    read_whole(path)  # says plainly what is wrong with the path
    try:
        return load_config(path, interpolate=False)
    except (ValueError, OSError, configparser.Error) as error:
        raise SpanftError(
            Errors.NOT_A_CONFIG.format(path=str(path), reason=str(error).strip())
        ) from error


def interpolated(config: Config) -> Config:
    """Fill in the variables of a config.

    config (Config): The config. It is not changed.
    RETURNS (Config): The config without variables.
    """
    try:
        return config.interpolate()
    except ValueError as error:
        reason = str(error).strip()
        raise SpanftError(Errors.BAD_VARIABLES.format(reason=reason)) from error


def check_blocks(plain: Config) -> None:
    """Raise for a config that is damaged, or was written by hand.

    plain (Config): The config, without variables.
    """
    pipeline = plain.get("nlp", {}).get("pipeline", [])
    is_list = isinstance(pipeline, list) and all(isinstance(n, str) for n in pipeline)
    check_setting("[nlp] pipeline", pipeline, is_list, "a list of names")
    blocks = plain.get("components", {})
    for name in pipeline:
        if name not in blocks:
            raise SpanftError(Errors.NO_BLOCK.format(name=name))
    for name, block in blocks.items():
        _check_block(f"[components] {name}", block)
        place = f"[components.{name}]"
        factory = block.get("factory", "")
        is_name = isinstance(factory, str)
        check_setting(f"{place} factory", factory, is_name, "a name")
        model = block.get("model", {})
        _check_block(f"{place} model", model)
        _check_block(f"[components.{name}.model] tok2vec", model.get("tok2vec", {}))


def _check_block(place: str, block: Any) -> None:
    check_setting(place, block, isinstance(block, dict), "a block of settings")
