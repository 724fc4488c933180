"""From raw text to a dictionary, against running spaCy's tokenizer alone over it.

    python -m benchmarks.raw_text enwiki2015.txt.zst

Ours is the whole command, `spacy spanft dictionary build`. The peer is
`nlp.tokenizer.pipe` over all lines in one process, its Docs thrown away. Memory is that
of all processes (proportional set size, which counts shared pages once), sampled twice
a second in a run that is not timed.
"""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import spacy
import typer
from tqdm import tqdm

from spacy_spanft import NgramDictionary
from spacy_spanft.ngrams.provenance import Provenance

from .arguments import File
from .harness import needs, read_lines, without_missing
from .report import report

PEER = "nlp.tokenizer alone"


@contextmanager
def peak_memory() -> Iterator[list[float]]:
    """Sample the memory of this process and its children, in megabytes."""
    import psutil

    peak = [0.0]
    done = threading.Event()

    def watch() -> None:
        me = psutil.Process()
        while not done.wait(0.5):  # it takes milliseconds itself
            total = 0
            for process in (me, *me.children(recursive=True)):
                try:
                    total += process.memory_full_info().pss
                except psutil.Error:  # it ended while we looked
                    continue
            peak[0] = max(peak[0], total / 2**20)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()


def build(
    text: Path, *options: str, is_watched: bool = True
) -> tuple[float, float, Provenance]:
    """Run the command.

    text (Path): The corpus.
    *options (str): More options.
    is_watched (bool): Whether to sample memory, which takes a tenth of the time.
    RETURNS (tuple[float, float, Provenance]): Seconds, megabytes (0 without psutil),
        and the provenance of the dictionary.
    """
    can_watch = is_watched and find_spec("psutil")
    watched: Any = peak_memory() if can_watch else nullcontext([0.0])
    with TemporaryDirectory() as folder, watched as peak:
        output = Path(folder) / "ngrams.tsv.gz"
        command = [sys.executable, "-m", "spacy", "spanft", "dictionary", "build"]
        begin = time.perf_counter()
        subprocess.run(
            [*command, str(text), "-o", str(output), "--quiet", *options], check=True
        )
        seconds = time.perf_counter() - begin
        return seconds, peak[0], NgramDictionary.from_disk(output).provenance


def tokenize(text: Path) -> float:
    """Return the seconds that the tokenizer takes."""
    tokenizer: Any = spacy.blank("en").tokenizer
    begin = time.perf_counter()
    for _ in tqdm(tokenizer.pipe(read_lines(text)), "Tokenizing"):
        pass
    return time.perf_counter() - begin


def main(
    text: File, n_process: int = 2, repeat: int = 1, skip_peer: bool = False
) -> None:
    """Measure."""
    without_missing({"memory": peak_memory}, {"memory": needs("psutil")})
    times: dict[str, list[float]] = {"ours": [], PEER: []}
    processes = ("--n-process", str(n_process))
    for _ in range(repeat):
        seconds, _, _ = build(text, *processes, is_watched=False)
        times["ours"].append(seconds)
        if not skip_peer:
            times[PEER].append(tokenize(text))
    _, size, provenance = build(text, *processes)
    print(f"{provenance.n_tokens:,} tokens, {n_process} processes")
    report("time", "s", times, "ours")
    if size:
        report("memory of all processes", "MB", {"ours": [size]}, "ours")


if __name__ == "__main__":
    typer.run(main)
