"""The runs of an experiment, each with the config that it trains."""

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from catalogue import RegistryError
from confection import Config, ConfigValidationError
from spacy.schemas import ConfigSchemaTraining
from spacy.tokens import Doc
from spacy.util import load_model_from_config, registry

from ..configs import (
    LISTENERS,
    TASKS,
    check_encoder,
    fitting_epochs,
    guess_task,
    tokenizer_of,
)
from ..configs.sources import COLUMNS
from ..configs.templates import interpolated
from ..errors import SpanftError, listed, shown, visible
from ..ngrams.dictionary import NgramDictionary
from ..ngrams.readers import default_dictionary
from ..segmenters.nltk_chunk import has_phrase_data
from ..segmenters.random import piece_lengths
from ..training.schedules import evaluation_steps
from ..util import SEGMENTER
from ..util.files import check_source
from .arms import ArmConfig, change, check_folder_names, config_of
from .run_folder import SCORES, State, fingerprint_of, state_of
from .task_data import Data, find_data, read_examples, readers_of

RANDOM_SEGMENTER = "spacy-spanft.RandomSegmenter.v1"
NLTK_SEGMENTER = "spacy-spanft.NltkChunkSegmenter.v1"
# Settings that tell the runs apart.
_OURS = ("system.seed", "training.seed", "paths.train", "paths.dev", "training.logger")
_RUNNER = "the experiment"
# The least number of evaluations in a training.
_N_EVALUATIONS = 10


class Run(NamedTuple):
    """A training run.

    task (str): The name of the folder of its data.
    folder (Path): The folder of its config, log, scores and pipeline.
    fingerprint (str): A digest of its config and of the files that this names.
    note (str): The note of the arm.
    """

    task: str
    arm: str
    seed: int
    folder: Path
    config: Config
    fingerprint: str
    note: str = ""

    @property
    def state(self) -> State:
        """Whether the run is "done", is "new", or was done with other settings."""
        return state_of(self.folder, self.fingerprint)


@dataclass
class _Plan:
    """How an arm is trained on a task, whatever the seed."""

    task: str
    arm: ArmConfig
    data: Data
    config: Config
    note: str


def plan_runs(
    arms: Sequence[ArmConfig],
    data: Sequence[str | Path],
    output: str | Path,
    *,
    pipeline: str | None = None,
    configs: str | Path | None = None,
    nltk_data: Path | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    epochs: int | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> list[Run]:
    """Plan an experiment: all arms with the first seed, then with the next one.

    arms (Sequence[ArmConfig]): The arms.
    data (Sequence[Union[str, Path]]): The folder of each task, with train and dev data:
        .spacy files or tables, see `find_data`.
    output (Union[str, Path]): The folder of the runs: OUTPUT/TASK/ARM/SEED.
    pipeline (Optional[str]): The pipeline, as for `spanft init --pipeline`; None reads
        it in task.json, or detects it from the data.
    configs (Optional[Union[str, Path]]): Your own configs instead: "configs/textcat"
        for configs/textcat_baseline.cfg and configs/textcat_spanft.cfg; or their
        folder, if task.json has the name.
    nltk_data (Optional[Path]): Data for NLTK, where it has none of its own.
    seeds (Sequence[int]): The seeds.
    epochs (Optional[int]): The number of epochs; None is 3, and more for few texts.
    overrides (Optional[Mapping[str, Any]]): Settings for all configs:
        {"training.dropout": 0.2}.
    RETURNS (list[Run]): The runs.
    """
    overrides = dict(overrides or {})
    names = [Path(folder).resolve().name for folder in data]
    check_folder_names(names, "a folder of data")
    tasks = dict(zip(names, map(find_data, data), strict=True))
    sources = {name: _source(configs, pipeline, task) for name, task in tasks.items()}
    plans = [
        _Plan(name, arm, task, config_of(arm, sources[name]), arm.note)
        for (name, task), arm in product(tasks.items(), arms)
    ]
    _override([plan.config for plan in plans], overrides)
    docs_by_reader: dict[str, list[Doc]] = {}  # most arms read their data alike
    if nltk_data and has_phrase_data():  # checking an arm adds the folder to NLTK's own
        nltk_data = None
    for plan in plans:
        _set_data(plan, overrides)
        reader = repr(interpolated(plan.config)["corpora"])
        if reader not in docs_by_reader:
            docs_by_reader[reader] = _read_docs(plan)
        docs = docs_by_reader[reader]
        _set_steps(plan.config, {**plan.arm.set, **overrides}, len(docs), epochs)
        _fill_in(plan, docs, nltk_data)
        _check(plan)
    pairs = product(names, seeds, plans)
    runs = [_run(p, seed, Path(output)) for name, seed, p in pairs if p.task == name]
    arms_of: dict[str, str] = {}
    for run in runs:
        if (other := arms_of.setdefault(run.fingerprint, run.arm)) != run.arm:
            message = f"The arms {other!r} and {run.arm!r} have the same config."
            warnings.warn(message, stacklevel=2)
    return runs


def _source(configs: str | Path | None, pipeline: str | None, data: Data) -> str | Path:
    """Choose the configs for a task: those of a pipeline, or the user's."""
    if configs is None:
        name = pipeline or data.pipeline or _detect(data)
        if name not in TASKS:
            raise SpanftError(f"{shown(name)} is not one of {listed(list(TASKS))}.")
        tables = [path for path in data.files.values() if path.suffix != ".spacy"]
        if tables and name not in COLUMNS:
            raise SpanftError(f"'{tables[0]}' cannot be read for {name}. Use .spacy.")
        return name
    if pipeline is not None:
        raise SpanftError("Use either --pipeline or --configs.")
    if not Path(configs).is_dir():
        return Path(configs)
    if data.config is None:
        raise SpanftError(
            f"'{configs}' is a folder, and no task.json in '{data.folder}' has the "
            f'"config" to take from it. Name the configs: --configs configs/textcat'
        )
    return Path(configs) / data.config


def _detect(data: Data) -> str:
    columns = {name: value for name, value in data.columns.items() if value is not None}
    columns.pop("labels", None)
    path = str(data.files["train"])
    name = guess_task(path, columns, "en")
    print(f"ℹ Detected from {visible(path)}: --pipeline {name}", file=sys.stderr)
    return name


def _override(configs: Sequence[Config], overrides: Mapping[str, Any]) -> None:
    """Set the settings of the command line in all configs."""
    for path in overrides:
        section, _, name = path.partition(".")
        # A path may be known to some of the configs only.
        if section == "paths" and any(name in c.get("paths", {}) for c in configs):
            for config in configs:
                config.setdefault("paths", {}).setdefault(name, None)
    for config, (path, value) in product(configs, overrides.items()):
        change(config, path, value, "the command line")


def _set_data(plan: _Plan, overrides: Mapping[str, Any]) -> None:
    """Let a config read the data of the task."""
    for path in _OURS:
        if path in overrides or path in plan.arm.set:
            raise SpanftError(
                f"{path!r} cannot be set: it differs between runs. Use --seed, --seeds "
                f"and --data."
            )
    for split, reader in readers_of(plan.config, plan.data).items():
        change(plan.config, f"paths.{split}", str(plan.data.files[split]), _RUNNER)
        change(plan.config, f"corpora.{split}", reader, _RUNNER)


def _read_docs(plan: _Plan) -> list[Doc]:
    """Read the training data, and check the dev data by reading it."""
    config = interpolated(plan.config)
    nlp, (train, dev) = tokenizer_of(config), plan.data.files.values()
    for _ in read_examples(nlp, str(dev), config):
        pass
    examples = read_examples(nlp, str(train), config, "train")
    return [example.reference for example in examples]


def _set_steps(
    config: Config, given: Mapping[str, Any], n_docs: int, epochs: int | None
) -> None:
    """Set the number of steps, the evaluations and the schedule of a config.

    given (Mapping[str, Any]): Settings to keep: {"training.max_steps": 100}.
    """
    n_batches = _n_batches(config, n_docs)
    epochs = fitting_epochs(config, n_docs) if epochs is None else epochs
    can_grow = not given.keys() & {"training.max_steps", "training.eval_frequency"}
    steps = given.get("training.max_steps", epochs * n_batches)
    if not isinstance(steps, int) or steps < 0:
        raise SpanftError(
            f"'training.max_steps' is {shown(steps)}, not a whole number."
        )
    longest = max(1, steps // _N_EVALUATIONS)
    fitted = evaluation_steps(steps, n_batches, longest, can_grow=can_grow)
    steps = fitted.n_steps if can_grow else steps
    settings = {
        "training.max_steps": steps,
        "training.eval_frequency": fitted.eval_frequency,
        "training.max_epochs": 0,
    }
    optimizer = config["training"].get("optimizer")
    schedule = optimizer.get("learn_rate") if isinstance(optimizer, dict) else None
    if isinstance(schedule, dict) and "warmup_steps" in schedule:
        rate = "training.optimizer.learn_rate"
        settings |= {
            f"{rate}.total_steps": steps,
            f"{rate}.warmup_steps": steps // 10,
        }
    for path, value in settings.items():
        if path not in given:
            change(config, path, value, _RUNNER)


def _n_batches(config: Config, n_docs: int) -> int:
    """Return the number of steps in an epoch."""
    batcher = config["training"].get("batcher")
    size = batcher.get("size") if isinstance(batcher, dict) else None
    if not isinstance(size, int) or size < 1:
        raise SpanftError(
            f"[training.batcher] size is {shown(size)}, but must be a number of texts. "
            f"Use spacy.batch_by_sequence.v1."
        )
    # spaCy accumulates gradients over parts of a batch, not over several.
    return -(-n_docs // size)


def _fill_in(plan: _Plan, docs: list[Doc], nltk_data: Path | None) -> None:
    """Fill in the settings of a segmenter that depend on the data or this machine.

    Random spans get the lengths of n-grams, so that only their positions differ.
    """
    config = plan.config
    segmenter = config["components"].get(SEGMENTER, {}).get("segmenter", {})
    kind = segmenter.get("@segmenters")
    if kind == RANDOM_SEGMENTER and "lengths" not in segmenter:
        path = config["paths"].get("dictionary")
        ngrams = NgramDictionary.from_disk(path) if path else default_dictionary()
        lengths = piece_lengths(docs, ngrams)
        segmenter["lengths"] = [round(share, 4) for share in lengths]
    elif kind == NLTK_SEGMENTER and nltk_data:
        segmenter["data_dir"] = nltk_data.resolve().as_posix()
        if (note := nltk_data / "note.txt").exists():
            plan.note = note.read_text("utf8").strip()
    settings = config.get("initialize", {}).get("components", {}).get(SEGMENTER, {})
    dictionary = settings.get("dictionary")
    folder = plan.data.folder.as_posix()
    if isinstance(dictionary, str):
        settings["dictionary"] = dictionary.replace("{data}", folder)
    elif dictionary and isinstance(dictionary.get("path"), str):
        dictionary["path"] = dictionary["path"].replace("{data}", folder)


def _check(plan: _Plan) -> None:
    """Raise for a config that spaCy would refuse, or whose files are missing."""
    who = f"The config of the arm {plan.arm.name!r}"
    config = interpolated(plan.config)
    for settings in config.get("initialize", {}).get("components", {}).values():
        dictionary = settings.get("dictionary")
        path = dictionary.get("path") if isinstance(dictionary, dict) else dictionary
        if isinstance(path, str):
            check_source(path)
    for block in config["components"].values():
        name = block.get("model", {}).get("name")
        if block.get("factory") in LISTENERS and isinstance(name, str):
            check_encoder(name)
    try:  # as `spacy debug config` does
        nlp = load_model_from_config(config, auto_fill=True)
        training = nlp.config.interpolate()["training"]
        registry.resolve(training, schema=ConfigSchemaTraining)
    except SpanftError:
        raise
    except ConfigValidationError as error:
        text = error.from_error(error, title="", desc="", show_config=False).text
        raise SpanftError(f"{who} is invalid: {' '.join(text.split())}") from error
    except (ValueError, ImportError, RegistryError) as error:
        raise SpanftError(f"{who} is invalid: {shown(str(error))}") from error


def _run(plan: _Plan, seed: int, output: Path) -> Run:
    config = plan.config.copy()
    change(config, "system.seed", seed, _RUNNER)
    digest = fingerprint_of(config)  # without the folder, which makes no difference
    folder = output / plan.task / plan.arm.name / str(seed)
    logger = {
        "@loggers": "spacy.ConsoleLogger.v3",
        "progress_bar": None,
        "console_output": True,
        "output_file": str(folder / SCORES),
    }
    change(config, "training.logger", logger, _RUNNER)
    names = plan.task, plan.arm.name, seed
    return Run(*names, folder, config, digest, plan.note)
