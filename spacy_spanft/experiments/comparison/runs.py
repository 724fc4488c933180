"""The folder of an experiment's task: which runs are finished, and which are missing.

FOLDER/arms.json lists the arms and the fingerprints of all runs of the last experiment;
other runs in the folder are ignored. A run is FOLDER/ARM/SEED with run.json, which is
written last, log.jsonl (spaCy's ConsoleLogger), and the pipeline in model/. A run that
failed is FOLDER/ARM/SEED.failed.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import srsly

from ...errors import ComparisonError, visible

RUN = "run.json"
_ARMS, _MODEL, _LOG, _CURVE = "arms.json", "model", "log.txt", "log.jsonl"
_N_NAMED = 8


class MissingRun(NamedTuple):
    """A run that cannot be compared, and why."""

    arm: str
    seed: str
    reason: str


class Missing(NamedTuple):
    """The missing runs of an experiment.

    n_runs (int): How many runs it has in all.
    runs (list[MissingRun]): Those that are missing.
    arms (list[str]): The arms without any finished run.
    """

    n_runs: int = 0
    runs: list[MissingRun] = []  # noqa: RUF012 (never written to)
    arms: list[str] = []  # noqa: RUF012

    def told(self) -> list[str]:
        """Return sentences that name the missing runs; none if all are there."""
        sentences = []
        if self.runs:
            names = _listed([f"{run.arm}/{run.seed}" for run in self.runs])
            sentences.append(
                f"Missing runs: {len(self.runs)} of {self.n_runs}: {names}."
            )
        if self.arms:
            sentences.append(f"Arms without a finished run: {_listed(self.arms)}.")
        return sentences

    def reasons(self) -> list[str]:
        """Return each reason once, with the runs that it holds for."""
        names: dict[str, list[str]] = {}
        for run in self.runs:
            names.setdefault(run.reason, []).append(f"{run.arm}/{run.seed}")
        return [f"{_listed(runs)}: {reason}." for reason, runs in names.items()]


class Training(NamedTuple):
    """A finished training run.

    seconds (float): How long it took.
    words_per_second (float): How many words it was trained with in a second.
    peak_memory (Optional[float]): In MB, if known.
    curve (list[tuple[int, float]]): The score on the dev data after so many steps.
    """

    arm: str
    seed: int
    seconds: float
    words_per_second: float
    peak_memory: float | None
    curve: list[tuple[int, float]]


class _Folder(NamedTuple):
    """The contents of arms.json."""

    path: Path
    arms: list[str]
    notes: dict[str, str]
    fingerprints: dict[str, str]


def arms_of(folder: str | Path) -> dict[str, list[Path]]:
    """Return the pipelines of the finished runs of each arm, for `compare`.

    RETURNS (dict[str, list[Path]]): In the order of the arms, then of the seeds; arms
        without a finished run are left out, and the baseline must have one.
    """
    baseline = _read(folder).arms[0]
    arms: dict[str, list[Path]] = {}
    for arm, run in _finished(folder):
        arms.setdefault(arm, []).append(run / _MODEL)
    if baseline not in arms:
        raise ComparisonError(
            f"{str(folder)!r} has no finished run of {baseline!r}, the first arm, "
            f"which the others are compared with."
        )
    return arms


def notes_of(folder: str | Path) -> dict[str, str]:
    """Return the notes on the arms."""
    return _read(folder).notes


def missing_of(folder: str | Path) -> Missing:
    """Return the runs that should be there and cannot be compared."""
    contents = _read(folder)
    faults = [(arm, run, _fault(run, contents)) for arm, run in _runs(contents)]
    missing = [MissingRun(arm, run.name, why) for arm, run, why in faults if why]
    complete = {arm for arm, _, why in faults if not why}
    empty = [arm for arm in contents.arms if arm not in complete]
    return Missing(len(faults), missing, empty)


def read_trainings(folder: str | Path) -> list[Training]:
    """Return how the finished runs were trained, by arm, then by seed."""
    return [_training(arm, run) for arm, run in _finished(folder)]


def _training(arm: str, run: Path) -> Training:
    values = srsly.read_json(run / RUN)
    curve = [(row["step"], row["score"]) for row in srsly.read_jsonl(run / _CURVE)]
    seconds, speed = values["seconds"], values["words_per_second"]
    return Training(arm, values["seed"], seconds, speed, values["peak_memory"], curve)


def _finished(folder: str | Path) -> list[tuple[str, Path]]:
    contents = _read(folder)
    return [(arm, run) for arm, run in _runs(contents) if not _fault(run, contents)]


def _runs(folder: _Folder) -> Iterator[tuple[str, Path]]:
    for arm in folder.arms:
        names = (name.partition("/") for name in folder.fingerprints)
        seeds = [seed for of_arm, _, seed in names if of_arm == arm]
        for seed in sorted(seeds, key=lambda seed: (len(seed), seed)):  # 2 before 10
            yield arm, folder.path / arm / seed


def _fault(run: Path, folder: _Folder) -> str:
    """Return why a run cannot be compared; "" if it can."""
    fault, name = "", f"{run.parent.name}/{run.name}"
    if not (run / RUN).exists():
        fault = "not trained, or not to the end"
    elif srsly.read_json(run / RUN)["fingerprint"] != folder.fingerprints[name]:
        fault = "trained with other settings or data than the last experiment"
    failed = run.with_name(f"{run.name}.failed")
    if fault and failed.is_dir():
        return f"failed: {_last_error(failed)}"
    if not fault and not (run / _MODEL).is_dir():
        return f"the pipeline is gone: there is no folder {_MODEL} beside {RUN}"
    return fault


def _last_error(folder: Path) -> str:
    from ..matrix.running import last_error

    message = visible(last_error(folder / _LOG))
    return message.rstrip(".") or f"{folder / _LOG} is empty"


def _read(folder: str | Path) -> _Folder:
    path = Path(folder) / _ARMS
    if not path.exists():
        raise ComparisonError(
            f"{str(folder)!r} is not a folder of runs: it has no {_ARMS}. Name the "
            f"folder of a task, such as training/cola."
        )
    values = srsly.read_json(path)
    return _Folder(Path(folder), values["arms"], values["notes"], values["runs"])


def _listed(names: list[str]) -> str:
    more = len(names) - _N_NAMED
    return ", ".join(names[:_N_NAMED]) + (f" and {more} more" if more > 0 else "")
