"""The arms of an experiment: the settings that each changes in a config.

They are read from YAML. The configs are those of `spanft init`, or files.
"""

import re
from pathlib import Path
from typing import Any, NamedTuple

import srsly
from confection import Config
from spacy.util import walk_dict

from ..configs.making import task_config
from ..configs.templates import REGIMES, change, read_config
from ..errors import SpanftError, listed, meant, reported, shown
from ..util import SEGMENTER, SPAN_BLOCKS
from ..util.files import check_exists

NGRAM_SEGMENTER = "spacy-spanft.NgramSegmenter.v1"
# An arm or a task names a folder, on any file system.
_FOLDER_NAME = re.compile(r"\w([\w .+-]{0,98}[\w+-])?")


class ArmConfig(NamedTuple):
    """The settings of an arm.

    config (str): "baseline", without spans, "spanft", or a .cfg file.
    regime (str): The training regime, as for `spanft init --regime`; "" for the
        default.
    segmenter (Optional[dict]): The block of another segmenter. In it and in the
        dictionary, {data} is the folder of the task.
    dictionary (Any): The dictionary: a file, or the block of a reader.
    block (dict): Settings of the block that uses spans.
    set (dict): Any other settings: {"training.dropout": 0.2}.
    note (str): A note for the report.
    """

    name: str
    config: str = "spanft"
    regime: str = ""
    segmenter: dict[str, Any] | None = None
    dictionary: Any = None
    block: dict[str, Any] = {}  # noqa: RUF012 (never written to)
    set: dict[str, Any] = {}  # noqa: RUF012
    note: str = ""

    @property
    def has_file(self) -> bool:
        """Whether its config is a file."""
        return self.config.endswith(".cfg")


def read_arms(path: str | Path) -> list[ArmConfig]:
    """Read arms from a YAML file; the others are compared with the first."""
    check_exists(path)
    with reported(f"{path} is not an arms file", ValueError):
        contents = srsly.read_yaml(path)
    arms = contents.get("arms") if isinstance(contents, dict) else None
    if not isinstance(arms, dict) or not arms:
        raise SpanftError(f"{path} is not an arms file: it has no arms under `arms:`.")
    check_folder_names(list(map(str, arms)), f"an arm of {path}")
    return [_arm(path, str(name), settings or {}) for name, settings in arms.items()]


def check_folder_names(names: list[str], kind: str) -> None:
    """Raise for names that cannot be those of folders beside each other."""
    for i, name in enumerate(names):
        if not _FOLDER_NAME.fullmatch(name):
            raise SpanftError(
                f"The name of {kind} is {shown(name)}, but must be that of a folder: "
                f"letters, digits, and between them spaces or any of -_+."
            )
        if name.casefold() in (other.casefold() for other in names[:i]):
            raise SpanftError(f"Two have the same name: {kind} and another, {name!r}.")


def _arm(path: str | Path, name: str, settings: Any) -> ArmConfig:
    if not isinstance(settings, dict):
        raise SpanftError(f"{path}: the arm {name!r} has no settings: {settings!r:.80}")
    known = ArmConfig._fields[1:]
    for key, value in settings.items():
        if key not in known:
            hint = f"{meant(str(key), known)} Known: {', '.join(known)}."
            message = f"{path}: the arm {name!r} has the unknown setting {shown(key)}."
            raise SpanftError(message + hint)
        kind = dict if key == "segmenter" else type(ArmConfig._field_defaults[key])
        if key != "dictionary" and not isinstance(value, kind):
            raise SpanftError(f"{path}: {key!r} of the arm {name!r} is {shown(value)}.")
    return ArmConfig(name, **settings)


def config_of(arm: ArmConfig, pipeline: str, folder: str = "") -> Config:
    """Return the config of an arm for a task in a folder, not interpolated."""
    config = _base_config(arm, pipeline)
    changes: dict[str, Any] = {}
    for key in ("segmenter", "dictionary"):
        if getattr(arm, key) is not None and SEGMENTER not in config["components"]:
            raise SpanftError(
                f"The arm {arm.name!r} sets `{key}`, but its config has no "
                f"{SEGMENTER}. Change its config or segmentation, or remove `{key}`."
            )
    if arm.segmenter is not None:
        # A pipeline that was trained may be loaded from another folder.
        segmenter = _in_folder(arm.segmenter, Path(folder).resolve().as_posix())
        changes[f"components.{SEGMENTER}.segmenter"] = segmenter
        if arm.segmenter.get("@segmenters") != NGRAM_SEGMENTER:
            # The others take no dictionary.
            config.get("initialize", {}).get("components", {}).pop(SEGMENTER, None)
    if arm.dictionary is not None:
        dictionary = _in_folder(arm.dictionary, folder)
        changes[f"initialize.components.{SEGMENTER}.dictionary"] = dictionary
    of_block = block_settings(arm, config)
    if arm.block and not of_block:
        raise SpanftError(
            f"The arm {arm.name!r} sets `block`, but its config has none of these: "
            f"{listed(SPAN_BLOCKS)}. Use `config: spanft`."
        )
    for name, value in {**changes, **of_block, **arm.set}.items():
        change(config, name, value, f"the arm {arm.name!r}")
    return config


def block_settings(arm: ArmConfig, config: Config) -> dict[str, Any]:
    """Return the settings of an arm's block under their whole names, if it is there."""
    walked = walk_dict(config.get("components", {}), ["components"])
    blocks = (path[:-1] for path, value in walked if value in SPAN_BLOCKS)
    settings = arm.block if (block := next(blocks, ())) else {}
    return {".".join([*block, key]): value for key, value in settings.items()}


def _in_folder(value: Any, folder: str) -> Any:
    """Replace {data} by the folder of a task, in a path or in those of a block."""
    if isinstance(value, dict):
        return {key: _in_folder(x, folder) for key, x in value.items()}
    return value.replace("{data}", folder) if isinstance(value, str) else value


def _base_config(arm: ArmConfig, pipeline: str) -> Config:
    """Return the config before the changes of the arm."""
    if arm.has_file:
        if arm.regime:
            raise SpanftError(
                f"The arm {arm.name!r} has the regime {arm.regime!r}, which only the "
                f"package's own configs have. Write it into your config."
            )
        return read_config(arm.config)
    for key, known in (("config", ["baseline", "spanft"]), ("regime", ["", *REGIMES])):
        if (value := getattr(arm, key)) not in known:
            message = f"The arm {arm.name!r} has the {key} {shown(value)}, not one of"
            raise SpanftError(f"{message} {listed([x for x in known if x])}.")
    # `block` needs the span model; a segmenter is left out where nothing uses spans.
    is_bare = arm.block.get("segmentation") == "none"
    return task_config(
        pipeline,
        spans=arm.config == "spanft",
        segmentation="none" if is_bare else "spans",
        regime=arm.regime or None,
    )
