"""The runs of an experiment, each with the config that it trains.

A run is the folder TASK/ARM/SEED with run.json, which is written last, log.txt, and the
pipeline in model/. A run that failed is TASK/ARM/SEED.failed.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import srsly
from catalogue import RegistryError
from confection import Config
from spacy.schemas import ConfigSchemaTraining
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_model_from_config, registry, walk_dict

from ..configs.encoders import check_encoder
from ..configs.fitting import fit_training, fitting_epochs
from ..configs.sources import (
    COLUMNS,
    SETTINGS_OF,
    guess_columns,
    guess_task,
    table_columns,
    tokenizer_of,
)
from ..configs.summary import summarize
from ..configs.templates import LISTENERS, TASKS, change, interpolated
from ..errors import SpanftError, check_setting, listed, report, reported, shown
from ..ngrams.dictionary import NgramDictionary, default_dictionary
from ..segmenters.random import piece_lengths
from ..util import SEGMENTER
from ..util.columns import SETTINGS, guess_of
from ..util.files import digest_of
from .arms import ArmConfig, block_settings, check_folder_names, config_of
from .task_data import Data, find_data, read_examples, readers_of

# Facts, written last; the pipeline; all output.
RESULT, MODEL, LOG = "run.json", "model", "log.txt"
RANDOM_SEGMENTER = "spacy-spanft.RandomSegmenter.v1"
# Settings that tell the runs apart.
_OURS = ("system.seed", "training.seed", "paths.train", "paths.dev")
_RUNNER = "the experiment"
_BATCHER = "spacy.batch_by_sequence.v1"
# About how often a training is evaluated.
_N_EVALUATIONS = 10
# Settings whose values may be folders.
_FOLDERS = {"path", "name", "transformer", "dictionary", "vectors", "source"}


Docs: TypeAlias = dict[str, list[Doc]]  # of "train" and "dev"


class Run(NamedTuple):
    """A training run.

    folder (Path): The folder of its config, log, seconds and pipeline.
    fingerprint (str): A digest of its config and of the files that this names.
    """

    task: str
    arm: str
    seed: int
    folder: Path
    config: Config
    fingerprint: str
    note: str = ""

    @property
    def is_done(self) -> bool:
        """Whether the run is done, with the same settings and files."""
        path = self.folder / RESULT
        if not path.is_file() or not (self.folder / MODEL).is_dir():
            return False
        return bool(srsly.read_json(path)["fingerprint"] == self.fingerprint)


def plan_runs(
    arms: Sequence[ArmConfig],
    data: Sequence[str | Path],
    output: str | Path,
    *,
    pipeline: str | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    epochs: int | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> list[Run]:
    """Plan an experiment: all arms with the first seed, then with the next one.

    data (Sequence[Union[str, Path]]): The folder of each task, with train and dev data:
        .spacy files or tables, see `find_data`.
    output (Union[str, Path]): The folder of the runs: OUTPUT/TASK/ARM/SEED.
    pipeline (Optional[str]): The pipeline, as for `spanft init --pipeline`; None reads
        it in task.json, or detects it from the data.
    epochs (Optional[int]): The number of epochs; None trains as `spanft init` says,
        but without contrast.
    overrides (Optional[Mapping[str, Any]]): Settings for all configs:
        {"training.dropout": 0.2}.
    """
    overrides = dict(overrides or {})
    tasks = list(map(find_data, data))
    check_folder_names([task.name for task in tasks], "a folder of data")
    if not all(arm.has_file for arm in arms):
        may_guess = not any(arm.has_file for arm in arms)
        tasks = [_with_pipeline(x, pipeline or x.pipeline, may_guess) for x in tasks]
    configs = [
        (task, arm, config_of(arm, task.pipeline or "", task.folder.as_posix()))
        for task, arm in product(tasks, arms)
    ]
    _override([config for *_, config in configs], overrides)
    docs_by_reader: dict[str, Docs] = {}  # most arms read their data alike
    for task, arm, config in configs:
        given = {**block_settings(arm, config), **arm.set, **overrides}
        _set_data(config, task, given)
        reader = repr(interpolated(config)["corpora"])
        if reader not in docs_by_reader:
            docs_by_reader[reader] = _read(config, task)
        docs = docs_by_reader[reader]
        is_fitted = epochs is None and not arm.has_file
        if is_fitted:
            _fit(config, task, given, docs)
        if not is_fitted or "training.max_steps" in given:
            _set_steps(config, given, len(docs["train"]), epochs)
        _set_lengths(config, docs["train"])
        _check(config, arm.name)
    runs, digests = [], dict[Path, str]()
    for of_task, seed in product(tasks, seeds):
        for arm, config in ((a, c.copy()) for t, a, c in configs if t is of_task):
            for section in ("system", "training"):
                change(config, f"{section}.seed", seed, _RUNNER)
            names = of_task.name, arm.name, seed
            to, digest = Path(output, *map(str, names)), fingerprint_of(config, digests)
            runs.append(Run(*names, to, config, digest, arm.note))
    return runs


def _with_pipeline(data: Data, name: str | None, guess_names: bool) -> Data:
    """Return data with its pipeline; it and columns are guessed where none is named."""
    path = str(data.files["train"])
    known = (*SETTINGS, *SETTINGS_OF["table"])
    columns = {k: v for k, v in data.columns.items() if v and k in known}
    if guess_names and not data.columns.keys() & {"header", "format"}:
        guess = guess_columns(path, columns, name)
        if line := guess_of(guess, columns):
            report(f"ℹ {path}: {line}")
        data, columns = data._replace(columns={**guess, **data.columns}), guess
    if name is None:
        name = guess_task(path, columns, "en")
        report(f"ℹ Detected from {path}: --pipeline {name}")
    if name not in TASKS:
        raise SpanftError(f"{shown(name)} is not one of {listed(list(TASKS))}.")
    tables = [path for path in data.files.values() if path.suffix != ".spacy"]
    if tables and name not in COLUMNS:
        raise SpanftError(f"'{tables[0]}' cannot be read for {name}. Use .spacy.")
    return data._replace(pipeline=name)


def _override(configs: Sequence[Config], overrides: Mapping[str, Any]) -> None:
    """Set the settings of the command line in all configs."""
    known = {name for config in configs for name in config.get("paths", {})}
    for config, (path, value) in product(configs, overrides.items()):
        section, _, name = path.partition(".")
        if section == "paths" and name in known:  # to some of the configs, perhaps
            config.setdefault("paths", {})[name] = value
        else:
            change(config, path, value, "the command line")


def _set_data(config: Config, data: Data, given: Mapping[str, Any]) -> None:
    """Let a config read the data of the task."""
    for path in _OURS:
        if path in given:
            raise SpanftError(f"{path!r} differs by run: use --seed, --seeds, --data.")
    for split, reader in readers_of(config, data).items():
        change(config, f"paths.{split}", str(data.files[split]), _RUNNER)
        change(config, f"training.{split}_corpus", f"corpora.{split}", _RUNNER)
        change(config, f"corpora.{split}", reader, _RUNNER)


def _read(config: Config, data: Data) -> Docs:
    """Read the training and the dev data, by the columns of the config."""
    config, docs = interpolated(config), {}
    nlp = tokenizer_of(config)
    for split, path in data.files.items():
        columns = table_columns(config, split)
        examples = read_examples(nlp, str(path), config, split, columns)
        docs[split] = [example.reference for example in examples]
    return docs


def _fit(config: Config, task: Data, given: Mapping[str, Any], docs: Docs) -> None:
    """Set what `spanft init` sets for data, unless given; but without contrast.

    Arms with different spans can differ only in what is learned in the loop.
    """
    name = task.pipeline or ""
    examples = {x: (Example(doc, doc) for doc in y) for x, y in docs.items()}
    data = {x: summarize(y, name, str(task.files[x])) for x, y in examples.items()}
    fit_training(config, name, data, has_dev=True, contrast=False)
    for path in given:
        if not path.startswith("paths."):
            change(config, path, given[path], _RUNNER)


def _set_steps(
    config: Config, given: Mapping[str, Any], n_docs: int, epochs: int | None
) -> None:
    """Set the number of steps, and how often the dev data is scored, unless given.

    A file that has a number of steps keeps it.
    """
    is_own = "training.max_steps" not in given
    if epochs is None and is_own and config["training"].get("max_steps"):
        return
    batcher = config["training"].get("batcher")
    is_dict = isinstance(batcher, dict)
    size: Any = batcher.get("size") if is_dict else None
    is_right = is_dict and batcher.get("@batchers") == _BATCHER
    is_right = is_right and isinstance(size, int) and size > 0
    expected = f"a number of texts: use {_BATCHER}"
    check_setting("[training.batcher] size", size, is_right, expected)
    epochs = fitting_epochs(config, n_docs) if epochs is None else epochs
    # spaCy accumulates gradients over parts of a batch, not over several.
    steps = given.get("training.max_steps", epochs * ceil(n_docs / size))
    # What the configs call before training fits both to epochs and the last step.
    settings = {
        "training.max_steps": steps,
        "training.eval_frequency": max(1, steps // _N_EVALUATIONS),
        "training.max_epochs": 0,
    }
    for path in settings.keys() - given:
        change(config, path, settings[path], _RUNNER)


def _set_lengths(config: Config, docs: list[Doc]) -> None:
    """Draw random spans of the lengths of n-grams: only their positions differ."""
    segmenter = config["components"].get(SEGMENTER, {}).get("segmenter", {})
    is_random = segmenter.get("@segmenters") == RANDOM_SEGMENTER
    if is_random and "lengths" not in segmenter:
        path = config["paths"].get("dictionary")
        ngrams = NgramDictionary.from_disk(path) if path else default_dictionary()
        lengths = piece_lengths(docs, ngrams)
        segmenter["lengths"] = [round(share, 4) for share in lengths]


def _check(config: Config, arm: str) -> None:
    """Raise for a config that spaCy would refuse, or whose encoder is missing."""
    config = interpolated(config)
    for block in config["components"].values():
        name = block.get("model", {}).get("name")
        if block.get("factory") in LISTENERS and isinstance(name, str):
            check_encoder(name)
    message = f"The config of arm {arm!r} is invalid"
    with reported(message, ValueError, ImportError, RegistryError):
        nlp = load_model_from_config(config, auto_fill=True)
        training = nlp.config.interpolate()["training"]
        registry.resolve(training, schema=ConfigSchemaTraining)


def fingerprint_of(config: Config, digests: dict[Path, str]) -> str:
    """Return a digest of a config, and of all files and folders that it names.

    digests (dict[Path, str]): Those digested before; the others are added.
    """
    plain = config.interpolate()
    digest = hashlib.sha256(plain.to_str().encode())
    for path in sorted(set(_paths(plain))):
        if path not in digests:
            digests[path] = digest_of(path)
        digest.update(digests[path].encode())
    return digest.hexdigest()


def _paths(config: Config) -> Iterator[Path]:
    for (*_, name), value in walk_dict(config):
        if not isinstance(value, str):
            continue
        # A word such as "en" does not name a folder, even if there is one.
        with suppress(OSError, ValueError):  # too long, or with a null character
            path = Path(value)
            is_path = ("/" in value or "\\" in value) and path.name  # not "/" alone
            if path.is_file() or ((name in _FOLDERS or is_path) and path.is_dir()):
                yield path
