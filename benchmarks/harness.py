"""Runs contestants in turns, in processes of their own or in this one."""

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


def timed_in_turns(
    jobs: Mapping[str, Callable[[int], Any]], n_turns: int, n_warm: int = 1
) -> dict[str, list[float]]:
    """Time jobs in this process, in turns.

    jobs (Mapping[str, Callable]): Called with the number of the turn.
    n_turns (int): How many turns count.
    n_warm (int): How many come before.
    RETURNS (dict[str, list[float]]): The seconds of each.
    """
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for turn in range(n_turns + n_warm):
        for name, job in jobs.items():
            begin = time.perf_counter()
            job(turn)
            times[name].append(time.perf_counter() - begin)
    return {name: own[n_warm:] for name, own in times.items()}


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
    made = task_config(
        pipeline,
        spans=kind == "spanft",
        segmentation="spans",
        regime="everything",
        encoder=encoder,
    )
    return Config().from_str(
        made.to_str(interpolate=False), overrides=dict(overrides), interpolate=False
    )


def as_in_the_paper(config: Config) -> None:
    """Give a config the heads of the paper, which configs had when these were recorded.

    config (Config): A config of labels or of tokens.
    """
    for component in config["components"].values():
        model = component.get("model", {})
        if "summary" in model:
            model["summary"] = "cls"
        tok2vec = model.get("tok2vec", {})
        if str(tok2vec.get("@architectures")).startswith("spacy-spanft.SpanTok2Vec."):
            tok2vec["@architectures"] = "spacy-spanft.SpanTok2Vec.v1"


def read_lines(text: Path) -> Iterator[str]:
    """Read a text line by line."""
    from spacy_spanft.ngrams.text.blocks import blocks_from_files

    for block in blocks_from_files([text]):
        yield from block.decode("utf8").split("\n")[:-1]
