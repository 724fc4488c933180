"""How the cost of counting, segmenting and the span head grows with what they get.

    python -m benchmarks.scaling run DATA
    python -m benchmarks.scaling page

Counting is the whole command over raw text of 5 to 300 million words of English
Wikipedia; where that ends it starts over, with a letter at the end of every third word
of the vocabulary, so that the types grow too. Each measurement is a line of
benchmarks/results/scaling.jsonl, and not done again.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from string import ascii_lowercase
from tempfile import TemporaryDirectory
from typing import Annotated, Any
from unittest.mock import patch
from zlib import crc32

import numpy as np
import spacy
import typer
from spacy.tokens import Doc
from spacy_spanft.ngrams.shards.store import Store
from tqdm import tqdm

from spacy_spanft import NgramDictionary

from . import head
from .arguments import Folder
from .harness import read_lines
from .matrix import Run, read_done, run_missing
from .raw_text import build
from .report import show
from .results_page import filled
from .segmenting import component, seconds

RECORDS = Path(__file__).parent / "results" / "scaling.jsonl"
DOCS = Path(__file__).parents[1] / "docs" / "explanation"
PAGE, FIGURE = DOCS / "scaling.md", DOCS / "scaling.svg"
TEMPLATE = Path(__file__).with_name("scaling.md")
MILLION = 1_000_000
SIZES = [n * MILLION for n in (5, 10, 20, 40, 78, 150, 300)]
BOUNDED = "2 processes, `--memory 1GB`"
# How the command is run, by the words of the page.
WAYS = {
    "2 processes": ("--n-process", "2"),
    BOUNDED: ("--n-process", "2", "--memory", "1GB"),
    "Ray, 2 workers": ("--n-process", "2", "--engine", "ray"),
    "1 process": ("--n-process", "1"),
}
# What goes from one step to the next, by how the names of its files begin.
FILES = {
    "raw": "text",
    "text": "shards of chunks",
    "tokens words vocabulary numbered": "words and their counts",
    "stream": "text in numbers of words",
    "pairs": "counts of pairs, all levels",
    "sums level": "n-grams that are left",
}
# Of each size: tokens a text, and texts of 60 tokens a batch.
LENGTHS = (10, 100, 1000, 10_000, 100_000)
BATCHES = (1, 10, 100, 1000)
ROWS = (16, 64, 256, 1024, 4096)
# Words of which the files of a build are added up.
FILES_OF = 20 * MILLION
# English text of one dump of Common Crawl: C4 has 156 billion tokens.
DUMP = 156_000 * MILLION
N_TOKENS, N_ROWS, WIDTH = 200_000, 8192, 384
MEASURES = ("took", "megabytes")
app = typer.Typer(help=__doc__)


def grow(text: Path, path: Path, n_words: int) -> None:
    """Write so many words of a text, over and over again, with new words each time."""
    left = n_words
    with (
        path.open("w", encoding="utf8") as file,
        tqdm(total=n_words, desc="Writing", unit_scale=True) as bar,
    ):
        for ending in ("", *ascii_lowercase):
            known: dict[str, str] = {}
            for line in read_lines(text):
                words = line.split(" ")
                if ending:
                    words = [_salted(word, ending, known) for word in words]
                file.write(" ".join(words) + "\n")
                left -= len(words)
                bar.update(len(words))
                if left <= 0:
                    return


def _salted(word: str, ending: str, known: dict[str, str]) -> str:
    if word not in known:
        is_new = crc32((word + ending).encode()) % 3 == 0
        known[word] = word + ending if is_new and word.isalpha() else word
    return known[word]


def count(text: Path, run: Run, cut: dict[int, Path], folder: Path) -> dict[str, Any]:
    """Count so many words in one of the ways."""
    size = run["size"]
    if size not in cut:
        for path in cut.values():
            path.unlink()
        cut.clear()
        cut[size] = folder / f"{size}.txt"
        grow(text, cut[size], size)
    took, megabytes, found = build(cut[size], *WAYS[run["arm"]])
    return {"took": took, "megabytes": megabytes, "n_tokens": found.n_tokens}


def add_up_files(text: Path, n_words: int, path: Path) -> dict[str, Any]:
    """Count in shards, and add up the bytes that go from one step to the next."""
    grow(text, path, n_words)
    n_bytes: Counter[str] = Counter()
    write = Store.write

    def watched(self: Store, name: str, arrays: Any) -> None:
        write(self, name, arrays)
        n_bytes[name.partition("-")[0]] += self._path(name).stat().st_size

    with patch.object(Store, "write", watched):
        found = NgramDictionary.from_shards(path, memory=10**9)
    n_tokens = found.provenance.n_tokens
    return {"n_tokens": n_tokens, "text": path.stat().st_size, "files": n_bytes}


def segment(words: list[str], run: Run) -> dict[str, Any]:
    """Cut the same tokens as texts, or batches, of another size."""
    vocab = spacy.blank("en").vocab
    length = run["size"] if run["arm"] == "tokens a text" else 60
    n_batch = run["size"] if run["arm"] == "texts a batch" else 1000
    starts = range(0, len(words), length)
    docs = [Doc(vocab, words=words[start : start + length]) for start in starts]
    cut = component({}, batch_size=n_batch)
    return {"took": min(seconds(cut, docs) for _ in range(4))}


def pool(run: Run) -> dict[str, Any]:
    """Step over the same wordpieces in texts of another length."""
    docs = head.make_pieces(N_ROWS // run["size"], run["size"])
    step = head.ours(docs, run["size"], WIDTH)
    step()
    return {"took": min(head.seconds(step) for _ in range(5))}


def plan() -> Iterator[Run]:
    """List what is measured."""
    for size in SIZES:
        for way in WAYS:
            yield {"task": "counting", "arm": way, "size": size}
    yield {"task": "files", "arm": "1 process", "size": FILES_OF}
    for length in LENGTHS:
        yield {"task": "segmenting", "arm": "tokens a text", "size": length}
    for batch in BATCHES:
        yield {"task": "segmenting", "arm": "texts a batch", "size": batch}
    for n_rows in ROWS:
        yield {"task": "head", "arm": "wordpieces a text", "size": n_rows}


@app.command()
def run(
    data: Folder,
    only: Annotated[str, typer.Option(help="counting, files, segmenting or head")] = "",
    at_most: Annotated[int, typer.Option(help="words to count")] = SIZES[-1],
) -> None:
    """Measure what is not measured yet."""
    words = (data / "wikitext103.valid.tokens").read_text("utf8").split()[:N_TOKENS]
    cut: dict[int, Path] = {}
    with TemporaryDirectory() as name:
        folder = Path(name)

        def do(run: Run) -> dict[str, Any]:
            if run["task"] == "counting":
                return count(data / "enwiki2015.txt.zst", run, cut, folder)
            if run["task"] == "files":
                text, path = data / "enwiki2015.txt.zst", folder / "files.txt"
                return add_up_files(text, run["size"], path)
            return segment(words, run) if run["task"] == "segmenting" else pool(run)

        fits = (
            one for one in plan() if one["task"] != "counting" or one["size"] <= at_most
        )
        run_missing(RECORDS, [one for one in fits if one["task"].startswith(only)], do)


def slope(sizes: list[float], values: list[float]) -> float:
    """Fit a line to logarithms: 1 is linear, 2 is quadratic."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def counting() -> Iterator[list[str]]:
    """List the time and memory of each way, and their slopes."""
    yield ["million tokens", *(f"{way}: time, memory" for way in WAYS)]
    known = _measured("counting")
    for size in SIZES:
        own = {arm: runs[size] for arm, runs in known.items() if size in runs}
        if not own:
            continue
        n_tokens = next(iter(own.values()))["n_tokens"] / MILLION
        cells = [
            f"{show(own[way]['took'], 's')}, {show(own[way]['megabytes'], 'MB')}"
            if way in own
            else "-"
            for way in WAYS
        ]
        yield [f"{n_tokens:.0f}", *cells]
    yield ["slope", *(_slopes(known.get(way, {})) for way in WAYS)]
    yield ["last doubling", *(_last_doubling(known.get(way, {})) for way in WAYS)]


def _last_doubling(runs: dict[int, Run]) -> str:
    if len(runs) < 2:
        return "-"
    *_, before, last = runs.values()
    return ", ".join(f"× {last[what] / before[what]:.1f}" for what in MEASURES)


def _slopes(runs: dict[int, Run]) -> str:
    if len(runs) < 2:
        return "-"
    sizes = [run["n_tokens"] for run in runs.values()]
    found = (slope(sizes, [r[what] for r in runs.values()]) for what in MEASURES)
    return ", ".join(f"{one:.2f}" for one in found)


def _measured(task: str) -> dict[str, dict[int, Run]]:
    """Sort what is recorded by its arm and size."""
    found: dict[str, dict[int, Run]] = {}
    for run in read_done(RECORDS):
        if run["task"] == task:
            found.setdefault(run["arm"], {})[run["size"]] = run
    return {arm: dict(sorted(runs.items())) for arm, runs in found.items()}


def paper() -> Iterator[list[str]]:
    """Extrapolate to a dump of the web, in a straight line from the largest run."""
    yield ["", "measured", f"{DUMP / 1e9:.0f} billion tokens"]
    runs = _measured("counting").get(BOUNDED, {})
    files = _measured("files").get("1 process", {}).get(FILES_OF)
    if not runs or not files:
        return
    largest = runs[max(runs)]
    speed = largest["n_tokens"] / largest["took"] / 2
    yield ["tokens a second, each core", f"{speed:,.0f}", f"{speed:,.0f}"]
    hours = DUMP / speed / 3600
    yield ["hours of a core", f"{2 * largest['took'] / 3600:.2f}", f"{hours:,.0f}"]
    cells = [f"{hours / n:.1f} h on {n} cores" for n in (16, 256)]
    yield ["time", show(largest["took"], "s"), ", ".join(cells)]
    sizes = {**files["files"], "raw": files["text"]}
    for names, title in FILES.items():
        each = sum(sizes[name] for name in names.split()) / files["n_tokens"]
        total = f"{each * DUMP / 1e12:.2f} TB"
        yield [title, f"{each:.2f} bytes a token", total]


def segmenting() -> Iterator[list[str]]:
    """List the speed for each length, and each size of batch."""
    yield ["", "size", "time for each token"]
    for arm, runs in _measured("segmenting").items():
        for size, run in runs.items():
            yield [arm, f"{size:,}", f"{1e9 * run['took'] / N_TOKENS:.0f} ns"]


def pooling() -> Iterator[list[str]]:
    """List the speed for each length."""
    yield ["wordpieces a text", "texts", "step", "time for each wordpiece"]
    for size, run in _measured("head").get("wordpieces a text", {}).items():
        each = f"{1e6 * run['took'] / N_ROWS:.1f} µs"
        yield [f"{size:,}", f"{N_ROWS // size:,}", show(run["took"], "s"), each]


@app.command()
def page() -> None:
    """Write the page and its figure, of what is measured so far."""
    PAGE.write_text(filled(TEMPLATE.read_text("utf8"), TABLES), "utf8")
    draw(FIGURE)


def draw(path: Path) -> None:
    """Draw time and memory of counting, both axes logarithmic."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    titles = dict(zip(MEASURES, ("seconds", "MB, all processes"), strict=True))
    axes = figure.subplots(1, 2)
    for ax, (what, title) in zip(axes, titles.items(), strict=True):
        for arm, runs in _measured("counting").items():
            sizes = [run["n_tokens"] for run in runs.values()]
            values = [run[what] for run in runs.values()]
            ax.loglog(sizes, values, "o-", label=arm.replace("`", ""))
        ax.set(xlabel="tokens", ylabel=title)
        ax.grid(visible=True, which="both", alpha=0.2)
    axes[0].legend()
    # The same file from the same numbers.
    with rc_context({"svg.hashsalt": "spanft"}):
        figure.savefig(path, metadata={"Date": None})


TABLES = {
    "counting": counting,
    "paper": paper,
    "segmenting": segmenting,
    "pooling": pooling,
}

if __name__ == "__main__":
    app()
