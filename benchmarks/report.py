"""What a benchmark found: a table to read, and a record for `benchmarks.speed`."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from wasabi.tables import table

from .harness import Run

# Where `benchmarks.speed` wants the records of the benchmark that it runs.
RECORD_TO = "SPANFT_RECORD_TO"
Values = Mapping[str, Sequence[float]]


def report(
    what: str, unit: str, values: Values, ours: str, missing: Sequence[str] = ()
) -> None:
    """Print medians, spreads, and each contestant's ratio to ours, turn by turn.

    what (str): What was measured, such as "training step".
    unit (str): "s", "MB" or "s/token".
    values (Mapping[str, Sequence[float]]): What each took, turn by turn.
    ours (str): The name of our contestant.
    missing (Sequence[str]): Those that could not be measured; their rows are empty.
    """
    rows = [row_of(name, own, values[ours], unit) for name, own in values.items()]
    rows += [(name, "", "", "", "") for name in missing if name not in values]
    header = (what, "median", "min-max", "/ ours", "min-max")
    print(table(rows, header=header, divider=True, aligns=("l", *"rrrr")))
    if path := os.environ.get(RECORD_TO):
        record = {"what": what, "unit": unit, "values": dict(values)}
        with Path(path).open("a", encoding="utf8") as file:
            file.write(json.dumps(record) + "\n")


def report_runs(
    runs: Mapping[str, list[Run]], ours: str, missing: Sequence[str] = ()
) -> None:
    """Print what runs in processes of their own took: time, and the largest memory.

    runs (Mapping[str, list[Run]]): What `in_turns` gave.
    ours (str): The name of our contestant.
    missing (Sequence[str]): Those that could not be measured.
    """
    times = {name: [run.seconds for run in own] for name, own in runs.items()}
    report("time", "s", times, ours, missing)
    sizes = {name: [run.megabytes for run in own] for name, own in runs.items()}
    report("memory", "MB", sizes, ours, missing)


def row_of(
    name: str, own: Sequence[float], ours: Sequence[float], unit: str
) -> tuple[str, ...]:
    """Make a row of the table; of what broke off there is nothing to show."""
    if not own:
        return name, "", "", "", ""
    shown = [show(one, unit) for one in (median(own), min(own), max(own))]
    ratios = ratios_of(own, ours)
    cells = [number(one(ratios)) for one in (median, min, max) if ratios] or [""] * 3
    return name, shown[0], "-".join(shown[1:]), cells[0], "-".join(cells[1:])


def ratios_of(theirs: Sequence[float], ours: Sequence[float]) -> list[float]:
    """Give the ratio of each turn; those that were left out have none.

    theirs (Sequence[float]): What a contestant took, turn by turn.
    ours (Sequence[float]): What ours took.
    RETURNS (list[float]): The ratios.
    """
    return [a / b for a, b in zip(theirs, ours, strict=False) if b]


def number(value: float) -> str:
    """Write a ratio with two or three digits that count."""
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def show(value: float, unit: str) -> str:
    """Write a quantity in a unit that fits its size.

    value (float): The quantity.
    unit (str): "s", "MB" or "s/token"; the last is shown as tokens a second.
    RETURNS (str): Such as "4.8 s".
    """
    if unit == "s/token":
        return f"{1e-6 / value:.3g}M tokens/s"
    if unit == "MB":
        return f"{value:,.0f} MB"
    if value < 1:
        return f"{1000 * value:.3g} ms"
    return f"{value:.1f} s" if value < 100 else f"{value:,.0f} s"
