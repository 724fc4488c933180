"""Hyper-parameters: one small grid for all arms, and what was chosen from it.

The runs of the grid draw other training texts than those that are scored, and are
tested on what is held out of the training data. One setting is chosen for each arm,
regime and kind of task (texts, tokens): that with the highest mean over a few tasks. A
choice for each task would follow the noise of a few runs, and on CoLA three hundred
labels teach this encoder next to nothing.

What all is compared with is looked at twice: the encoder alone as a tagger had two
settings within 0.3 points, which three draws of both tasks tell apart.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

from .arms import (
    ARMS,
    BASELINE,
    CHOSEN,
    MAIN_SIZE,
    REGIMES,
    TAUGHT,
    TRIED_BRIEFLY,
    TRIED_EVERYWHERE,
    TRIED_PAIRS,
    TRIED_TEXTS,
    TRIED_TOKENS,
    TUNED_AS,
    arms_of,
    core_arms,
    main_regime,
)
from .tasks import TASKS, Task

Run = dict[str, Any]
Setting = dict[str, float]

SIZES = (MAIN_SIZE, 100, 1000)
MAX_SEEDS_OF_REST = 5
# Of the regimes in which a task's arms are not compared with each other.
MAX_SEEDS_OF_REGIMES = 3
# As much of a task as fits into an hour, with as many seeds.
FULL_SIZES = {"SST-2": 10_000}
# So many epochs for each size, times the factor that is chosen.
EPOCHS = {100: 20, 300: 10, 1000: 5, 10_000: 2}
# Rates of the encoder, with that factor: texts, then tokens, which learn more slowly.
GRID = ((2e-4, 1), (5e-4, 1), (1e-4, 1), (2e-4, 2))
TOKEN_GRID = ((2e-4, 1), (5e-4, 1), (2e-4, 2), (5e-4, 2))
# Of the head, where it has a rate of its own.
HEAD_RATES = (1e-3,)
# What is compared once more, of the encoder alone as a tagger.
SECOND_LOOK = ((5e-4, 2), (2e-4, 2))
N_LOOKS = 3
TUNING_SIZE = MAIN_SIZE
TUNING_TASKS = ("SST-2", "STS-B", "WNUT17")
# What is tried beside the encoder alone, on all tasks and on a few.
TEXT_HEADS = ("encoder", "mean", "random", "ngrams", *TRIED_EVERYWHERE, *TRIED_TEXTS)
TOKEN_HEADS = ("encoder", "cnn", "random", "ngrams", *TRIED_EVERYWHERE, *TRIED_TOKENS)
BRIEF_HEADS = ("cnn", *TRIED_BRIEFLY)
BRIEF_TASKS = ("SST-2", "STS-B")
# No seed that is scored.
TUNING_SEED = 1000
# The version of the head: another is another run.
HEAD = "v1"


def grid(regime: str, task: Task) -> Iterator[Setting]:
    """Give the settings that are tried in a regime."""
    for rate, factor in GRID if task.text else TOKEN_GRID:
        for head_rate in [rate] if regime == "everything" else HEAD_RATES:
            yield {"rate": rate, "head_rate": head_rate, "factor": factor}


def tuning_runs(regimes: Sequence[str] = REGIMES) -> Iterator[Run]:
    """Name the runs of the grid."""
    for regime, name in product(regimes, TUNING_TASKS):
        task = TASKS[name]
        arms = dict.fromkeys(map(tuned_as, arms_of(name)))
        own = [arm for arm in arms if _has(arm, regime, task)]
        for setting, arm in product(grid(regime, task), own):
            yield held_out_run(name, arm, regime, setting)
    for setting in _looked_at():
        yield from _looks(setting)


def _looked_at() -> Iterator[Setting]:
    for rate, factor in SECOND_LOOK:
        yield {"rate": rate, "head_rate": HEAD_RATES[0], "factor": factor}


def _looks(setting: Setting) -> Iterator[Run]:
    """Name the runs that look at a setting of the encoder alone once more."""
    tokens = [name for name, task in TASKS.items() if not task.text]
    for number, name in product(range(N_LOOKS), tokens):
        regime = main_regime(TASKS[name])
        yield held_out_run(name, BASELINE, regime, setting, number)


def variant_runs(chosen: dict[str, Setting], n_seeds: int) -> Iterator[Run]:
    """Name the runs on held-out data that tell which head is worth to be scored.

    All are tried in the main regime of their task; the best over n-grams and its twin
    in the others, in which a head learns faster than its encoder.
    """
    for number, (name, task) in product(range(n_seeds), TASKS.items()):
        tried = (BASELINE, CHOSEN[task.kind].ngrams, CHOSEN[task.kind].random)
        for arm, regime in product(heads_of(name), REGIMES):
            key = key_of(tuned_as(arm), regime, task)
            is_tried = regime == main_regime(task) or arm in tried
            if is_tried and key in chosen:
                yield held_out_run(name, arm, regime, chosen[key], number)


def heads_of(name: str) -> tuple[str, ...]:
    """Name the heads that are tried on a task."""
    task = TASKS[name]
    heads = TEXT_HEADS if task.text else TOKEN_HEADS
    pairs = TRIED_PAIRS if task.has_pairs else ()
    taught = (*TAUGHT,) if task.kind == "labels" else ()
    return (*heads, *taught, *pairs, *(BRIEF_HEADS if name in BRIEF_TASKS else ()))


def runs(chosen: dict[str, Setting], n_seeds: int) -> Iterator[Run]:
    """Name the runs that are scored: what all sizes have, full size, then the rest.

    Of each, all of one seed come before those of the next one. An arm whose settings
    are not chosen yet is left out.
    """
    few = min(n_seeds, MAX_SEEDS_OF_REST)
    for size, seed in product(SIZES, range(n_seeds)):
        yield from _scored(chosen, size, seed, TASKS, core=True)
    for size, seed in product(sorted({*FULL_SIZES.values()}), range(few)):
        full = [name for name, own in FULL_SIZES.items() if own == size]
        yield from _scored(chosen, size, seed, full, core=True)
    for seed in range(few):
        yield from _scored(chosen, MAIN_SIZE, seed, TASKS, core=False)


def _scored(
    chosen: dict[str, Setting], size: int, seed: int, tasks: Iterable[str], core: bool
) -> Iterator[Run]:
    for name, regime in product(tasks, REGIMES):
        task = TASKS[name]
        for arm in arms_of(name):
            key = key_of(tuned_as(arm), regime, task)
            is_core = arm in core_arms(name, size) and regime == main_regime(task)
            is_few = regime == main_regime(task) or seed < MAX_SEEDS_OF_REGIMES
            wanted = core == is_core and is_few
            if wanted and _has(arm, regime, task) and key in chosen:
                yield _run(name, size, arm, regime, seed, chosen[key], "dev")


def _has(arm: str, regime: str, task: Task) -> bool:
    """Say whether an arm is run in a regime."""
    others = (BASELINE, "ngrams", CHOSEN[task.kind].init)
    return arm in others or regime == main_regime(task)


def choose(done: Sequence[Run]) -> dict[str, Setting]:
    """Choose the settings with the highest mean over the tasks.

    done (Sequence[Run]): The runs of the grid.
    RETURNS (dict[str, Setting]): The settings, by arm, regime and kind of task. A
        setting that lacks a run for some task cannot be chosen.
    """
    chosen: dict[str, Setting] = {}
    for arm, regime, is_text in product(ARMS, REGIMES, (True, False)):
        tasks = [name for name in TUNING_TASKS if bool(TASKS[name].text) == is_text]
        scores = [
            (score, setting)
            for setting in grid(regime, TASKS[tasks[0]])
            if (score := _mean_over(tasks, done, arm, regime, setting)) is not None
        ]
        if scores:
            score, setting = max(scores, key=lambda pair: pair[0])
            key = key_of(arm, regime, TASKS[tasks[0]])
            chosen[key] = {**setting, "score": round(score, 4), "tried": len(scores)}
    looks = [(_mean_of(_looks(setting), done), setting) for setting in _looked_at()]
    if all(score is not None for score, _ in looks):
        score, setting = max(looks, key=lambda look: look[0])
        key = key_of(BASELINE, "head-first", TASKS["WNUT17"])
        chosen[key] = {**setting, "score": round(score, 4), "tried": len(looks)}
    return chosen


def is_chosen(run: Run, chosen: dict[str, Setting]) -> bool:
    """Say whether a run was done with the settings that were chosen for its arm."""
    key = key_of(tuned_as(run["arm"]), run["regime"], TASKS[run["task"]])
    if (setting := chosen.get(key)) is None:
        return False
    rates = all(run[name] == setting[name] for name in ("rate", "head_rate"))
    return rates and run["epochs"] == round(EPOCHS[run["size"]] * setting["factor"])


def tuned_as(arm: str) -> str:
    """Name the arm whose settings an arm takes: all with spans have the same head."""
    return TUNED_AS.get(arm, "ngrams")


def key_of(arm: str, regime: str, task: Task) -> str:
    """Name what has a setting of its own."""
    return f"{arm} · {regime} · {'texts' if task.text else 'tokens'}"


def read_choices(path: Path) -> dict[str, Setting]:
    """Read what was chosen; nothing if there is no such file."""
    return json.loads(path.read_text("utf8")) if path.exists() else {}


def write_choices(path: Path, chosen: dict[str, Setting]) -> None:
    """Write what was chosen."""
    path.write_text(json.dumps(chosen, indent=2, ensure_ascii=False) + "\n", "utf8")


def _run(
    task: str, size: int, arm: str, regime: str, seed: int, setting: Setting, part: str
) -> Run:
    return {
        **{"task": task, "size": size, "arm": arm, "regime": regime, "seed": seed},
        **{"rate": setting["rate"], "head_rate": setting["head_rate"]},
        "epochs": round(EPOCHS[size] * setting["factor"]),
        **{"part": part, "head": HEAD},
    }


def held_out_run(
    task: str, arm: str, regime: str, setting: Setting, number: int = 0
) -> Run:
    """Name a run on held-out data, with a draw that no scored run has."""
    size, seed = TUNING_SIZE, TUNING_SEED + number
    return _run(task, size, arm, regime, seed, setting, "held-out")


def _mean_over(
    tasks: Sequence[str], done: Sequence[Run], arm: str, regime: str, setting: Setting
) -> Any:
    """Compute the mean over tasks of the main metric; None if one has no run."""
    return _mean_of((held_out_run(task, arm, regime, setting) for task in tasks), done)


def _mean_of(wanted: Iterable[Run], done: Sequence[Run]) -> Any:
    """Compute the mean of the main metrics of runs; None if one was not done."""
    scores = []
    for run in wanted:
        own = [one for one in done if run.items() <= one.items()]
        if not own:
            return None
        scores.append(own[0][TASKS[run["task"]].metrics[0]])
    return mean(scores)
