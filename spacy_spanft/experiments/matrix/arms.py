"""The arms of a comparison: what each one changes in a config.

A file of arms is YAML. Each arm says which config it takes, and what it changes there:

    arms:
      baseline:
        config: baseline
      random:
        segmenter: {"@segmenters": spacy-spanft.RandomSegmenter.v1, seed: 1}
      no-cls:
        block: {use_cls: false}

The configs are those of `spanft init`, or files of one's own.
"""

from collections.abc import Collection
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

from confection import Config
from spacy.schemas import ConfigSchemaNlp, ConfigSchemaTraining

from ...configs import REGIMES, task_config
from ...configs.reading import read_config
from ...errors import Errors, SpanftError, shown
from ...errors.shortening import meant
from ...util.names import SEGMENTER
from ..hook import NGRAM_SEGMENTER, SPAN_BLOCKS
from .arms_file import bad_arms, read_arms_file
from .names import fault_of, same_folder

# The configs that a pipeline has, and whether they look at spans.
KINDS = {"baseline": False, "spanft": True}

# What else there may be in sections of which spaCy never says that a key is unknown.
_SCHEMAS = {
    "paths": ["train", "dev"],
    "system": [],
    "nlp": [*ConfigSchemaNlp.__annotations__],
    "training": [*ConfigSchemaTraining.__annotations__],
}


class Pipeline(NamedTuple):
    """A pipeline whose configs come with the package.

    name (str): What `spanft init --pipeline` calls it.
    """

    name: str


class ArmConfig(NamedTuple):
    """What an arm changes.

    name (str): Its name.
    config (str): Which config it takes: "baseline", without spans, or "spanft"; of
        configs of one's own, "baseline" takes PREFIX_baseline.cfg.
    regime (str): How it is trained, as `spanft init --regime` calls it; "" for what
        that takes by default.
    segmenter (Optional[dict]): The block of another segmenter.
    dictionary (Any): The dictionary: a file, or the block of a reader.
    block (dict): Settings of the block that looks at spans.
    overlay (str): A .cfg whose blocks are merged into the config.
    set (dict): Any other settings, with dots: "training.dropout".
    note (str): What must be said of it beside its scores.
    """

    name: str
    config: str = "spanft"
    regime: str = ""
    segmenter: dict[str, Any] | None = None
    dictionary: Any = None
    block: dict[str, Any] = {}  # noqa: RUF012 (never written to)
    overlay: str = ""
    set: dict[str, Any] = {}  # noqa: RUF012
    note: str = ""


def read_arms(path: str | Path) -> list[ArmConfig]:
    """Read the arms in their order; the first is what the others are compared with.

    path (Union[str, Path]): The YAML file.
    RETURNS (list[ArmConfig]): The arms.
    """
    found = read_arms_file(path)
    for name in found:
        if isinstance(name, bool) or not isinstance(name, str | int):
            reason = f"the arm {shown(name)} is named by no text: put it in quotes"
            raise bad_arms(path, reason)
        if (fault := fault_of(str(name))) is not None:
            reason = f"the arm {shown(name)} cannot be the name of a folder: it {fault}"
            raise bad_arms(path, reason)
    if pair := same_folder(map(str, found)):
        reason = f"the arms {pair[0]!r} and {pair[1]!r} would have the same folder"
        raise bad_arms(path, reason)
    return [_arm(path, str(name), settings) for name, settings in found.items()]


def _arm(path: str | Path, name: str, settings: Any) -> ArmConfig:
    settings = {} if settings is None else settings
    if not isinstance(settings, dict):
        reason = (
            f"the arm {name!r} is {shown(settings)}, which is not a list of settings"
        )
        raise bad_arms(path, reason)
    known = ArmConfig._fields[1:]
    for key, value in settings.items():
        default = ArmConfig._field_defaults.get(key)
        wanted: Any = dict if key == "segmenter" else type(default)
        if key not in known:
            hint = meant(str(key), known)
            there = f"Known are: {', '.join(known)}"
            reason = f"the arm {name!r} has {shown(key)}.{hint} {there}"
        elif key != "dictionary" and not isinstance(value, wanted):
            reason = f"{key!r} of the arm {name!r} is {shown(value)}"
        elif not _is_plain(value):
            reason = f"{key!r} of the arm {name!r} has values that no config can have"
        else:
            continue
        raise bad_arms(path, reason)
    return ArmConfig(name, **settings)


def _is_plain(value: Any) -> bool:
    """Say whether JSON, and so a config, has such values: no dates, no bytes."""
    if isinstance(value, dict):
        return all(isinstance(k, str) and _is_plain(v) for k, v in value.items())
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float)


def config_of(arm: ArmConfig, source: Pipeline | Path) -> Config:
    """Make the config of an arm.

    source (Union[Pipeline, Path]): The pipeline, whose configs are those of `init`; or
        where files of one's own are: "configs/textcat" for configs/textcat_baseline.cfg
        and configs/textcat_spanft.cfg.
    RETURNS (Config): The config, its variables not filled in.
    """
    config = _config_of(arm, source)
    if arm.overlay:
        config = config.merge(read_config(arm.overlay))
    changes: dict[str, Any] = {}
    for key in ("segmenter", "dictionary"):
        if getattr(arm, key) is not None and SEGMENTER not in config["components"]:
            text = {"arm": arm.name, "key": key}
            raise SpanftError(Errors.ARM_WITHOUT_SPANS.format(**text))
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


def _config_of(arm: ArmConfig, source: Pipeline | Path) -> Config:
    """Make the config of an arm, before what the arm changes in it."""
    if arm.regime and arm.regime not in REGIMES:
        text = {"arm": arm.name, "regime": shown(arm.regime)}
        raise SpanftError(Errors.NO_REGIME.format(**text, known=", ".join(REGIMES)))
    if isinstance(source, Path):
        if arm.regime not in ("", "everything"):
            text = {"arm": arm.name, "regime": arm.regime}
            raise SpanftError(Errors.REGIME_OF_FILES.format(**text))
        return read_config(f"{source}_{arm.config}.cfg")
    if arm.config not in KINDS:
        text = {"arm": arm.name, "config": shown(arm.config)}
        raise SpanftError(Errors.NO_KIND.format(**text, known=", ".join(KINDS)))
    # Spans also where `init` takes none, and a segmenter only where it is looked at.
    is_bare = arm.block.get("segmentation") == "none"
    return task_config(
        source.name,
        spans=KINDS[arm.config],
        segmentation="none" if is_bare else "spans",
        regime=arm.regime or None,
    )


def change(
    config: Config, place: str, value: Any, who: str, more: Collection[str] = ()
) -> None:
    """Change a setting or a block of a config in place.

    place (str): Where, with dots. Its section must be there.
    value (Any): The new value.
    who (str): Who wants it, for the error.
    more (Collection[str]): Places, with dots, that are known from elsewhere.
    """
    *sections, key = place.split(".")
    block: Any = config
    for section in sections:
        inner = block.get(section)
        if not isinstance(inner, dict):
            text = {"who": who, "place": place, "hint": meant(section, block)}
            raise SpanftError(Errors.NO_PLACE.format(**text))
        block = inner
    if not sections:
        text = {"who": who, "place": place, "hint": ""}
        raise SpanftError(Errors.NO_PLACE.format(**text))
    known = {*block, *_SCHEMAS.get(".".join(sections), [key])}
    if key not in known and place not in more:
        text = {"who": who, "place": place, "hint": meant(key, known)}
        there = ", ".join(sorted(known))
        raise SpanftError(Errors.NO_SETTING.format(**text, known=there))
    block[key] = deepcopy(value)


def _span_block(arm: ArmConfig, config: Config) -> str:
    """Find the block whose architecture looks at spans."""
    left = [("components", config.get("components", {}))]
    while left:
        place, block = left.pop(0)
        if block.get("@architectures") in SPAN_BLOCKS:
            return place
        blocks = ((f"{place}.{k}", v) for k, v in block.items() if isinstance(v, dict))
        left.extend(blocks)
    known = ", ".join(SPAN_BLOCKS)
    raise SpanftError(Errors.NO_SPAN_BLOCK.format(arm=arm.name, known=known))
