"""Run contestants in turns, in this process or in new ones."""

import multiprocessing
import resource
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from confection import Config
from tqdm import tqdm

from spacy_spanft.configs import task_config
from spacy_spanft.errors import SpanftError

T = TypeVar("T")


class Run(NamedTuple):
    """The time and memory of a run.

    seconds (float): Wall clock time, without the start of Python.
    megabytes (float): The peak resident memory of the process.
    result (Any): The return value of the function.
    """

    seconds: float
    megabytes: float
    result: Any


def without_missing(
    contestants: Mapping[str, T], checks: Mapping[str, Callable[[], object]]
) -> dict[str, T]:
    """Leave out the contestants that cannot run here, with a warning.

    checks (Mapping[str, Callable]): Called for contestants with more dependencies;
        raises if one of them is missing.
    RETURNS (dict[str, T]): Those that can run. Tables have empty rows for the others.
    """
    able = dict(contestants)
    for name, check in checks.items():
        try:
            check()
        except (ImportError, LookupError, OSError, SpanftError) as error:
            reason = str(error).strip().split("\n")[0]
            print(f"⚠ {name} is not measured: {reason}", flush=True)
            del able[name]
    return able


def needs(*modules: str) -> Callable[[], None]:
    """Return a check that raises if a module cannot be imported."""

    def check() -> None:
        for module in modules:
            import_module(module)

    return check


def run_alone(function: Callable[..., Any], *args: Any) -> Run | None:
    """Run a function that can be pickled in a new process; return None if it fails."""
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

    contestants (dict[str, tuple]): Functions with their arguments, by name.
    RETURNS (dict[str, list[Run]]): The runs; none of a contestant that failed once.
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


def timed_in_turns(
    jobs: Mapping[str, Callable[[int], Any]], n_turns: int, n_warm: int = 1
) -> dict[str, list[float]]:
    """Time jobs, which get the number of the turn, in this process, in turns.

    n_turns (int): The number of turns that count; n_warm others are before them.
    """
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for turn in range(n_turns + n_warm):
        for name, job in jobs.items():
            begin = time.perf_counter()
            job(turn)
            times[name].append(time.perf_counter() - begin)
    return {name: seconds[n_warm:] for name, seconds in times.items()}


def our_config(
    name: str, overrides: Mapping[str, Any], encoder: str = "spanft"
) -> Config:
    """Return one of the package's configs, its variables not interpolated.

    name (str): PIPELINE_baseline or PIPELINE_spanft.
    overrides (Mapping[str, Any]): Other settings, with dots.
    encoder (str): The encoder component, as `init --encoder` calls it.
    """
    pipeline, _, kind = name.rpartition("_")
    config = task_config(
        pipeline,
        spans=kind == "spanft",
        segmentation="spans",
        regime="everything",
        encoder=encoder,
    )
    return Config().from_str(
        config.to_str(interpolate=False), overrides=dict(overrides), interpolate=False
    )


def read_lines(text: Path) -> Iterator[str]:
    """Yield the lines of a text file."""
    from spacy_spanft.util.text_files import blocks_from_files

    for block in blocks_from_files([text]):
        yield from block.decode("utf8").split("\n")[:-1]
