"""Runs contestants in processes of their own, in turns, and prints a table."""

import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from tqdm import tqdm
from wasabi.tables import table


class Run(NamedTuple):
    """What one run took.

    seconds (float): Wall clock, without the start of Python.
    megabytes (float): The largest resident memory of the process.
    result (Any): What the function returned.
    """

    seconds: float
    megabytes: float
    result: Any


def run_alone(function: Callable[..., Any], *args: Any) -> Run:
    """Run a function in a process of its own.

    function (Callable): Something that can be pickled.
    *args: Its arguments.
    RETURNS (Run): What it took.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(sender, function, args))
    process.start()
    sender.close()
    try:
        run: Run = receiver.recv()
    except EOFError:
        sys.exit(f"{function.__name__} broke off; see above.")
    process.join()
    return run


def _child(sender: Any, function: Callable[..., Any], args: Iterable[Any]) -> None:
    begin = time.perf_counter()
    result = function(*args)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sender.send(Run(seconds, peak, result))


def in_turns(
    contestants: dict[str, tuple[Any, ...]], repeat: int
) -> dict[str, list[Run]]:
    """Run contestants in turns, so that a slow moment of the machine hits them all.

    contestants (dict[str, tuple]): Names to functions with their arguments.
    repeat (int): How many turns.
    RETURNS (dict[str, list[Run]]): All the runs.
    """
    runs: dict[str, list[Run]] = {name: [] for name in contestants}
    turns = [name for _ in range(repeat) for name in contestants]
    for name in tqdm(turns, "Measuring"):
        runs[name].append(run_alone(*contestants[name]))
    return runs


def print_runs(runs: dict[str, list[Run]], ours: str) -> None:
    """Print medians, spreads, and each contestant's ratio to ours, turn by turn.

    runs (dict[str, list[Run]]): What `in_turns` gave.
    ours (str): The name of our contestant.
    """
    rows = []
    for name, theirs in runs.items():
        seconds = [run.seconds for run in theirs]
        pairs = list(zip(theirs, runs[ours], strict=True))
        times = [a.seconds / b.seconds for a, b in pairs]
        memory = [a.megabytes / b.megabytes for a, b in pairs]
        rows.append(
            (
                name,
                f"{median(seconds):.2f}",
                f"{min(seconds):.2f}-{max(seconds):.2f}",
                f"{median(times):.2f}",
                f"{min(times):.2f}-{max(times):.2f}",
                f"{median(run.megabytes for run in theirs):.0f}",
                f"{median(memory):.2f}",
            )
        )
    header = ("", "s", "min-max", "time / ours", "min-max", "MB", "MB / ours")
    print(table(rows, header=header, divider=True, aligns=("l", *"rrrrrr")))


def read_lines(text: Path) -> Iterator[str]:
    """Read a text line by line."""
    from spacy_spanft.corpus.blocks import blocks_from_files

    for block in blocks_from_files([text]):
        yield from block.decode("utf8").split("\n")[:-1]
