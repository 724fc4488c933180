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

UNTIL = "training.before_update"
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
    for part in ("train", "dev"):
        if not (Path(folder) / f"{part}.spacy").is_file():
            raise MatrixError(Errors.NO_DATA.format(path=folder, part=part))


def read_data(folder: str | Path) -> Data:
    """Look into the data of a task.

    folder (Union[str, Path]): The folder.
    RETURNS (Data): How much there is to train on.
    """
    folder = Path(folder)
    check_data(folder)
    file = folder / "train.spacy"
    try:
        docs = DocBin().from_disk(file).get_docs(spacy.blank("xx").vocab)
        sizes = [len(doc) for doc in docs]
    except Exception as error:  # whatever zlib and msgpack say of a broken file
        raise MatrixError(Errors.BAD_DATA.format(path=file)) from error
    if not sizes:
        raise MatrixError(Errors.NO_ROWS.format(source=repr(str(file))))
    return Data(folder, _config_name(folder), len(sizes), sum(sizes))


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
    tasks = [read_data(folder) for folder in data]
    names = [task.folder.resolve().name for task in tasks]
    for name in names:
        if names.count(name) > 1:
            raise MatrixError(Errors.SAME_DATA.format(name=name))
    made = []
    for (name, task), seed, arm in product(zip(names, tasks, strict=True), seeds, arms):
        config = config_of(arm, _prefix(configs, task))
        _set_up(config, arm, task, seed, epochs)
        for place, value in (overrides or {}).items():
            change(config, place, value, "the command line")
        folder = Path(output) / name / arm.name / str(seed)
        # Where it is written to makes no difference.
        digest = fingerprint(config)
        change(config, "training.logger", _logger(folder), "the runner")
        words = epochs * task.n_words
        made.append(Run(name, arm.name, seed, folder, config, words, digest))
    return made


def _set_up(config: Config, arm: ArmConfig, data: Data, seed: int, epochs: int) -> None:
    """Let a config train so many epochs on this data."""
    training = config["training"]
    size = training.get("batcher", {}).get("size")
    if not isinstance(size, int):
        raise MatrixError(Errors.NO_BATCH_SIZE.format(value=size))
    steps = epochs * -(-data.n_docs // (size * training["accumulate_gradient"]))
    for part in ("train", "dev"):
        path = str(data.folder / f"{part}.spacy")
        change(config, f"paths.{part}", path, "the runner")
        # Whatever the config reads elsewhere, here it reads DocBins.
        reader = {"@readers": "spacy.Corpus.v1", "path": f"${{paths.{part}}}"}
        change(config, f"corpora.{part}", reader, "the runner")
    optimizer = training["optimizer"]
    _set_schedule(optimizer.get("learn_rate"), steps)
    frozen = training.get("before_update") or {}
    if "until_step" in frozen:
        # The head first; the transformer has the steps that are left.
        if f"{UNTIL}.until_step" not in arm.set:
            frozen["until_step"] = steps // 10
        left = steps - frozen["until_step"]
        _set_schedule(_schedule_of(optimizer, "transformer_rate"), left)
    change(config, "training.max_steps", steps, "the runner")
    frequency = max(1, steps // N_EVALUATIONS)
    change(config, "training.eval_frequency", frequency, "the runner")
    change(config, "system.seed", seed, "the runner")


def _schedule_of(optimizer: Any, rate: str) -> Any:
    found = optimizer.get(rate)
    return found.get("schedule") if isinstance(found, dict) else None


def _set_schedule(schedule: Any, steps: int) -> None:
    """Let a schedule warm up for a tenth of so many steps, and end with them."""
    if isinstance(schedule, dict) and "total_steps" in schedule:
        schedule["total_steps"] = steps
        schedule["warmup_steps"] = steps // 10


def _logger(folder: Path) -> dict[str, Any]:
    return {
        "@loggers": "spacy.ConsoleLogger.v3",
        "progress_bar": None,
        "console_output": True,
        "output_file": str(folder / "log.jsonl"),
    }
