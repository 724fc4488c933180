"""The tables of few labels for the results page, of what is recorded so far."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from ..matrix import Run, read_recorded
from .arms import BASELINE, CHOSEN, MAIN_SIZE, TAUGHT, TRIED_PAIRS, main_regime
from .choices import (
    BRIEF_HEADS,
    SIZES,
    TEXT_HEADS,
    TOKEN_HEADS,
    is_chosen,
    read_choices,
)
from .names import COMPARED_BY, METRICS, NAMES, REGIME_NAMES
from .summary import difference, spread
from .tasks import TASKS

RECORDED = Path(__file__).parents[1] / "results"
SCORED_RUNS, TRIED_RUNS = "fewlabels.jsonl", "fewlabels_variants.jsonl"
SCORED = ("cnn", "random", "ngrams")
OTHER_CUTS = ("nltk", "task", "pmi", "ngrams", "no-cls")
Seeds = dict[int, float]


class Column(NamedTuple):
    """What a column of differences compares.

    arm (Callable[[str], str]): Gives the arm of a task.
    base (Callable[[str], str]): Gives the arm that it is compared with.
    """

    arm: Callable[[str], str]
    base: Callable[[str], str] = lambda _: BASELINE

    @classmethod
    def of(cls, arm: str, base: str = BASELINE) -> "Column":
        """Compare one arm with another one on all tasks."""
        return cls(lambda _: arm, lambda _: base)


def recorded(results: str) -> list[Run]:
    """Read the runs whose settings are those that were chosen.

    results (str): The file of the runs.
    RETURNS (list[Run]): The runs.
    """
    chosen = read_choices(RECORDED / "fewlabels.json")
    return [run for run in read_recorded(RECORDED / results) if is_chosen(run, chosen)]


def scored() -> Iterator[Sequence[str]]:
    """Compare the arms on dev data, for each size and task."""
    yield "labels", "task", "encoder alone", *(NAMES[arm] for arm in SCORED)
    yield from _sized([Column.of(arm) for arm in SCORED])


def chosen(part: str) -> Callable[[str], str]:
    """Name what did best on held-out data for each task, or one of its twins.

    part (str): A field of `Chosen`.
    RETURNS (Callable[[str], str]): Gives the arm of a task.
    """
    return lambda task: getattr(CHOSEN[TASKS[task].kind], part)


_OF_INIT = {"`init` − `init --no-spans`": Column(chosen("init"), chosen("no_spans"))}
_OF_SPANS = {
    "n-grams − no spans": Column(chosen("ngrams"), chosen("bare")),
    "n-grams − random spans": Column(chosen("ngrams"), chosen("random")),
}


def best() -> Iterator[Sequence[str]]:
    """Compare the best head over n-grams with its twins, on dev data."""
    columns = {
        "no spans": Column(chosen("bare")),
        "random spans": Column(chosen("random")),
        "n-grams": Column(chosen("ngrams")),
        **_OF_SPANS,
    }
    yield "labels", "task", "encoder alone", *columns
    yield from _sized([*columns.values()])


def compared() -> Iterator[Sequence[str]]:
    """Compare what the two texts of a pair are compared by."""
    arms = ("pair", "pair-random", "pair-drawn", "pair-words", "pair-ngrams")
    columns = {COMPARED_BY[arm]: Column.of(arm) for arm in arms}
    for base in ("pair-drawn", "pair-words"):
        name = f"n-grams − {COMPARED_BY[base]}"
        columns[name] = Column.of("pair-ngrams", base)
    yield "labels", *columns
    runs = recorded(SCORED_RUNS)
    for size in sorted(SIZES):
        own = [run for run in runs if run["size"] == size]
        cells = [over([_gains(own, "STS-B", one)]) for one in columns.values()]
        yield f"{size:,}", *cells


def by_kind() -> Iterator[Sequence[str]]:
    """Compare heads over tasks of a kind, and over all of them, for each size."""
    columns = {
        "the paper's head": Column.of("ngrams"),
        "`init`": Column(chosen("init")),
        **_OF_INIT,
        **_OF_SPANS,
    }
    yield "labels", "tasks", *columns
    runs = recorded(SCORED_RUNS)
    of_size = {
        size: own
        for size in sorted(SIZES)
        if (own := [run for run in runs if run["size"] == size])
    }
    sizes = {f"{size:,}": [size] for size in of_size}
    sizes |= {"all": [*of_size]} if len(of_size) > 1 else {}
    kinds = {name: [t for t in TASKS if TASKS[t].kind == name] for name in CHOSEN}
    groups = {", ".join(own): own for own in kinds.values()}
    # What the encoder was made for is told apart.
    groups |= {"all but STS-B": [t for t in TASKS if t != "STS-B"], "all": [*TASKS]}
    for (labels, some), (title, tasks) in product(sizes.items(), groups.items()):
        cells = [
            over([_gains(of_size[s], t, column) for s, t in product(some, tasks)])
            for column in columns.values()
        ]
        if {*cells} != {"-"}:
            yield labels, title, *cells


def other_cuts() -> Iterator[Sequence[str]]:
    """Compare what else cuts texts, and the paper's head without [CLS] or spans."""
    yield "task", *(NAMES[arm] for arm in OTHER_CUTS), "n-grams − NLTK's phrases"
    runs = [run for run in recorded(SCORED_RUNS) if run["size"] == MAIN_SIZE]
    columns = [
        *map(Column.of, OTHER_CUTS),
        Column.of("ngrams", "nltk"),
    ]
    for name, _, *cells in _rows(runs, columns):
        yield name, *cells


def every_metric() -> Iterator[Sequence[str]]:
    """Compare what `init` writes with the encoder alone in each metric of a task."""
    yield "labels", "task", "metric", "encoder alone", "`init`"
    runs = recorded(SCORED_RUNS)
    for size, (name, task) in product(sorted({r["size"] for r in runs}), TASKS.items()):
        own = [run for run in runs if run["size"] == size]
        for metric in task.metrics:
            both = (BASELINE, CHOSEN[task.kind].init)
            base, ours = (scores(own, name, arm, metric) for arm in both)
            if base.keys() & ours.keys():
                cells = spread_and_n(base), signed_difference(ours, base)
                yield f"{size:,}", name, METRICS[metric], *cells


def in_short() -> Iterator[Sequence[str]]:
    """Compare the paper's head, and what `init` writes, with the encoder alone."""
    columns = {
        "n-grams as in the paper": Column.of("ngrams"),
        "`init`": Column(chosen("init")),
        **_OF_INIT,
        "random spans": Column(chosen("random")),
        "n-grams": Column(chosen("ngrams")),
    }
    yield "", "encoder alone", *columns
    runs = recorded(SCORED_RUNS)
    own = [run for run in runs if run["size"] == MAIN_SIZE]
    for name, *cells in _rows(own, [*columns.values()]):
        metric = METRICS[TASKS[name].metrics[0]] if name in TASKS else ""
        title = f"{name}, {metric}" if metric else name
        yield (
            title,
            *(re.sub(r", n = 10\b", "", cell) for cell in cells),
        )


HEADS: dict[str, Callable[[str], str]] = {
    "encoder alone": lambda _: BASELINE,
    "the paper's head": lambda _: "ngrams",
    "`init`": chosen("init"),
}
HELD_OUT_HEADS = {
    "encoder alone": HEADS["encoder alone"],
    "n-grams": chosen("ngrams"),
    "random spans": chosen("random"),
}


def regimes(
    results: str, heads: Mapping[str, Callable[[str], str]]
) -> Iterator[Sequence[str]]:
    """Compare heads with themselves in the regime that all heads of a task have.

    results (str): The file of the runs.
    heads (Mapping[str, Callable[[str], str]]): The names of heads, with what gives the
        arm of a task.
    YIELDS (Sequence[str]): The header, then a row for each head and task, and for each
        head and the mean over tasks with texts, or tokens.
    """
    yield "head", "task", *REGIME_NAMES.values()
    runs = [run for run in recorded(results) if run["size"] == MAIN_SIZE]
    for is_text, (title, arm_of) in product((True, False), heads.items()):
        changes: dict[str, list[Seeds]] = {one: [] for one in REGIME_NAMES}
        for name in (n for n, task in TASKS.items() if bool(task.text) == is_text):
            found = {
                one: scores(runs, name, arm_of(name), regime=one)
                for one in REGIME_NAMES
            }
            main = found.pop(main_regime(TASKS[name]))
            if not (main and any(found.values())):
                continue
            cells = dict.fromkeys(REGIME_NAMES, spread_and_n(main))
            for one, own in found.items():
                change = minus(own, main)
                cells[one] = over([change])
                changes[one].append(change)
            yield title, name, *cells.values()
        if any(len(tasks) > 1 for tasks in changes.values()):
            yield title, "mean", *map(over, changes.values())


def tried_on_texts() -> Iterator[Sequence[str]]:
    """Compare heads of texts on held-out training data."""
    return _tried(True, (*TEXT_HEADS, *TAUGHT, *TRIED_PAIRS, *BRIEF_HEADS))


def tried_on_tokens() -> Iterator[Sequence[str]]:
    """Compare heads of tokens on held-out training data."""
    return _tried(False, TOKEN_HEADS)


def _tried(is_text: bool, arms: Sequence[str]) -> Iterator[Sequence[str]]:
    runs = recorded(TRIED_RUNS)
    there = {run["task"] for run in runs}
    tasks = [
        n for n, task in TASKS.items() if n in there and bool(task.text) == is_text
    ]
    yield "head", *tasks
    found = {name: scores(runs, name, BASELINE) for name in tasks}
    yield "encoder alone", *(spread_and_n(found[name]) for name in tasks)
    for arm in arms[1:]:
        cells = [signed_difference(scores(runs, n, arm), found[n]) for n in tasks]
        if {*cells} != {"-"}:
            yield NAMES[arm], *cells


def _sized(columns: Sequence[Column]) -> Iterator[Sequence[str]]:
    runs = recorded(SCORED_RUNS)
    for size in sorted({run["size"] for run in runs}):
        own = [run for run in runs if run["size"] == size]
        for row in _rows(own, columns):
            yield f"{size:,}", *row


def _rows(runs: Sequence[Run], columns: Sequence[Column]) -> Iterator[Sequence[str]]:
    """Write what the encoder alone has, and the differences of each column."""
    gains: list[list[Seeds]] = [[] for _ in columns]
    for name in TASKS:
        encoder = scores(runs, name, BASELINE)
        if not encoder:
            continue
        cells = []
        for column, own in zip(columns, gains, strict=True):
            gained = _gains(runs, name, column)
            cells.append(over([gained]))
            own.append(gained)
        yield name, spread_and_n(encoder), *cells
    if all(len(own) == len(TASKS) for own in gains):
        yield "mean", "", *map(over, gains)


def _gains(runs: Sequence[Run], task: str, column: Column) -> Seeds:
    """Subtract the scores of two arms on a task, seed by seed; nothing if it is one."""
    arm, base = (of(task) for of in column)
    if arm == base:
        return {}
    own, other = (scores(runs, task, one) for one in (arm, base))
    return minus(own, other)


def minus(own: Seeds, base: Seeds) -> Seeds:
    """Give the difference of two arms for each seed that both have."""
    return {seed: own[seed] - base[seed] for seed in own if seed in base}


def scores(
    runs: Sequence[Run],
    task: str,
    arm: str,
    metric: str | None = None,
    regime: str | None = None,
) -> Seeds:
    """Find the score of each seed, in percent.

    runs (Sequence[Run]): The runs of one size.
    task (str): The task.
    arm (str): The arm.
    metric (Optional[str]): The metric; None for the task's main one.
    regime (Optional[str]): The regime; None for the task's main one.
    RETURNS (dict[int, float]): The scores.
    """
    key = metric or TASKS[task].metrics[0]
    regime = regime or main_regime(TASKS[task])
    wanted = {"task": task, "arm": arm, "regime": regime}
    return {
        run["seed"]: 100 * run[key] for run in runs if wanted.items() <= run.items()
    }


def over(tasks: Sequence[Seeds]) -> str:
    """Write the mean over tasks, of the seeds that all of them have."""
    seeds: Any = set.intersection(*(set(one) for one in tasks)) if tasks else set()
    means = {seed: mean(one[seed] for one in tasks) for seed in sorted(seeds)}
    return signed_difference(means, dict.fromkeys(means, 0.0))


def signed_difference(own: Seeds, base: Seeds) -> str:
    """Write the mean difference of two arms, paired by seed, with its interval."""
    return difference(own, base).replace("-", "−") or "-"


def spread_and_n(own: Seeds) -> str:
    """Write a mean and its standard deviation, and of how many seeds."""
    return f"{spread(list(own.values()))}, n = {len(own)}"
