"""Which runs there are, and what each one trains."""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import spacy
from confection import Config
from spacy.tokens import DocBin

from ..errors import Errors, MatrixError
from .arms import ArmConfig, change, config_of
from .fingerprint import fingerprint

PARTS = ("train", "dev")
RUNNER = "the runner"
OPTIMIZER = "training.optimizer"
UNTIL = "training.before_update.until_step"
# What nobody else may set, as it is what tells the runs apart.
OWN = ("system.seed", "training.seed", "paths.train", "paths.dev", "training.logger")
# Scores that a training writes beside its pipeline.
RESULT = "run.json"
# Facts about the data of a task.
TASK = "task.json"
# How often the dev data is scored in a training.
N_EVALUATIONS = 10


class Run(NamedTuple):
    """A training to do.

    task (str): The task: the name of its data's folder.
    arm (str): The arm.
    seed (int): The seed.
    folder (Path): Where its config, log, scores and pipeline go.
    config (Config): Its config.
    n_words (int): How many words it is trained on, all epochs together.
    fingerprint (str): Tells it from what was run with other settings or files.
    """

    task: str
    arm: str
    seed: int
    folder: Path
    config: Config
    n_words: int
    fingerprint: str

    @property
    def state(self) -> str:
        """Say whether it was done: "done", "changed" or "new"."""
        try:
            found = json.loads((self.folder / RESULT).read_text("utf8"))
        except (OSError, ValueError):
            return "new"
        same = found.get("fingerprint") == self.fingerprint
        return "done" if same else "changed"


class Data(NamedTuple):
    """The data of a task.

    folder (Path): A folder with train.spacy and dev.spacy, and perhaps a task.json,
        whose "config" says which configs are for it.
    config (Optional[str]): What task.json says: "textcat" for textcat_spanft.cfg.
    n_docs (int): How many texts there are to train on.
    n_words (int): How many words.
    """

    folder: Path
    config: str | None
    n_docs: int
    n_words: int


def check_data(folder: str | Path) -> None:
    """Raise if a folder is not that of a task.

    folder (Union[str, Path]): The folder.
    """
    for part in PARTS:
        if not (Path(folder) / f"{part}.spacy").is_file():
            raise MatrixError(Errors.NO_DATA.format(path=folder, part=part))


def read_data(folder: str | Path) -> Data:
    """Look into the data of a task.

    folder (Union[str, Path]): The folder.
    RETURNS (Data): How much there is to train on.
    """
    folder = Path(folder)
    check_data(folder)
    sizes, _ = (_sizes(folder / f"{part}.spacy") for part in PARTS)
    return Data(folder, _config_name(folder), len(sizes), sum(sizes))


def _sizes(file: Path) -> list[int]:
    try:
        docs = DocBin().from_disk(file).get_docs(spacy.blank("xx").vocab)
        sizes = [len(doc) for doc in docs]
    except Exception as error:  # whatever zlib and msgpack say of a broken file
        raise MatrixError(Errors.BAD_DATA.format(path=file)) from error
    if not sizes:
        raise MatrixError(Errors.NO_ROWS.format(source=repr(str(file))))
    return sizes


def _config_name(folder: Path) -> str | None:
    file = folder / TASK
    if not file.exists():
        return None
    try:
        found = json.loads(file.read_text("utf8")).get("config")
    except (ValueError, AttributeError) as error:
        raise MatrixError(Errors.BAD_TASK.format(path=file, reason=error)) from error
    # It becomes a part of a path.
    if not isinstance(found, str | None) or re.search(r"[^\w-]", found or ""):
        reason = f"its config is {found!r}"
        raise MatrixError(Errors.BAD_TASK.format(path=file, reason=reason))
    return found


def _prefix(configs: str | Path, data: Data) -> Path:
    """Find the configs for some data: in a folder those that task.json names."""
    if not Path(configs).is_dir():
        return Path(configs)
    if data.config is None:
        place = {"path": configs, "data": data.folder}
        raise MatrixError(Errors.WHICH_CONFIGS.format(**place))
    return Path(configs) / data.config


def plan_runs(
    arms: Sequence[ArmConfig],
    configs: str | Path,
    data: Sequence[str | Path],
    output: str | Path,
    *,
    seeds: Sequence[int] = (0, 1, 2),
    epochs: int = 3,
    overrides: Mapping[str, Any] | None = None,
) -> list[Run]:
    """Plan a matrix: all arms of one seed, then those of the next one.

    arms (Sequence[ArmConfig]): The arms.
    configs (Union[str, Path]): Where the configs are: "configs/textcat" for
        configs/textcat_baseline.cfg and configs/textcat_spanft.cfg, or "configs" if the
        data says which.
    data (Sequence[Union[str, Path]]): Of each task the folder with its train.spacy and
        dev.spacy.
    output (Union[str, Path]): Where the runs go: OUTPUT/TASK/ARM/SEED.
    seeds (Sequence[int]): The seeds.
    epochs (int): How often a training sees each text.
    overrides (Optional[Mapping[str, Any]]): Settings for all configs, with dots.
    RETURNS (list[Run]): The runs.
    """
    if epochs < 1:
        raise MatrixError(Errors.BAD_OPTION.format(option="--epochs", value=epochs))
    if not seeds:
        raise MatrixError(Errors.BAD_OPTION.format(option="--seeds", value=len(seeds)))
    tasks = [read_data(folder) for folder in data]
    names = [task.folder.resolve().name for task in tasks]
    for name in names:
        if names.count(name) > 1:
            raise MatrixError(Errors.SAME_DATA.format(name=name))
    made = []
    for (name, task), seed, arm in product(zip(names, tasks, strict=True), seeds, arms):
        config = config_of(arm, _prefix(configs, task))
        for place, value in (overrides or {}).items():
            change(config, place, value, "the command line")
        _set_up(config, {**arm.set, **(overrides or {})}, task, seed, epochs)
        folder = Path(output) / name / arm.name / str(seed)
        # Where it is written to makes no difference.
        digest = fingerprint(config)
        change(config, "training.logger", _logger(folder), RUNNER)
        words = round(task.n_words * _n_epochs(config, task))
        made.append(Run(name, arm.name, seed, folder, config, words, digest))
    return made


def _set_up(
    config: Config, given: Mapping[str, Any], data: Data, seed: int, epochs: int
) -> None:
    """Let a config train so many epochs on this data, but for what was given."""
    for place in OWN:
        if place in given:
            raise MatrixError(Errors.RUNNER_SETS.format(place=place))
    training = config["training"]
    _set(config, given, "training.max_steps", epochs * _n_batches(config, data))
    steps = training["max_steps"]
    for part in PARTS:
        change(config, f"paths.{part}", str(data.folder / f"{part}.spacy"), RUNNER)
        # Whatever the config reads elsewhere, here it reads DocBins.
        reader = {"@readers": "spacy.Corpus.v1", "path": f"${{paths.{part}}}"}
        change(config, f"corpora.{part}", reader, RUNNER)
    _set_schedule(config, given, f"{OPTIMIZER}.learn_rate", steps)
    if "until_step" in (training.get("before_update") or {}):
        # The head first; the transformer has the steps that are left.
        _set(config, given, UNTIL, steps // 10)
        left = steps - training["before_update"]["until_step"]
        _set_schedule(config, given, f"{OPTIMIZER}.transformer_rate.schedule", left)
    frequency = max(1, steps // N_EVALUATIONS)
    _set(config, given, "training.eval_frequency", frequency)
    change(config, "system.seed", seed, RUNNER)


def _n_batches(config: Config, data: Data) -> int:
    """Count the steps of an epoch."""
    training = config["training"]
    size = training.get("batcher", {}).get("size")
    if not isinstance(size, int):
        raise MatrixError(Errors.NO_BATCH_SIZE.format(value=size))
    return -(-data.n_docs // (size * training["accumulate_gradient"]))


def _n_epochs(config: Config, data: Data) -> float:
    return float(config["training"]["max_steps"] / _n_batches(config, data))


def _set(config: Config, given: Mapping[str, Any], place: str, value: Any) -> None:
    if place not in given:
        change(config, place, value, RUNNER)


def _set_schedule(
    config: Config, given: Mapping[str, Any], place: str, steps: int
) -> None:
    """Let a schedule warm up for a tenth of so many steps, and end with them."""
    schedule: Any = config
    for section in place.split("."):
        schedule = schedule.get(section) if isinstance(schedule, dict) else None
    if isinstance(schedule, dict) and "total_steps" in schedule:
        _set(config, given, f"{place}.total_steps", steps)
        _set(config, given, f"{place}.warmup_steps", steps // 10)


def _logger(folder: Path) -> dict[str, Any]:
    return {
        "@loggers": "spacy.ConsoleLogger.v3",
        "progress_bar": None,
        "console_output": True,
        "output_file": str(folder / "log.jsonl"),
    }
