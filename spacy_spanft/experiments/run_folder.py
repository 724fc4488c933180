"""The folders of an experiment: whether a run is done, and still the same run.

TASK/arms.json lists the arms and the fingerprints of all runs of the last experiment;
other runs in the folder are ignored. A run is TASK/ARM/SEED with run.json, which is
written last, log.jsonl (spaCy's ConsoleLogger), and the pipeline in model/. A run that
failed is TASK/ARM/SEED.failed.
"""

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import srsly
from confection import Config

from ..errors import ComparisonError, visible

State = Literal["done", "changed", "new"]

# Facts, written last; scores during the training; the pipeline; all output.
RESULT, SCORES, MODEL, LOG = "run.json", "log.jsonl", "model", "log.txt"
ARMS = "arms.json"
# Settings whose values may be folders.
_FOLDERS = {"path", "name", "transformer", "dictionary", "vectors", "source"}


class Training(NamedTuple):
    """A finished training run.

    seconds (float): How long it took.
    curve (list[tuple[int, float]]): The score on the dev data after so many steps.
    """

    arm: str
    seed: int
    seconds: float
    curve: list[tuple[int, float]]


class TaskRuns(NamedTuple):
    """The runs of an experiment on a task.

    arms (dict[str, list[Path]]): The pipelines of the finished runs of each arm, in
        the order of the arms, then of the seeds.
    notes (dict[str, str]): The notes on arms.
    trainings (list[Training]): How the finished runs were trained.
    missing (dict[str, str]): Why runs cannot be compared, by ARM/SEED.
    """

    arms: dict[str, list[Path]]
    notes: dict[str, str]
    trainings: list[Training]
    missing: dict[str, str]


def read_runs(folder: str | Path) -> TaskRuns:
    """Return the runs in a task's folder; the baseline must have a finished one."""
    folder = Path(folder)
    if not (folder / ARMS).exists():
        raise ComparisonError(
            f"{str(folder)!r} is not a folder of runs: it has no {ARMS}. Name the "
            f"folder of a task, such as training/cola."
        )
    facts = srsly.read_json(folder / ARMS)
    runs = TaskRuns({}, facts["notes"], [], {})
    names = [name.split("/") for name in facts["runs"]]
    order = facts["arms"].index
    for arm, seed in sorted(names, key=lambda name: (order(name[0]), int(name[1]))):
        run = folder / arm / seed
        if reason := _reason_missing(run, facts["runs"][f"{arm}/{seed}"]):
            runs.missing[f"{arm}/{seed}"] = reason
        else:
            runs.arms.setdefault(arm, []).append(run / MODEL)
            runs.trainings.append(_training(arm, run))
    if facts["arms"][0] not in runs.arms:
        raise ComparisonError(
            f"{str(folder)!r} has no finished run of {facts['arms'][0]!r}, the first "
            f"arm, which the others are compared with."
        )
    return runs


def _reason_missing(run: Path, fingerprint: str) -> str:
    state = state_of(run, fingerprint)
    failed = run.with_name(f"{run.name}.failed")
    if state == "done":
        return ""
    if failed.is_dir():
        return f"failed: {visible(last_error(failed / LOG)).rstrip('.')}"
    if state == "changed":
        return "trained with other settings or data than the last experiment"
    return "not trained, or not to the end"


def _training(arm: str, run: Path) -> Training:
    facts = srsly.read_json(run / RESULT)
    curve = [(row["step"], row["score"]) for row in srsly.read_jsonl(run / SCORES)]
    return Training(arm, facts["seed"], facts["seconds"], curve)


def last_error(log: Path) -> str:
    """Return the last line of a log, which of a failed run is the error."""
    try:
        lines = log.read_text("utf8", errors="replace").split("\n")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def state_of(folder: Path, fingerprint: str) -> State:
    """Return whether a run is done, perhaps with other settings or files."""
    try:
        is_same = srsly.read_json(folder / RESULT)["fingerprint"] == fingerprint
    except (OSError, ValueError, TypeError, KeyError):
        return "new"
    if not (folder / MODEL).is_dir():
        return "new"
    return "done" if is_same else "changed"


def fingerprint_of(config: Config) -> str:
    """Return a digest of a config, and of all files and folders that it names."""
    plain = config.interpolate()
    digest = hashlib.sha256(plain.to_str().encode())
    for path in sorted(set(_paths(plain))):
        digest.update(_digest(str(path), _stats(path)))
    return digest.hexdigest()


def _paths(value: Any, name: str = "") -> Iterator[Path]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _paths(inner, key)
    elif isinstance(value, str):
        path = Path(value)
        # A word such as "en" does not name a folder, even if there is one.
        may_be_folder = name in _FOLDERS or "/" in value or "\\" in value
        try:
            if path.is_file() or (may_be_folder and path.is_dir()):
                yield path
        except (OSError, ValueError):  # too long, or with a null character
            return


def _stats(path: Path) -> tuple[tuple[str, int, int], ...]:
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    stats = [(str(f), f.stat()) for f in files if f.is_file()]
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


@cache
def _digest(path: str, stats: tuple[tuple[str, int, int], ...]) -> bytes:
    """Digest the names and contents of files; `stats` tells when they change."""
    digest = hashlib.sha256()
    for name, size, _ in stats:
        digest.update(f"{Path(name).relative_to(path)} {size} ".encode())
        with open(name, "rb") as file:
            while block := file.read(2**20):
                digest.update(block)
    return digest.digest()
