"""What a folder of training runs says: how long each took, and how it learned.

Beside its pipeline, each run has the file run.json, and log.jsonl, as spaCy's
ConsoleLogger writes it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ...util.facts import (
    is_amount,
    is_amount_or_none,
    is_number,
    is_whole,
    read_text,
    to_object,
    value_of,
)
from .runs import RUN, finished

_LOG = "log.jsonl"


class Training(NamedTuple):
    """A finished training run.

    arm (str): The arm it belongs to.
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

    RETURNS (list[Training]): The runs, in the order of the arms, then of the seeds.
    """
    return [_training(run, arm) for arm, run in finished(folder)]


def _training(run: Path, arm: str) -> Training:
    path = run / RUN
    values = to_object(path, read_text(path))
    number = "a number of 0 or more"
    return Training(
        value_of(path, values, "arm", arm.__eq__, f"{arm!r}, as its folder is"),
        value_of(path, values, "seed", is_whole, "a whole number"),
        float(value_of(path, values, "seconds", is_amount, number)),
        float(value_of(path, values, "words_per_second", is_amount, number)),
        value_of(path, values, "peak_memory", is_amount_or_none, f"{number}, or null"),
        list(_curve(run / _LOG)),
    )


def _curve(path: Path) -> Iterator[tuple[int, float]]:
    for line in read_text(path).splitlines():
        if line.strip():
            values = to_object(path, line)
            step = value_of(path, values, "step", is_whole, "a whole number")
            score = value_of(path, values, "score", is_number, "a number")
            yield step, float(score)
