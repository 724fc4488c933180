"""How the cost of counting, segmenting and the span head grows with their input.

    python -m benchmarks.scaling run DATA
    python -m benchmarks.scaling page

Counting is the whole command over raw text of English Wikipedia. Each measurement is a
line of benchmarks/results/scaling.jsonl, and is not repeated.
"""

import resource
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import spacy
import typer
from spacy.tokens import Doc

from . import head
from .arguments import Folder
from .harness import read_lines
from .matrix import Run, read_done, run_missing
from .raw_text import build
from .report import show
from .results_page import filled
from .segmenting import component, seconds

RECORDS = Path(__file__).parent / "results" / "scaling.jsonl"
PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "scaling.md"
TEMPLATE = Path(__file__).with_name("scaling.md")
MILLION = 1_000_000
SIZES = [n * MILLION for n in (5, 20, 65)]
# The options of each way to count, by its name on the page.
WAYS = {
    "in memory": ("--n-process", "2"),
    "`--memory 1GB`": ("--n-process", "2", "--memory", "1GB"),
    "Ray": ("--n-process", "2", "--engine", "ray"),
}
# Tokens a text, and texts of 60 tokens a batch.
LENGTHS = (10, 100, 1000, 10_000, 100_000)
BATCHES = (1, 10, 100, 1000)
ROWS = (16, 64, 256, 1024, 4096)
N_TOKENS, N_ROWS, WIDTH = 200_000, 8192, 384
app = typer.Typer(help=__doc__)


def cut(text: Path, path: Path, n_words: int) -> Path:
    """Write the first lines of a text, until they have so many words."""
    with path.open("w", encoding="utf8") as file:
        for line in read_lines(text):
            file.write(f"{line}\n")
            n_words -= line.count(" ") + 1
            if n_words <= 0:
                break
    return path


def count(text: Path, run: Run, path: Path) -> dict[str, Any]:
    """Count so many words in one of the ways."""
    cut(text, path, run["size"])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    took, megabytes, origin = build(path, *WAYS[run["arm"]])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    measured = {"took": took, "cpu": cpu, "megabytes": megabytes}
    return {**measured, "n_tokens": origin.n_tokens}


def segment(words: list[str], run: Run) -> dict[str, Any]:
    """Segment the same tokens as texts, or batches, of another size."""
    vocab = spacy.blank("en").vocab
    length = run["size"] if run["arm"] == "tokens a text" else 60
    n_batch = run["size"] if run["arm"] == "texts a batch" else 1000
    starts = range(0, len(words), length)
    docs = [Doc(vocab, words=words[start : start + length]) for start in starts]
    segmenter = component({}, batch_size=n_batch)
    return {"took": min(seconds(segmenter, docs) for _ in range(4))}


def pool(run: Run) -> dict[str, Any]:
    """Step over the same wordpieces in texts of another length."""
    docs = head.make_pieces(N_ROWS // run["size"], run["size"])
    step = head.ours(docs, run["size"], WIDTH)
    step()
    return {"took": min(head.seconds(step) for _ in range(5))}


def plan() -> Iterator[Run]:
    """List the measurements."""
    for size in SIZES:
        for way in WAYS:
            yield {"task": "counting", "arm": way, "size": size}
    for length in LENGTHS:
        yield {"task": "segmenting", "arm": "tokens a text", "size": length}
    for batch in BATCHES:
        yield {"task": "segmenting", "arm": "texts a batch", "size": batch}
    for n_rows in ROWS:
        yield {"task": "head", "arm": "wordpieces a text", "size": n_rows}


@app.command()
def run(
    data: Folder,
    only: Annotated[str, typer.Option(help="counting, segmenting or head")] = "",
    at_most: Annotated[int, typer.Option(help="words to count")] = SIZES[-1],
) -> None:
    """Take the measurements that are missing."""
    words = (data / "wikitext103.valid.tokens").read_text("utf8").split()[:N_TOKENS]
    with TemporaryDirectory() as folder:

        def measure(run: Run) -> dict[str, Any]:
            if run["task"] == "counting":
                path = Path(folder) / "text.txt"
                return count(data / "enwiki2015.txt.zst", run, path)
            return segment(words, run) if run["task"] == "segmenting" else pool(run)

        runs = [run for run in plan() if run["task"].startswith(only)]
        fits = [r for r in runs if r["task"] != "counting" or r["size"] <= at_most]
        run_missing(RECORDS, fits, measure)


def counting() -> Iterator[list[str]]:
    """List the CPU time and memory of each way to count."""
    yield ["million tokens", *(f"{way}: CPU time, memory" for way in WAYS)]
    measured = _measured("counting")
    for size in SIZES:
        runs = [measured.get(way, {}).get(size) for way in WAYS]
        n_tokens = next((run["n_tokens"] for run in runs if run), None)
        if n_tokens is not None:
            yield [f"{n_tokens / MILLION:.0f}", *map(_costs, runs)]


def _costs(run: Run | None) -> str:
    if run is None:
        return "-"
    return f"{show(run['cpu'], 's')}, {show(run['megabytes'], 'MB')}"


def _measured(task: str) -> dict[str, dict[int, Run]]:
    """Sort the records of a task by arm and size."""
    measured: dict[str, dict[int, Run]] = {}
    for run in read_done(RECORDS):
        if run["task"] == task:
            measured.setdefault(run["arm"], {})[run["size"]] = run
    return {arm: dict(sorted(runs.items())) for arm, runs in measured.items()}


def segmenting() -> Iterator[list[str]]:
    """List the nanoseconds per token for each size."""
    sizes = sorted({*LENGTHS, *BATCHES})
    yield ["ns per token", *(f"{size:,}" for size in sizes)]
    for arm, runs in _measured("segmenting").items():
        times = [runs[size]["took"] if size in runs else None for size in sizes]
        yield [arm, *("-" if t is None else f"{1e9 * t / N_TOKENS:.0f}" for t in times)]


def pooling() -> Iterator[list[str]]:
    """List the microseconds per wordpiece for each length."""
    runs = _measured("head").get("wordpieces a text", {})
    yield ["wordpieces a text", *(f"{size:,}" for size in runs)]
    each = (f"{1e6 * run['took'] / N_ROWS:.1f}" for run in runs.values())
    yield ["µs per wordpiece", *each]


@app.command()
def page() -> None:
    """Write the page from the records."""
    PAGE.write_text(filled(TEMPLATE.read_text("utf8"), TABLES), "utf8")


TABLES = {"counting": counting, "segmenting": segmenting, "pooling": pooling}

if __name__ == "__main__":
    app()
