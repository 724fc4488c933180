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
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import spacy
import typer
from tqdm import tqdm

from spacy_spanft import NgramDictionary
from spacy_spanft.ngrams.provenance import Provenance

from .arguments import File
from .harness import read_lines
from .report import report

PEER = "nlp.tokenizer alone"


@contextmanager
def peak_memory() -> Iterator[list[float]]:
    """Sample the memory of this process and its children, in megabytes."""
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


def build(text: Path, *, is_watched: bool) -> tuple[float, float, Provenance]:
    """Run the command, and return its seconds, its megabytes, and the provenance.

    is_watched (bool): Whether to sample memory, which takes a tenth of the time.
    """
    watched: Any = peak_memory() if is_watched else nullcontext([0.0])
    with TemporaryDirectory() as folder, watched as peak:
        output = Path(folder) / "ngrams.tsv.gz"
        command = [sys.executable, "-m", "spacy", "spanft", "dictionary", "build"]
        command += [str(text), "-o", str(output), "--quiet", "--n-process", "2"]
        begin = time.perf_counter()
        subprocess.run(command, check=True)
        seconds = time.perf_counter() - begin
        return seconds, peak[0], NgramDictionary.from_disk(output).provenance


def tokenize(text: Path) -> float:
    """Return the seconds that the tokenizer takes."""
    tokenizer: Any = spacy.blank("en").tokenizer
    begin = time.perf_counter()
    for _ in tqdm(tokenizer.pipe(read_lines(text)), "Tokenizing"):
        pass
    return time.perf_counter() - begin


def main(text: File) -> None:
    """Measure."""
    seconds, _, _ = build(text, is_watched=False)
    times = {"ours": [seconds], PEER: [tokenize(text)]}
    _, size, provenance = build(text, is_watched=True)
    print(f"{provenance.n_tokens:,} tokens, 2 processes")
    report("time", "s", times, "ours")
    report("memory of all processes", "MB", {"ours": [size]}, "ours")


if __name__ == "__main__":
    typer.run(main)
