"""A training from the start to its score against a plain loop of Hugging Face's.

    python -m benchmarks.whole_training DATA/glue/CoLA ENCODER
    python -m benchmarks.whole_training DATA/glue/SST-2 ENCODER --memory

Both read the same training texts, train three epochs in batches of 32, and score the
dev texts at the end, in processes of their own and in turns; spaCy's loop scores them
before the first step, too. With --memory, it is a few steps
on the same batches, and the table has what they need beside what was there before the
first one: the libraries and the weights. That needs Linux.
"""

import random
import re
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import typer
from wasabi.tables import table

from . import encoder as steps_of
from .finetune import TASKS, read, run_plain, train_config
from .harness import in_turns, print_runs, spread

RATE = 2e-5
PLAIN, OURS, BASELINE = "plain loop", "textcat_spanft", "textcat_baseline"
CONFIGS = {OURS: "spanft", BASELINE: "baseline"}


def cut(folder: Path, target: Path, n_texts: int) -> None:
    """Keep some of the training texts."""
    header, *rows = (folder / "train.tsv").read_text("utf8").splitlines(keepends=True)
    random.Random(0).shuffle(rows)
    (target / "train.tsv").write_text(header + "".join(rows[:n_texts]), "utf8")
    (target / "dev.tsv").write_bytes((folder / "dev.tsv").read_bytes())


def whole(name: str, folder: Path, encoder: Path) -> None:
    """Train, and score."""
    task = TASKS["CoLA"]
    if name == PLAIN:
        run_plain(folder, task, encoder, RATE, 0)
    else:
        train_config(folder, task, encoder, RATE, 0, CONFIGS[name])


def steps(name: str, folder: Path, encoder: Path, n_steps: int) -> float:
    """Do some steps, and say how many MB they needed at most."""
    texts, labels = read(folder / "train.tsv", TASKS["CoLA"])
    if name == PLAIN:
        step, _ = steps_of.plain(encoder)
    else:
        step, _ = steps_of.ours(name, "spanft", encoder, texts, labels)
    before = _megabytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    for start in range(0, n_steps * steps_of.BATCH, steps_of.BATCH):
        end = start + steps_of.BATCH
        step(texts[start:end], labels[start:end])
    return _megabytes("VmHWM") - before


def _megabytes(name: str) -> float:
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def main(
    folder: Path,
    encoder: Path,
    n_texts: int = 2000,
    repeat: int = 3,
    memory: bool = False,
    n_steps: int = 10,
) -> None:
    """Measure."""
    with TemporaryDirectory() as name:
        target = Path(name)
        cut(folder, target, n_texts)
        job: Any = partial(steps, n_steps=n_steps) if memory else whole
        who = (PLAIN, *CONFIGS)
        runs = in_turns({one: (job, one, target, encoder) for one in who}, repeat)
    if not memory:
        print_runs(runs, who, OURS)
        return
    needed = {one: [run.result for run in runs[one]] for one in who}
    rows = [
        (one, f"{median(own):.0f}", spread(own, ".0f")) for one, own in needed.items()
    ]
    print(table(rows, header=("", "MB", "min-max"), divider=True))


if __name__ == "__main__":
    typer.run(main)
