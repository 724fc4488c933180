"""From raw text to a dictionary, against running spaCy's tokenizer alone over it.

    python -m benchmarks.raw_text enwiki2015.txt.zst

The peer is `nlp.tokenizer.pipe` over all lines in one process, its Docs thrown away.
Memory is that of all processes together (proportional set size, so that pages that
they share count once), looked at ten times a second.
"""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any

import typer
from tqdm import tqdm

from benchmarks.harness import needs, read_lines, without_missing


@contextmanager
def peak_memory() -> Iterator[list[float]]:
    """Watch the memory of this process and its children, in megabytes."""
    import psutil

    peak = [0.0]
    done = threading.Event()

    def watch() -> None:
        me = psutil.Process()
        while not done.wait(0.1):
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


def compare(text: Path, n_lines: int) -> None:
    """Count some lines with `Counter` over what `nlp.tokenizer` gives, and compare."""
    import spacy
    from nltk.util import everygrams

    from spacy_spanft import NgramDictionary

    lines = list(islice(read_lines(text), n_lines))
    tokenizer: Any = spacy.blank("en").tokenizer
    counts: Counter[tuple[str, ...]] = Counter()
    n_tokens = 0
    for doc in tokenizer.pipe(lines):
        words = [token.lower_ for token in doc]
        n_tokens += len(words)
        counts.update(everygrams(words, 2, 5))
    expected = {
        " ".join(ngram): count
        for ngram, count in counts.items()
        if count >= 10 and all(any(map(str.isalnum, word)) for word in ngram)
    }
    found = dict(NgramDictionary.from_texts(lines))
    print(f"{n_tokens:,} tokens, {len(expected):,} n-grams, {found == expected=}")


def main(
    text: Path, n_process: int = 2, skip_peer: bool = False, compare_lines: int = 0
) -> None:
    """Measure, or with --compare-lines check that the result is the same."""
    if compare_lines:
        compare(text, compare_lines)
        return
    from spacy_spanft import NgramDictionary

    watched = without_missing({"memory": peak_memory}, {"memory": needs("psutil")})
    begin = time.perf_counter()
    with watched.get("memory", nullcontext)() as peak:
        found = NgramDictionary.from_files(text, n_process=n_process, progress=True)
    ours = time.perf_counter() - begin
    print(f"{found.provenance.n_tokens:,} tokens, {len(found):,} n-grams")
    memory = f"{peak[0]:,.0f} MB in all" if peak else "memory not measured"
    print(f"ours: {ours:.1f} s with {n_process} processes, {memory}")
    if skip_peer:
        return

    import spacy

    tokenizer: Any = spacy.blank("en").tokenizer
    begin = time.perf_counter()
    n_tokens = sum(
        len(doc) for doc in tqdm(tokenizer.pipe(read_lines(text)), "Tokenizing")
    )
    peer = time.perf_counter() - begin
    print(f"nlp.tokenizer alone: {peer:.1f} s for {n_tokens:,} tokens")
    print(f"ours / nlp.tokenizer: {ours / peer:.2f}")


if __name__ == "__main__":
    typer.run(main)
