"""Print the table of a benchmark, and record it for `benchmarks.speed`."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from wasabi.tables import table

from .harness import Run

# The file in which `benchmarks.speed` wants the records of a benchmark.
RECORD_TO = "SPANFT_RECORD_TO"
Values = Mapping[str, Sequence[float]]


def report(
    what: str, unit: str, values: Values, ours: str, missing: Sequence[str] = ()
) -> None:
    """Print medians, ranges, and each contestant's ratio to ours, turn by turn.

    unit (str): "s", "MB" or "s/token".
    missing (Sequence[str]): Contestants that could not run; their rows are empty.
    """
    rows = [row_of(name, each, values[ours], unit) for name, each in values.items()]
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
    """Print the time and the peak memory of what `in_turns` returned."""
    times = {name: [run.seconds for run in each] for name, each in runs.items()}
    report("time", "s", times, ours, missing)
    sizes = {name: [run.megabytes for run in each] for name, each in runs.items()}
    report("memory", "MB", sizes, ours, missing)


def row_of(
    name: str, values: Sequence[float], ours: Sequence[float], unit: str
) -> tuple[str, ...]:
    """Return a row of the table; a contestant that failed has an empty one."""
    if not values:
        return name, "", "", "", ""
    shown = [show(of(values), unit) for of in (median, min, max)]
    ratios = ratios_of(values, ours)
    cells = [number(of(ratios)) for of in (median, min, max) if ratios] or [""] * 3
    return name, shown[0], "-".join(shown[1:]), cells[0], "-".join(cells[1:])


def ratios_of(theirs: Sequence[float], ours: Sequence[float]) -> list[float]:
    """Return the ratio of each turn that both have."""
    return [a / b for a, b in zip(theirs, ours, strict=False) if b]


def number(value: float) -> str:
    """Return a ratio with three significant digits."""
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def show(value: float, unit: str) -> str:
    """Return a quantity in a unit that fits it; "s/token" as tokens a second."""
    if unit == "s/token":
        return f"{1e-6 / value:.3g}M tokens/s"
    if unit == "MB":
        return f"{value:,.0f} MB"
    if value < 1:
        return f"{1000 * value:.3g} ms"
    return f"{value:.1f} s" if value < 100 else f"{value:,.0f} s"
