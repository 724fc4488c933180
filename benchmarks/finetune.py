"""Real fine-tuning: a plain PyTorch loop, the baseline config and the span config.

The arms that end in -pooler take [CLS] through the encoder's pre-trained pooler.

    python -m benchmarks.finetune GLUE ENCODER results.jsonl --rate 1e-4

GLUE is a folder with CoLA/train.tsv and so on, ENCODER one that transformers reads.
Each run is appended to the results when it is done, and not done again; those of
all-MiniLM-L6-v2 so far are in benchmarks/results/finetune.jsonl. All arms have
the same data, encoder, batches of 32, three epochs, learning rate and warm-up; scored
is the last state on the dev data.
"""

import csv
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import spacy
import typer
from spacy.language import Language
from spacy.training.initialize import init_nlp
from spacy.training.loop import train

from spacy_spanft.pipeline.scorers import classification_scores

from .arguments import Encoder, Folder
from .harness import as_in_the_paper, our_config
from .matrix import Run, plan, run_missing, summarize
from .plain_loop import fit_and_predict

RATE = "training.optimizer.learn_rate"
EPOCHS = 3
ARMS = ("plain", "baseline", "spanft", "baseline-pooler", "spanft-pooler")
METRICS = ("cats_matthews", "cats_accuracy", "cats_f1")


class Task(NamedTuple):
    """Columns of a task's texts, and its pipeline's name."""

    columns: tuple[str, ...]
    pipeline: str


TASKS = {
    "CoLA": Task(("sentence",), "textcat"),
    "SST-2": Task(("sentence",), "textcat"),
    "MRPC": Task(("sentence1", "sentence2"), "pair"),
}


def read(path: Path, task: Task) -> tuple[list[Any], list[int]]:
    """Read texts, or pairs of them, and labels."""
    with open(path, encoding="utf8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    texts = [tuple(row[column] for column in task.columns) for row in rows]
    labels = [int(row["label"]) for row in rows]
    return (texts if len(task.columns) > 1 else [t for (t,) in texts]), labels


def run_plain(
    folder: Path, task: Task, encoder: Path, rate: float, seed: int
) -> dict[str, float]:
    """Train the plain loop, and score it."""
    dev, gold = read(folder / "dev.tsv", task)
    data = read(folder / "train.tsv", task)
    found = fit_and_predict(data, dev, encoder, rate, seed, EPOCHS)
    return classification_scores([str(g) for g in gold], [str(f) for f in found], "1")


def run_config(
    folder: Path, task: Task, encoder: Path, rate: float, seed: int, arm: str
) -> dict[str, float]:
    """Train one of our configs, and score it."""
    nlp = train_config(folder, task, encoder, rate, seed, arm)
    registry = spacy.util.registry
    dev = registry.resolve(nlp.config.interpolate()["corpora"])["dev"]
    scores = nlp.evaluate(list(dev(nlp)))
    return {name: scores[name] for name in METRICS}


def train_config(
    folder: Path, task: Task, encoder: Path, rate: float, seed: int, arm: str
) -> Language:
    """Train one of our configs; spaCy scores it before the first step and after all."""
    steps = EPOCHS * -(-len(read(folder / "train.tsv", task)[0]) // 32)
    overrides = {
        "paths.transformer": str(encoder),
        "paths.train": str(folder / "train.tsv"),
        "paths.dev": str(folder / "dev.tsv"),
        "system.seed": seed,
        f"{RATE}.initial_rate": rate,
        "training.max_epochs": 0,
        "training.max_steps": steps,
        # Only the last state is scored, as in the plain loop.
        "training.eval_frequency": steps,
    }
    kind, _, pooler = arm.partition("-")
    if pooler:
        overrides["components.textcat.model.pooler"] = True
    config = our_config(f"{task.pipeline}_{kind}", overrides)
    as_in_the_paper(config)
    for part in ("train", "dev") if len(task.columns) == 1 else ():
        corpus = config["corpora"][part]
        corpus["@readers"] = "spacy-spanft.TableCorpus.v1"
        corpus["text"] = task.columns[0]
    scorer = {"@scorers": "spacy-spanft.classification_scorer.v1"}
    config["components"]["textcat"]["scorer"] = {**scorer, "positive_label": "1"}
    nlp = init_nlp(config)
    train(nlp)
    return nlp


def main(
    glue: Folder,
    encoder: Encoder,
    results: Path,
    task: Annotated[list[str], typer.Option()] = ["CoLA", "MRPC"],  # noqa: B006
    arm: Annotated[list[str], typer.Option()] = list(ARMS),  # noqa: B006
    seeds: int = 3,
    rate: float = 2e-5,
) -> None:
    """Do the runs that are missing, and print the table."""

    def do(run: Run) -> dict[str, float]:
        folder, kind = glue / run["task"], TASKS[run["task"]]
        if run["arm"] == "plain":
            return run_plain(folder, kind, encoder, rate, run["seed"])
        return run_config(folder, kind, encoder, rate, run["seed"], run["arm"])

    summarize(run_missing(results, list(plan(task, arm, seeds, rate=rate)), do))


if __name__ == "__main__":
    typer.run(main)
