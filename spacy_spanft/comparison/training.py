"""What a folder of training runs says: how long each took, and how it learnt.

Its layout is FOLDER/arms.json, which says what the last matrix consists of (whatever
else is there belongs to earlier ones, and is not looked at), and for each run
FOLDER/ARM/SEED/ with run.json, which is there as soon as the run is finished,
log.jsonl, as spaCy's ConsoleLogger writes it, and the pipeline in model/.
"""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import ComparisonError, Errors

_RUN, _LOG, _ARMS = "run.json", "log.jsonl", "arms.json"


class Training(NamedTuple):
    """A finished training run.

    arm (str): The arm it belongs to.
    seed (int): Its seed.
    seconds (float): How long it took.
    words_per_second (float): How many words it was trained with in a second.
    peak_memory (Optional[float]): The most memory it had, in MB, if known.
    curve (list[tuple[int, float]]): The score on the dev data after so many steps.
    """

    arm: str
    seed: int
    seconds: float
    words_per_second: float
    peak_memory: float | None
    curve: list[tuple[int, float]]


def read_trainings(folder: str | Path) -> list[Training]:
    """Read the finished runs of a folder.

    folder (Union[str, Path]): The folder.
    RETURNS (list[Training]): The runs, in the order of the arms, then of the seeds.
    """
    return [_training(run, arm) for arm, run in _finished(Path(folder))]


def arms_of(folder: str | Path) -> dict[str, list[Path]]:
    """Find the pipelines of the finished runs of a folder, for `compare`.

    folder (Union[str, Path]): The folder.
    RETURNS (dict[str, list[Path]]): The pipelines of each arm in the order of the
        seeds, the baseline first. An arm without a finished run is left out.
    """
    baseline = _arms(Path(folder))[0][0]
    found: dict[str, list[Path]] = {}
    for arm, run in _finished(Path(folder)):
        found.setdefault(arm, []).append(run / "model")
    if baseline not in found:
        message = Errors.NO_BASELINE.format(folder=str(folder), name=baseline)
        raise ComparisonError(message)
    return found


def notes_of(folder: str | Path) -> dict[str, str]:
    """Read what must be said of the arms of a folder.

    folder (Union[str, Path]): The folder.
    RETURNS (dict[str, str]): What must be said of each arm, where there is anything.
    """
    return _arms(Path(folder))[1]


def _finished(folder: Path) -> Iterator[tuple[str, Path]]:
    arms, _, own = _arms(folder)
    for arm in arms:
        runs = [path.parent for path in (folder / arm).glob(f"*/{_RUN}")]
        # 2 before 10.
        runs.sort(key=lambda run: (len(run.name), run.name))
        yield from ((arm, run) for run in runs if own is None or _is_own(run, own))


def _is_own(run: Path, own: dict[str, str]) -> bool:
    """Say whether a run is of the last matrix, with its settings and data."""
    expected = own.get(f"{run.parent.name}/{run.name}")
    values = _object(run / _RUN, _read(run / _RUN))
    return expected is not None and values.get("fingerprint") == expected


def _arms(folder: Path) -> tuple[list[str], dict[str, str], dict[str, str] | None]:
    """Read the names of the arms, their notes, and the runs, if these are known."""
    path = folder / _ARMS
    if not path.exists():
        raise ComparisonError(Errors.NO_RUNS.format(path=folder))
    values = _object(path, _read(path))
    arms = _value(path, values, "arms", _are_names, "a list of folders' names")
    strings = "an object of strings"
    notes = _value(path, {"notes": {}, **values}, "notes", _are_notes, strings)
    own = (
        _value(path, values, "runs", _are_notes, strings) if "runs" in values else None
    )
    return arms, notes, own


def _training(run: Path, arm: str) -> Training:
    path = run / _RUN
    values = _object(path, _read(path))
    number = "a number of 0 or more"
    return Training(
        _value(path, values, "arm", arm.__eq__, f"{arm!r}, as its folder is"),
        _value(path, values, "seed", _is_whole, "a whole number"),
        float(_value(path, values, "seconds", _is_amount, number)),
        float(_value(path, values, "words_per_second", _is_amount, number)),
        _value(path, values, "peak_memory", _is_amount_or_none, f"{number}, or null"),
        list(_curve(run / _LOG)),
    )


def _curve(path: Path) -> Iterator[tuple[int, float]]:
    for line in _read(path).splitlines():
        if line.strip():
            values = _object(path, line)
            step = _value(path, values, "step", _is_whole, "a whole number")
            score = _value(path, values, "score", _is_number, "a number")
            yield step, float(score)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ComparisonError(
            Errors.BAD_RUNS.format(path=path, reason=reason)
        ) from error


def _object(path: Path, text: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ComparisonError(
            Errors.BAD_RUNS.format(path=path, reason=error)
        ) from error
    if not isinstance(values, dict):
        reason = f"{text.strip()[:40]!r} is no JSON object"
        raise ComparisonError(Errors.BAD_RUNS.format(path=path, reason=reason))
    return values


def _value(
    path: Path,
    values: dict[str, Any],
    key: str,
    is_right: Callable[[Any], bool],
    expected: str,
) -> Any:
    value = values.get(key)
    if key not in values or is_right(value) is not True:
        reason = f"{key!r} is {value!r}, but must be {expected}"
        if key not in values:
            reason = f"{key!r} is missing, which must be {expected}"
        raise ComparisonError(Errors.BAD_RUNS.format(path=path, reason=reason))
    return value


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return (_is_whole(value) or isinstance(value, float)) and math.isfinite(value)


def _is_amount(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _is_amount_or_none(value: Any) -> bool:
    return value is None or _is_amount(value)


def _are_names(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) > 0
        and all(isinstance(n, str) and n and Path(n).name == n for n in value)
        and len(set(value)) == len(value)
    )


def _are_notes(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
