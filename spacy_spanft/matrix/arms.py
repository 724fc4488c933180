"""The arms of a comparison: what each one changes in a config.

A file of arms is YAML. Each arm says which config it takes, and what it changes there:

    arms:
      baseline:
        config: baseline
      random:
        segmenter: {"@segmenters": spacy-spanft.RandomSegmenter.v1, seed: 1}
      no-cls:
        block: {use_cls: false}
"""

from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import srsly
from confection import Config
from spacy.schemas import ConfigSchemaNlp, ConfigSchemaTraining

from ..adding import SEGMENTER, read_config
from ..errors import Errors, MatrixError
from ..files import read_whole

NGRAM_SEGMENTER = "spacy-spanft.NgramSegmenter.v1"
SPAN_BLOCKS = ("spacy-spanft.SpanTextCat.v1", "spacy-spanft.SpanTok2Vec.v1")


# What else there may be in sections of which spaCy never says that a key is unknown.
_SCHEMAS = {
    "system": [],
    "nlp": [*ConfigSchemaNlp.__annotations__],
    "training": [*ConfigSchemaTraining.__annotations__],
}


class ArmConfig(NamedTuple):
    """What an arm changes.

    name (str): Its name.
    config (str): Which config it takes: "baseline" takes PREFIX_baseline.cfg.
    segmenter (Optional[dict]): The block of another segmenter.
    dictionary (Any): The dictionary: a file, or the block of a reader.
    block (dict): Settings of the block that looks at spans.
    set (dict): Any other settings, with dots: "training.dropout".
    note (str): What must be said of it beside its scores.
    """

    name: str
    config: str = "spanft"
    segmenter: dict[str, Any] | None = None
    dictionary: Any = None
    block: dict[str, Any] = {}  # noqa: RUF012 (never written to)
    set: dict[str, Any] = {}  # noqa: RUF012
    note: str = ""


def read_arms(path: str | Path) -> list[ArmConfig]:
    """Read the arms in their order; the first is what the others are compared with.

    path (Union[str, Path]): The YAML file.
    RETURNS (list[ArmConfig]): The arms.
    """
    text = read_whole(path)
    try:
        found = srsly.yaml_loads(text.decode("utf8"))
    except (ValueError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise MatrixError(Errors.BAD_ARMS.format(path=path, reason=reason)) from error
    arms = found.get("arms") if isinstance(found, dict) else None
    if not isinstance(arms, dict) or not arms:
        reason = "it has no list of arms under `arms:`"
        raise MatrixError(Errors.BAD_ARMS.format(path=path, reason=reason))
    return [_arm(path, str(name), settings) for name, settings in arms.items()]


def _arm(path: str | Path, name: str, settings: Any) -> ArmConfig:
    settings = {} if settings is None else settings
    if name in ("", ".", "..") or any(sign in name for sign in "/\\:"):
        reason = f"the arm {name!r} cannot be the name of a folder"
        raise MatrixError(Errors.BAD_ARMS.format(path=path, reason=reason))
    if not isinstance(settings, dict):
        reason = f"the arm {name!r} is {settings!r}, which is no list of settings"
        raise MatrixError(Errors.BAD_ARMS.format(path=path, reason=reason))
    known = ArmConfig._fields[1:]
    for key, value in settings.items():
        default = ArmConfig._field_defaults.get(key)
        wanted: Any = dict if key == "segmenter" else type(default)
        if key not in known:
            reason = f"the arm {name!r} has {key!r}; known are {', '.join(known)}"
        elif key != "dictionary" and not isinstance(value, wanted):
            reason = f"{key!r} of the arm {name!r} is {value!r}"
        else:
            continue
        raise MatrixError(Errors.BAD_ARMS.format(path=path, reason=reason))
    return ArmConfig(name, **settings)


def config_of(arm: ArmConfig, prefix: str | Path) -> Config:
    """Make the config of an arm.

    arm (ArmConfig): The arm.
    prefix (Union[str, Path]): Where the configs are: "configs/textcat" for
        configs/textcat_baseline.cfg and configs/textcat_spanft.cfg.
    RETURNS (Config): The config, its variables not filled in.
    """
    config = read_config(f"{prefix}_{arm.config}.cfg")
    changes: dict[str, Any] = {}
    if arm.segmenter is not None:
        changes[f"components.{SEGMENTER}.segmenter"] = arm.segmenter
        if arm.segmenter.get("@segmenters") != NGRAM_SEGMENTER:
            # Only that one takes the dictionary.
            config.get("initialize", {}).get("components", {}).pop(SEGMENTER, None)
    if arm.dictionary is not None:
        changes[f"initialize.components.{SEGMENTER}.dictionary"] = arm.dictionary
    if arm.block:
        place = _span_block(arm, config)
        changes |= {f"{place}.{key}": value for key, value in arm.block.items()}
    for place, value in {**changes, **arm.set}.items():
        change(config, place, value, f"the arm {arm.name!r}")
    return config


def change(config: Config, place: str, value: Any, who: str) -> None:
    """Change a setting or a block of a config in place.

    config (Config): The config.
    place (str): Where, with dots. Its section must be there.
    value (Any): The new value.
    who (str): Who wants it, for the error.
    """
    *sections, key = place.split(".")
    block: Any = config
    for section in sections:
        block = block.get(section) if isinstance(block, dict) else None
    if not sections or not isinstance(block, dict):
        raise MatrixError(Errors.NO_PLACE.format(who=who, place=place))
    known = {*block, *_SCHEMAS.get(".".join(sections), [key])}
    if key not in known:
        there = ", ".join(sorted(known))
        text = {"who": who, "place": place, "known": there}
        raise MatrixError(Errors.NO_SETTING.format(**text))
    block[key] = deepcopy(value)


def _span_block(arm: ArmConfig, config: Config) -> str:
    """Find the block whose architecture looks at spans."""
    left = [("components", config["components"])]
    while left:
        place, block = left.pop(0)
        if block.get("@architectures") in SPAN_BLOCKS:
            return place
        blocks = ((f"{place}.{k}", v) for k, v in block.items() if isinstance(v, dict))
        left.extend(blocks)
    known = ", ".join(SPAN_BLOCKS)
    raise MatrixError(Errors.NO_SPAN_BLOCK.format(arm=arm.name, known=known))
