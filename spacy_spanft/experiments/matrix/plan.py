"""Which runs there are, and what each one trains."""

import sys
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from confection import Config

from ...configs import TASKS, guess_task
from ...configs.reading import interpolated
from ...configs.sources import COLUMNS
from ...errors import Errors, SpanftError, Warnings, shown
from ...errors.visible import visible
from .arms import ArmConfig, Pipeline, change, config_of
from .data import PARTS, Data, find_data, read_with, sizes_of
from .fingerprint import fingerprint
from .names import fault_of, same_folder
from .registered import check_names
from .resolving import Resolver
from .result import SCORES, State, state_of
from .settings_check import check_settings
from .steps import RUNNER, n_epochs, set_steps

# What nobody else may set, as it is what tells the runs apart.
OWN = ("system.seed", "training.seed", "paths.train", "paths.dev", "training.logger")
# What NumPy takes for a seed.
MAX_SEED = 2**32 - 1


class Run(NamedTuple):
    """A training to do.

    task (str): The task: the name of its data's folder.
    arm (str): The arm.
    seed (int): The seed.
    folder (Path): Where its config, log, scores and pipeline go.
    config (Config): Its config.
    n_words (int): How many words it is trained on, all epochs together.
    fingerprint (str): Tells it from what was run with other settings or files.
    note (str): What must be said of the arm beside its scores.
    """

    task: str
    arm: str
    seed: int
    folder: Path
    config: Config
    n_words: int
    fingerprint: str
    note: str = ""

    @property
    def state(self) -> State:
        """Say whether it was done: "done", "changed", "damaged" or "new"."""
        return state_of(self.folder, self.fingerprint)


def _source(
    configs: str | Path | None, pipeline: str | None, data: Data
) -> Pipeline | Path:
    """Find the configs for some data: what nobody says, its task.json does."""
    if configs is None:
        name = pipeline or data.pipeline or _guessed(data)
        if name not in TASKS:
            text = {"name": shown(name), "data": data.folder, "known": ", ".join(TASKS)}
            raise SpanftError(Errors.NO_PIPELINE_OF.format(**text))
        tables = [path for path in data.files.values() if path.suffix != ".spacy"]
        if tables and name not in COLUMNS:
            path = str(tables[0])
            raise SpanftError(Errors.NO_READER_FOR.format(path=path, task=name))
        return Pipeline(name)
    if pipeline is not None:
        raise SpanftError(Errors.TWO_SOURCES)
    if not Path(configs).is_dir():
        return Path(configs)
    if data.config is None:
        place = {"path": configs, "data": data.folder}
        raise SpanftError(Errors.WHICH_CONFIGS.format(**place))
    return Path(configs) / data.config


def _guessed(data: Data) -> str:
    """Tell from the training data what is trained on it, and say so."""
    columns = {key: value for key, value in data.columns.items() if value is not None}
    columns.pop("labels", None)
    path = str(data.files["train"])
    name = guess_task(path, columns, "en")
    print(f"ℹ Detected from {visible(path)}: --pipeline {name}", file=sys.stderr)
    return name


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
    """Plan a matrix: all arms of one seed, then those of the next one.

    arms (Sequence[ArmConfig]): The arms.
    data (Sequence[Union[str, Path]]): Of each task the folder with its train and dev
        data: .spacy files or tables, see `find_data`.
    output (Union[str, Path]): Where the runs go: OUTPUT/TASK/ARM/SEED.
    pipeline (Optional[str]): What is trained, as `spanft init --pipeline` calls it;
        None takes what task.json in the folder of the data says, or what the data are
        for.
    configs (Optional[Union[str, Path]]): In the place of that, configs of one's own:
        "configs/textcat" for configs/textcat_baseline.cfg and
        configs/textcat_spanft.cfg, or "configs" if task.json says which.
    nltk_data (Optional[Path]): Data for NLTK, where it has none of its own.
    seeds (Sequence[int]): The seeds.
    epochs (Optional[int]): How often a training sees each text; None takes three times,
        and more for few texts, as `spanft init` does.
    overrides (Optional[Mapping[str, Any]]): Settings for all configs, with dots.
    RETURNS (list[Run]): The runs.
    """
    if epochs is not None and epochs < 1:
        raise SpanftError(Errors.BAD_OPTION.format(option="--epochs", value=epochs))
    _check_seeds(seeds)
    _check_path(output)
    tasks = _tasks(data)
    given = dict(overrides or {})
    resolve = Resolver(given.get("paths.dictionary"), nltk_data)
    plans: dict[tuple[str, str], _Plan] = {}
    for name, task in tasks.items():
        source = _source(configs, pipeline, task)
        for arm in arms:
            plans[name, arm.name] = _plan(arm, task, source, resolve)
    _override([plan.config for plan in plans.values()], given)
    sizes: dict[str, list[int]] = {}
    for plan in plans.values():
        plan.n_words = _set_up(plan, given, epochs, sizes)
    runs = [
        _run(plans[name, arm.name], name, seed, Path(output))
        for name, seed, arm in product(tasks, seeds, arms)
    ]
    _warn_same(runs)
    return runs


@dataclass
class _Plan:
    """How an arm is trained on a task, whatever the seed."""

    arm: ArmConfig
    data: Data
    config: Config
    n_words: int = 0


def _plan(
    arm: ArmConfig, data: Data, source: Pipeline | Path, resolve: Resolver
) -> _Plan:
    """Make the config of an arm, with what it leaves open until its data are known."""
    reader = read_with(config_of(arm, source), data)["train"]
    resolved = resolve(arm, data, reader)
    return _Plan(resolved, data, config_of(resolved, source))


def _run(plan: _Plan, task: str, seed: int, output: Path) -> Run:
    """Give a plan its seed and its folder."""
    config, arm = plan.config.copy(), plan.arm
    change(config, "system.seed", seed, RUNNER)
    folder = output / task / arm.name / str(seed)
    # Where it is written to makes no difference.
    digest = fingerprint(config)
    change(config, "training.logger", _logger(folder), RUNNER)
    return Run(task, arm.name, seed, folder, config, plan.n_words, digest, arm.note)


def _warn_same(runs: Sequence[Run]) -> None:
    """Warn of arms that train the same; the seed is a part of what is digested."""
    known: dict[str, str] = {}
    same = {
        (one, run.arm)
        for run in runs
        if (one := known.setdefault(run.fingerprint, run.arm)) != run.arm
    }
    for one, other in sorted(same):
        text = Warnings.SAME_ARMS.format(one=one, other=other)
        warnings.warn(text, stacklevel=3)


def _tasks(folders: Sequence[str | Path]) -> dict[str, Data]:
    """Find the data of all tasks, by the names that their runs' folders get."""
    names = [Path(folder).resolve().name for folder in folders]
    if pair := same_folder(names):
        raise SpanftError(Errors.SAME_DATA.format(name=pair[1]))
    for name, folder in zip(names, folders, strict=True):
        _check_path(folder)
        if (fault := fault_of(name)) is not None:
            raise SpanftError(Errors.BAD_TASK_NAME.format(name=shown(name), why=fault))
    return dict(zip(names, map(find_data, folders), strict=True))


def _check_path(path: str | Path) -> None:
    """Raise for a path that would be another one in a config."""
    if "${" in str(path):
        raise SpanftError(Errors.BAD_PATH.format(path=shown(str(path))))


def _check_seeds(seeds: Sequence[int]) -> None:
    if not seeds:
        raise SpanftError(Errors.BAD_OPTION.format(option="--seeds", value=len(seeds)))
    for seed in seeds:
        if not 0 <= seed <= MAX_SEED:
            raise SpanftError(Errors.BAD_SEED.format(value=seed, most=MAX_SEED))
    if len(set(seeds)) < len(seeds):
        raise SpanftError(Errors.SAME_SEED.format(seeds=shown(list(seeds))))


def _override(configs: Collection[Config], overrides: Mapping[str, Any]) -> None:
    """Change all configs as the command line says."""
    # A path that only some of them have is none that is misspelled.
    paths = {f"paths.{name}" for one in configs for name in one.get("paths", {})}
    for config in configs:
        for place, value in overrides.items():
            change(config, place, value, "the command line", paths)


def _set_up(
    plan: _Plan,
    overrides: Mapping[str, Any],
    epochs: int | None,
    sizes: dict[str, list[int]],
) -> int:
    """Let a config train on a task, and count the words that it will have seen."""
    config, task = plan.config, plan.data
    given = {**plan.arm.set, **overrides}
    for place in OWN:
        if place in given:
            raise SpanftError(Errors.RUNNER_SETS.format(place=place))
    for part, reader in read_with(config, task).items():
        change(config, f"paths.{part}", str(task.files[part]), RUNNER)
        change(config, f"corpora.{part}", reader, RUNNER)
    readers = interpolated(config)["corpora"]
    train, _ = (_sizes(readers[part], task.files[part], sizes) for part in PARTS)
    set_steps(config, given, len(train), epochs)
    plain, who = interpolated(config), f"the arm {plan.arm.name!r}"
    check_names(plain, who)
    check_settings(plain, who)
    return round(sum(train) * n_epochs(config, len(train)))


def _sizes(
    reader: dict[str, Any], file: Path, known: dict[str, list[int]]
) -> list[int]:
    """Count the words of texts once for all arms that read them alike."""
    key = repr(reader)
    if key not in known:
        known[key] = sizes_of(file, reader)
    return known[key]


def _logger(folder: Path) -> dict[str, Any]:
    return {
        "@loggers": "spacy.ConsoleLogger.v3",
        "progress_bar": None,
        "console_output": True,
        "output_file": str(folder / SCORES),
    }
