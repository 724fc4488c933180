"""Which runs of a matrix are there to be compared, and which are missing.

The layout of a task's folder is FOLDER/arms.json, which says what the last matrix
consists of (whatever else is there belongs to earlier ones, and is not looked at), and
for each run FOLDER/ARM/SEED/ with run.json, which is there as soon as the run is
finished, and the pipeline in model/. A run that failed lies in FOLDER/ARM/SEED.failed.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import ComparisonError, Errors, without_code
from ...errors.visible import visible
from ...util.facts import are_strings, read_text, to_object, value_of

RUN = "run.json"
_ARMS, _MODEL, _LOG = "arms.json", "model", "log.txt"
_N_NAMED = 8


class MissingRun(NamedTuple):
    """A run that a matrix should have done, and that cannot be compared.

    reason (str): Why it is missing.
    """

    arm: str
    seed: str
    reason: str


class Missing(NamedTuple):
    """What is missing of a matrix.

    n_runs (int): How many runs it has in all.
    runs (list[MissingRun]): Those that are missing.
    arms (list[str]): The arms that no run is left of.
    """

    n_runs: int = 0
    runs: list[MissingRun] = []  # noqa: RUF012 (never written to)
    arms: list[str] = []  # noqa: RUF012

    def told(self) -> list[str]:
        """Say what is missing, without the reasons.

        RETURNS (list[str]): Sentences; none if nothing is missing.
        """
        said = []
        if self.runs:
            names = _listed([f"{run.arm}/{run.seed}" for run in self.runs])
            are = "are" if self.n_runs > 1 else "is"
            runs = f"{self.n_runs} run{'s' if self.n_runs > 1 else ''}"
            said.append(f"{len(self.runs)} of {runs} {are} missing: {names}.")
        if self.arms:
            said.append(f"Arms without a finished run: {_listed(self.arms)}.")
        return said

    def reasons(self) -> list[str]:
        """Say why runs are missing, each reason once.

        RETURNS (list[str]): Sentences.
        """
        found: dict[str, list[str]] = {}
        for run in self.runs:
            found.setdefault(run.reason, []).append(f"{run.arm}/{run.seed}")
        return [f"{_listed(names)}: {why}." for why, names in found.items()]


class _Matrix(NamedTuple):
    """What arms.json says: arms, notes, and, if known, the fingerprints of runs."""

    folder: Path
    arms: list[str]
    notes: dict[str, str]
    own: dict[str, str] | None


def arms_of(folder: str | Path) -> dict[str, list[Path]]:
    """Find the pipelines of the finished runs of a folder, for `compare`.

    RETURNS (dict[str, list[Path]]): The pipelines of each arm in the order of the
        seeds, the baseline first. An arm without a finished run is left out.
    """
    baseline = _read(folder).arms[0]
    found: dict[str, list[Path]] = {}
    for arm, run in finished(folder):
        found.setdefault(arm, []).append(run / _MODEL)
    if baseline not in found:
        message = Errors.NO_BASELINE.format(folder=str(folder), name=baseline)
        raise ComparisonError(message)
    return found


def notes_of(folder: str | Path) -> dict[str, str]:
    """Read what must be said of the arms of a folder.

    RETURNS (dict[str, str]): What must be said of each arm, where there is anything.
    """
    return _read(folder).notes


def finished(folder: str | Path) -> list[tuple[str, Path]]:
    """Find the runs that can be compared.

    RETURNS (list[tuple[str, Path]]): The arm and the folder of each, in the order of
        the arms, then of the seeds.
    """
    matrix = _read(folder)
    return [(arm, run) for arm, run in _runs(matrix) if _fault(run, matrix.own) is None]


def missing_of(folder: str | Path) -> Missing:
    """Find the runs that should be there, and cannot be compared.

    RETURNS (Missing): What is missing, and why.
    """
    matrix = _read(folder)
    runs = list(_runs(matrix))
    faults = [(arm, run, _fault(run, matrix.own)) for arm, run in runs]
    gone = [MissingRun(a, run.name, why) for a, run, why in faults if why is not None]
    there = {arm for arm, _, why in faults if why is None}
    return Missing(len(runs), gone, [arm for arm in matrix.arms if arm not in there])


def _runs(matrix: _Matrix) -> Iterator[tuple[str, Path]]:
    """Give the runs of the matrix; if it does not say which, those that are there."""
    for arm in matrix.arms:
        folder = matrix.folder / arm
        if matrix.own is None:
            runs = [path.parent for path in folder.glob(f"*/{RUN}")]
        else:
            names = (name.partition("/") for name in matrix.own)
            runs = [folder / seed for own, _, seed in names if own == arm]
        # 2 before 10.
        for run in sorted(runs, key=lambda run: (len(run.name), run.name)):
            yield arm, run


def _fault(run: Path, own: dict[str, str] | None) -> str | None:
    """Say why a run cannot be compared; None if it can."""
    path = run / RUN
    fault = None
    if not path.exists():
        fault = "not trained, or not to the end"
    elif own is not None:
        fault = _stranger(path, own[f"{run.parent.name}/{run.name}"])
    failed = run.with_name(f"{run.name}.failed")
    if fault is not None and failed.is_dir():
        return f"failed: {_error_of(failed)}"
    if fault is None and not (run / _MODEL).is_dir():
        return f"the pipeline is gone, as there is no folder {_MODEL} beside {RUN}"
    return fault


def _stranger(path: Path, fingerprint: str) -> str | None:
    """Say why what was run is not the run of the last matrix; None if it is."""
    try:
        values = to_object(path, read_text(path))
    except ComparisonError as error:
        return without_code(error).rstrip(".")
    if values.get("fingerprint") == fingerprint:
        return None
    return "trained with other settings or data than the last matrix has"


def _error_of(folder: Path) -> str:
    from ..matrix.running import last_error

    said = visible(last_error(folder / _LOG))
    return said.rstrip(".") or f"there is nothing in {folder / _LOG}"


def _read(folder: str | Path) -> _Matrix:
    """Read arms.json."""
    path = Path(folder) / _ARMS
    if not path.exists():
        raise ComparisonError(Errors.NO_RUNS.format(path=folder))
    values = to_object(path, read_text(path))
    arms = value_of(path, values, "arms", _are_names, "a list of folders' names")
    strings = "an object of strings"
    notes = value_of(path, {"notes": {}, **values}, "notes", are_strings, strings)
    if "runs" not in values:
        return _Matrix(Path(folder), arms, notes, None)

    def are_runs(value: Any) -> bool:
        return are_strings(value) and all(_is_run(name, arms) for name in value)

    expected = "an object of strings, each named ARM/SEED"
    own = value_of(path, values, "runs", are_runs, expected)
    return _Matrix(Path(folder), arms, notes, own)


def _is_run(name: str, arms: list[str]) -> bool:
    arm, _, seed = name.partition("/")
    return arm in arms and _is_name(seed)


def _is_name(value: Any) -> bool:
    # It becomes a part of a path.
    is_plain = isinstance(value, str) and value not in ("", "..") and "\0" not in value
    return is_plain and Path(value).name == value


def _are_names(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) > 0
        and all(_is_name(name) for name in value)
        and len(set(value)) == len(value)
    )


def _listed(names: list[str]) -> str:
    more = len(names) - _N_NAMED
    return ", ".join(names[:_N_NAMED]) + (f" and {more} more" if more > 0 else "")
