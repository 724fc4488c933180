"""A training from the start to its score against a plain loop of Hugging Face's.

    python -m benchmarks.whole_training DATA/glue/CoLA ENCODER
    python -m benchmarks.whole_training DATA/glue/SST-2 ENCODER --memory
    python -m benchmarks.whole_training DATA/glue/SST-2 ENCODER --frozen

Both read the same training texts, train three epochs in batches of 32, and score the
dev texts at the end, in processes of their own and in turns; spaCy's loop scores them
before the first step, too. With --memory, it is a few steps
on the same batches, and the table has what they need beside what was there before the
first one: the libraries and the weights. That needs Linux. With --frozen the encoder
is frozen for ten epochs, after each of which 300 dev texts are scored; the peer is then
the same pipeline over spacy-transformers.
"""

import random
import re
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from spacy.training.initialize import init_nlp
from spacy.training.loop import train

from . import encoder as steps_of
from .arguments import Encoder, Folder
from .finetune import TASKS, read, run_plain, train_config
from .harness import in_turns, our_config
from .report import report, report_runs

RATE = 2e-5
PLAIN, OURS, BASELINE = "plain loop", "textcat_spanft", "textcat_baseline"
OVER = "textcat_spanft over spacy-transformers"
CONFIGS = {OURS: "spanft", BASELINE: "baseline"}
N_DEV = 300
FOR_GOOD = 1_000_000


def cut(folder: Path, target: Path, n_texts: int, n_dev: int | None) -> None:
    """Keep some of the texts; those of dev with their header."""
    header, *rows = (folder / "train.tsv").read_text("utf8").splitlines(keepends=True)
    random.Random(0).shuffle(rows)
    (target / "train.tsv").write_text(header + "".join(rows[:n_texts]), "utf8")
    dev = (folder / "dev.tsv").read_text("utf8").splitlines(keepends=True)
    (target / "dev.tsv").write_text("".join(dev[:n_dev]), "utf8")


def whole(name: str, folder: Path, encoder: Path) -> None:
    """Train, and score."""
    task = TASKS["CoLA"]
    if name == PLAIN:
        run_plain(folder, task, encoder, RATE, 0)
    else:
        train_config(folder, task, encoder, RATE, 0, CONFIGS[name])


def frozen(name: str, folder: Path, encoder: Path) -> None:
    """Train a head over an encoder that stays as it is."""
    overrides = {
        "paths.transformer": str(encoder),
        "paths.train": str(folder / "train.tsv"),
        "paths.dev": str(folder / "dev.tsv"),
        "training.max_epochs": 10,
        "training.max_steps": 0,
        "training.patience": 0,
        "training.eval_frequency": -(
            -len(read(folder / "train.tsv", TASKS["SST-2"])[0]) // 32
        ),
    }
    kind = "spacy-transformers" if name == OVER else "spanft"
    config = our_config(OURS, overrides, encoder=kind)
    config["training"]["before_update"] = {
        "@callbacks": "spacy-spanft.freeze_transformer.v1",
        "until_step": FOR_GOOD,
    }
    for part in ("train", "dev"):
        corpus = {"@readers": "spacy-spanft.TableCorpus.v1", "text": "sentence"}
        config["corpora"][part] |= corpus
    train(init_nlp(config))


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
    folder: Folder,
    encoder: Encoder,
    n_texts: int = 2000,
    repeat: int = 3,
    memory: bool = False,
    n_steps: int = 10,
    is_frozen: Annotated[bool, typer.Option("--frozen")] = False,
) -> None:
    """Measure."""
    with TemporaryDirectory() as name:
        target = Path(name)
        cut(folder, target, n_texts, N_DEV + 1 if is_frozen else None)
        job: Any = partial(steps, n_steps=n_steps) if memory else whole
        job, who = (frozen, (OURS, OVER)) if is_frozen else (job, (PLAIN, *CONFIGS))
        runs = in_turns({one: (job, one, target, encoder) for one in who}, repeat)
    if not memory:
        report_runs(runs, OURS)
        return
    needed = {one: [run.result for run in runs[one]] for one in who}
    report("memory of steps", "MB", needed, OURS)


if __name__ == "__main__":
    typer.run(main)
