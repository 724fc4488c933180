"""A training from start to score against a plain loop of Hugging Face's.

    python -m benchmarks.whole_training DATA/glue/CoLA ENCODER
    python -m benchmarks.whole_training DATA/glue/SST-2 ENCODER --memory
    python -m benchmarks.whole_training DATA/glue/SST-2 ENCODER --frozen

Both read the same training texts, train three epochs in batches of 32, and score the
dev texts at the end, in new processes and in turns; spaCy's loop also scores them
before the first step. --memory does a few steps on the same batches, and shows the
memory beyond that of the libraries and the weights (Linux only). --frozen freezes the
encoder for ten epochs, each scored on 300 dev texts; the peer is then the same pipeline
over spacy-transformers.
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

from spacy_spanft.ml.encoder.hf_encoder import cpu_has_bf16

from . import encoder as steps_of
from .arguments import Encoder, Folder
from .harness import in_turns, our_config
from .plain_loop import BATCH, fit_and_predict, read_table
from .report import report, report_runs

RATE, EPOCHS, FROZEN_EPOCHS = 2e-5, 3, 10
PLAIN, OURS, OVER = steps_of.PLAIN, steps_of.OURS, steps_of.OVER
IN_BF16 = steps_of.IN_BF16
N_DEV = 300
FOR_GOOD = 1_000_000


def cut(folder: Path, target: Path, n_texts: int, n_dev: int | None) -> None:
    """Write some of the texts to another folder."""
    header, *rows = (folder / "train.tsv").read_text("utf8").splitlines(keepends=True)
    random.Random(0).shuffle(rows)
    (target / "train.tsv").write_text(header + "".join(rows[:n_texts]), "utf8")
    dev = (folder / "dev.tsv").read_text("utf8").splitlines(keepends=True)
    (target / "dev.tsv").write_text("".join(dev[:n_dev]), "utf8")


def whole(name: str, folder: Path, encoder: Path) -> None:
    """Train and score."""
    if name == PLAIN:
        dev, _ = read_table(folder / "dev.tsv")
        data = read_table(folder / "train.tsv")
        fit_and_predict(data, dev, encoder, RATE, 0, EPOCHS)
        return
    steps = EPOCHS * -(-len(read_table(folder / "train.tsv")[0]) // BATCH)
    own, kind, precision = steps_of.ARMS[name]
    config = _config(own, kind, folder, encoder, steps, steps)
    config["components"]["transformer"]["model"]["precision"] = precision
    # As in the plain loop.
    config["components"]["textcat"]["model"]["summary"] = "cls"
    train(init_nlp(config))


def frozen(name: str, folder: Path, encoder: Path) -> None:
    """Train a head over a frozen encoder."""
    kind = "spacy-transformers" if name == OVER else "spanft"
    epoch = -(-len(read_table(folder / "train.tsv")[0]) // BATCH)
    config = _config(OURS, kind, folder, encoder, FROZEN_EPOCHS * epoch, epoch)
    config["training"]["before_update"] = {
        "@callbacks": "spacy-spanft.freeze_transformer.v1",
        "until_step": FOR_GOOD,
    }
    train(init_nlp(config))


def _config(
    name: str, kind: str, folder: Path, encoder: Path, steps: int, frequency: int
) -> Any:
    overrides = {
        "paths.transformer": str(encoder),
        "paths.train": str(folder / "train.tsv"),
        "paths.dev": str(folder / "dev.tsv"),
        "training.optimizer.learn_rate.initial_rate": RATE,
        "training.max_epochs": 0,
        "training.max_steps": steps,
        "training.patience": 0,
        "training.eval_frequency": frequency,
    }
    config = our_config(name, overrides, encoder=kind)
    for part in ("train", "dev"):
        config["corpora"][part]["@readers"] = "spacy-spanft.TableCorpus.v1"
        config["corpora"][part]["text"] = "sentence"
    return config


def steps(name: str, folder: Path, encoder: Path, n_steps: int) -> float:
    """Do some steps, and return their peak memory in MB."""
    texts, labels = read_table(folder / "train.tsv")
    if name == PLAIN:
        step, _ = steps_of.plain(encoder)
    else:
        step, _ = steps_of.ours(name, "spanft", "single", encoder, texts, labels)
    before = _megabytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    for start in range(0, n_steps * BATCH, BATCH):
        end = start + BATCH
        step(texts[start:end], labels[start:end])
    return _megabytes("VmHWM") - before


def _megabytes(name: str) -> float:
    match = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert match is not None
    return int(match[1]) / 1024


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
    with TemporaryDirectory() as temporary:
        target = Path(temporary)
        cut(folder, target, n_texts, N_DEV + 1 if is_frozen else None)
        job: Any = partial(steps, n_steps=n_steps) if memory else whole
        names: tuple[str, ...] = (OURS, OVER) if is_frozen else (PLAIN, OURS)
        job = frozen if is_frozen else job
        if job is whole and cpu_has_bf16():
            names = (*names, IN_BF16)
        contestants = {name: (job, name, target, encoder) for name in names}
        runs = in_turns(contestants, repeat)
    if not memory:
        report_runs(runs, OURS)
        return
    needed = {name: [run.result for run in runs[name]] for name in names}
    report("memory of steps", "MB", needed, OURS)


if __name__ == "__main__":
    typer.run(main)
