"""Tables of what was done: means over seeds, differences, and the time that is left."""

from collections.abc import Sequence
from math import sqrt
from statistics import mean, median, stdev
from typing import Any

from wasabi.tables import table

from .arms import BASELINE, REGIMES, main_regime
from .choices import EPOCHS
from .tasks import TASKS

Run = dict[str, Any]
Key = tuple[str, int, str, str]
HEADER = ("task", "size", "arm", "regime", "metric", "n", "mean ± sd")


def results_table(done: Sequence[Run], metrics: str = "main") -> str:
    """Draw a table of all arms, with their differences from the encoder alone.

    done (Sequence[Run]): The runs.
    metrics (str): "main" for the first metric of each task, or "all".
    RETURNS (str): The table. A difference is that of runs with the same seed, with its
        interval of 95% by t over seeds.
    """
    groups = _grouped(done)
    rows = []
    for key in sorted(groups, key=_place):
        task, size, *_ = key
        base = _baseline(groups, task, size)
        names = TASKS[task].metrics
        for metric in names if metrics == "all" else names[:1]:
            own = {seed: 100 * run[metric] for seed, run in groups[key].items()}
            other = {seed: 100 * run[metric] for seed, run in base.items()}
            cells = (len(own), spread(list(own.values())))
            cell = "" if groups[key] is base else difference(own, other)
            rows.append((*key, metric, *cells, cell))
    return str(table(rows, header=(*HEADER, f"- {BASELINE} (95%)"), divider=True))


def difference(own: dict[int, float], base: dict[int, float]) -> str:
    """Write the mean difference of two arms, paired by seed, with its interval."""
    pairs = [own[seed] - base[seed] for seed in own if seed in base]
    if not pairs:
        return ""
    if len(pairs) == 1:
        return f"{pairs[0]:+.1f} (n = 1)"
    low, high = interval(pairs)
    return f"{mean(pairs):+.1f} ({low:+.1f} to {high:+.1f}, n = {len(pairs)})"


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Compute the interval of 95% of a mean, by t."""
    from scipy import stats

    half = stats.t.ppf(0.975, len(values) - 1) * stdev(values) / sqrt(len(values))
    return mean(values) - half, mean(values) + half


def over_tasks(done: Sequence[Run]) -> str:
    """Draw a table of the differences from the encoder alone, all tasks together.

    A seed's difference is the mean over the tasks that both arms have with that seed; a
    seed that lacks a task is left out. Each task is taken in its main regime.
    """
    groups = _grouped(done)
    rows = []
    for size, arm in dict.fromkeys((key[1], key[2]) for key in groups):
        keys = [(t, size, arm, main_regime(task)) for t, task in TASKS.items()]
        tasks = [key[0] for key in keys if key in groups]
        own = [groups[key] for key in keys if key in groups]
        if not own or arm == BASELINE:
            continue
        base = [_baseline(groups, t, size) for t in tasks]
        seeds = set.intersection(*map(set, own), *map(set, base))
        means = [
            mean(
                100 * (a[seed][TASKS[t].metrics[0]] - b[seed][TASKS[t].metrics[0]])
                for t, a, b in zip(tasks, own, base, strict=True)
            )
            for seed in sorted(seeds)
        ]
        zeros = dict.fromkeys(range(len(means)), 0.0)
        cell = difference(dict(enumerate(means)), zeros)
        rows.append((size, arm, len(tasks), cell))
    header = ("size", "arm", "tasks", f"- {BASELINE} (95%)")
    return str(table(sorted(rows), header=header, divider=True))


def plan_table(wanted: Sequence[Run], done: Sequence[Run]) -> str:
    """Draw a table of the seconds of a run, and the hours of all that are left.

    wanted (Sequence[Run]): All runs.
    done (Sequence[Run]): Those that were done, whose seconds of a core are known.
    RETURNS (str): The table. What no run tells is taken from other sizes.
    """
    rows: list[tuple[Any, ...]] = []
    total, is_unknown = 0.0, False
    for task, size in dict.fromkeys((run["task"], run["size"]) for run in wanted):
        own = [r for r in wanted if (r["task"], r["size"]) == (task, size)]
        left = [r for r in own if not any(r.items() <= one.items() for one in done)]
        seconds = _seconds(task, size, done)
        total += seconds * len(left)
        hours = f"{seconds * len(left) / 3600:.1f}" if seconds or not left else "?"
        is_unknown |= hours == "?"
        cells = (len(own), len(left), f"{seconds:.0f}" if seconds else "?", hours)
        rows.append((task, size, *cells))
    hours = "?" if is_unknown else f"{total / 3600:.1f}"
    rows.append(("all", "", len(wanted), "", "", hours))
    header = ("task", "size", "runs", "left", "seconds a run", "hours of a core left")
    return str(table(rows, header=header, divider=True))


def _seconds(task: str, size: int, done: Sequence[Run]) -> float:
    """Estimate the seconds of a core: the median of other arms, or of other sizes."""
    own = [run for run in done if run["task"] == task and "cpu_seconds" in run]
    same = [run["cpu_seconds"] for run in own if run["size"] == size]
    if same:
        return median(same)
    texts = EPOCHS[size] * size
    return median(
        [r["cpu_seconds"] * texts / (r["epochs"] * r["size"]) for r in own] or [0.0]
    )


def _grouped(done: Sequence[Run]) -> dict[Key, dict[int, Run]]:
    groups: dict[Key, dict[int, Run]] = {}
    for run in done:
        key = (run["task"], run["size"], run["arm"], run["regime"])
        groups.setdefault(key, {})[run["seed"]] = run
    return groups


def _baseline(groups: dict[Key, dict[int, Run]], task: str, size: int) -> Any:
    return groups.get((task, size, BASELINE, main_regime(TASKS[task])), {})


def _place(key: Key) -> tuple[Any, ...]:
    task, size, arm, regime = key
    return [*TASKS].index(task), size, REGIMES.index(regime), arm != BASELINE, arm


def spread(values: list[float]) -> str:
    """Write a mean and its standard deviation, if there are several values."""
    spread = f" ± {stdev(values):.1f}" if len(values) > 1 else ""
    return f"{mean(values):.1f}{spread}"
