"""Runs contestants in processes of their own, in turns, and prints a table."""

import multiprocessing
import resource
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeVar

from confection import Config
from tqdm import tqdm
from wasabi.tables import table

from spacy_spanft.configs import task_config, to_text
from spacy_spanft.errors import SpanftError, without_code

T = TypeVar("T")


class Run(NamedTuple):
    """What one run took.

    seconds (float): Wall clock, without the start of Python.
    megabytes (float): The largest resident memory of the process.
    result (Any): What the function returned.
    """

    seconds: float
    megabytes: float
    result: Any


def without_missing(
    contestants: Mapping[str, T], checks: Mapping[str, Callable[[], object]]
) -> dict[str, T]:
    """Leave out, before anything is measured, what cannot run here, and say so.

    contestants (Mapping[str, T]): All that could be measured, by name.
    checks (Mapping[str, Callable]): For those that need more than this package does:
        raises if that is missing, and takes no time.
    RETURNS (dict[str, T]): Those that can run. The tables have a row for each of the
        others all the same, with nothing in it.
    """
    left = dict(contestants)
    for name, check in checks.items():
        try:
            check()
        except (ImportError, LookupError, OSError, SpanftError) as error:
            reason = without_code(error).strip().split("\n")[0]
            print(f"⚠ {name} is not measured: {reason}", flush=True)
            del left[name]
    return left


def needs(*modules: str) -> Callable[[], None]:
    """Make a check of whether modules can be imported.

    *modules (str): Their names.
    RETURNS (Callable[[], None]): The check.
    """

    def check() -> None:
        for module in modules:
            import_module(module)

    return check


def run_alone(function: Callable[..., Any], *args: Any) -> Run | None:
    """Run a function in a process of its own.

    function (Callable): Something that can be pickled.
    *args: Its arguments.
    RETURNS (Optional[Run]): What it took; None if it broke off.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(sender, function, args))
    process.start()
    sender.close()
    try:
        run: Run | None = receiver.recv()
    except EOFError:
        run = None
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
    RETURNS (dict[str, list[Run]]): All the runs; none of those that broke off once.
    """
    runs: dict[str, list[Run]] = {name: [] for name in contestants}
    broken = set()
    turns = [name for _ in range(repeat) for name in contestants]
    for name in tqdm(turns, "Measuring"):
        if name in broken:
            continue
        run = run_alone(*contestants[name])
        if run is None:
            print(f"⚠ {name} broke off, and is not measured; see above.", flush=True)
            broken.add(name)
            runs[name] = []
        else:
            runs[name].append(run)
    return runs


def ratios_of(theirs: Sequence[float], ours: Sequence[float]) -> list[float]:
    """Give the ratio of each turn; those that were left out have none.

    theirs (Sequence[float]): What a contestant took, turn by turn.
    ours (Sequence[float]): What ours took.
    RETURNS (list[float]): The ratios.
    """
    return [a / b for a, b in zip(theirs, ours, strict=False) if b]


def middle(values: Sequence[float], form: str) -> str:
    """Show the median, or nothing where nothing was measured.

    values (Sequence[float]): The values.
    form (str): How to write it, such as ".2f".
    RETURNS (str): The cell of a table.
    """
    return format(median(values), form) if values else ""


def spread(values: Sequence[float], form: str) -> str:
    """Show the smallest and the largest, or nothing where nothing was measured.

    values (Sequence[float]): The values.
    form (str): How to write them.
    RETURNS (str): The cell of a table.
    """
    return f"{min(values):{form}}-{max(values):{form}}" if values else ""


def print_runs(runs: dict[str, list[Run]], names: Iterable[str], ours: str) -> None:
    """Print medians, spreads, and each contestant's ratio to ours, turn by turn.

    runs (dict[str, list[Run]]): What `in_turns` gave.
    names (Iterable[str]): All that could have been measured.
    ours (str): The name of our contestant.
    """
    rows = []
    for name in names:
        theirs = runs.get(name, [])
        seconds = [run.seconds for run in theirs]
        megabytes = [run.megabytes for run in theirs]
        times = ratios_of(seconds, [run.seconds for run in runs[ours]])
        memory = ratios_of(megabytes, [run.megabytes for run in runs[ours]])
        rows.append(
            (
                name,
                middle(seconds, ".2f"),
                spread(seconds, ".2f"),
                middle(times, ".2f"),
                spread(times, ".2f"),
                middle(megabytes, ".0f"),
                middle(memory, ".2f"),
            )
        )
    header = ("", "s", "min-max", "time / ours", "min-max", "MB", "MB / ours")
    print(table(rows, header=header, divider=True, aligns=("l", *"rrrrrr")))


def print_times(
    times: Mapping[str, Sequence[float]],
    names: Iterable[str],
    ours: str,
    unit: str,
    show: Callable[[float], str],
) -> None:
    """Print the median of what each took, and its ratio to ours, turn by turn.

    times (Mapping[str, Sequence[float]]): What each took, turn by turn.
    names (Iterable[str]): All that could have been measured.
    ours (str): The name of our contestant.
    unit (str): What the median is shown in.
    show (Callable[[float], str]): Shows it.
    """
    rows = []
    for name in names:
        theirs = times.get(name, [])
        ratios = ratios_of(theirs, times[ours])
        shown = show(median(theirs)) if theirs else ""
        rows.append((name, shown, middle(ratios, ".1f"), spread(ratios, ".1f")))
    header = ("", unit, "time / ours", "min-max")
    print(table(rows, header=header, divider=True, aligns=("l", "r", "r", "r")))


def our_config(
    name: str, overrides: Mapping[str, Any], encoder: str = "spanft"
) -> Config:
    """Make one of the package's configs.

    name (str): PIPELINE_baseline, or PIPELINE_spanft.
    overrides (Mapping[str, Any]): Other settings, with dots.
    encoder (str): What `init --encoder` calls the component that encodes.
    RETURNS (Config): The config, with its variables as they are.
    """
    pipeline, _, kind = name.rpartition("_")
    text = to_text(task_config(pipeline, spans=kind == "spanft", encoder=encoder))
    return Config().from_str(text, overrides=dict(overrides), interpolate=False)


def read_lines(text: Path) -> Iterator[str]:
    """Read a text line by line."""
    from spacy_spanft.ngrams.text.blocks import blocks_from_files

    for block in blocks_from_files([text]):
        yield from block.decode("utf8").split("\n")[:-1]
