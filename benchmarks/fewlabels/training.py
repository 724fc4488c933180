"""One run: a pipeline of the package, trained and scored.

The loop is spaCy's without evaluations in between: the same batches of 32 shuffled
texts, callbacks and schedules.
"""

import gc
import random
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import registry
from tqdm import tqdm

from .configs import config_for, precision
from .tasks import TASKS, draw, write

BATCH = 32


def train_and_score(run: dict[str, Any], data: Path, encoder: Path) -> dict[str, Any]:
    """Return the metrics of a run, and the precision of its encoder."""
    nlp, dev = trained(run, data, encoder)
    values = nlp.evaluate(dev, batch_size=BATCH)
    scores = {metric: round(values[metric], 5) for metric in TASKS[run["task"]].metrics}
    # A pipeline is in circles, and Python does not see how large they are.
    del nlp, dev
    gc.collect()
    return {**scores, "precision": precision()}


def trained(
    run: dict[str, Any], data: Path, encoder: Path
) -> tuple[Language, list[Example]]:
    """Train a pipeline, and return it with its test examples."""
    task = TASKS[run["task"]]
    drawn = draw(data, task, run["part"], run["size"], run["seed"])
    with TemporaryDirectory() as name:
        kind = "tsv" if task.text else "conll"
        files = {
            part: write(Path(name) / f"{part}.{kind}", task, drawn.header, rows)
            for part, rows in (("train", drawn.train), ("dev", drawn.test))
        }
        steps = run["epochs"] * -(-len(drawn.train) // BATCH)
        nlp = init_nlp(config_for(task, run, encoder, files, steps))
        corpora = registry.resolve(nlp.config.interpolate()["corpora"])
        train, dev = list(corpora["train"](nlp)), by_length(corpora["dev"](nlp))
    fit(nlp, train, run["epochs"], run["seed"])
    return nlp, dev


def fit(
    nlp: Language,
    examples: list[Example],
    epochs: int,
    seed: int,
    is_shown: bool = False,
) -> None:
    """Train an initialized pipeline as spaCy's loop does.

    seed (int): The seed of the order.
    is_shown (bool): Whether to show a progress bar with the loss.
    """
    block = nlp.config.interpolate()["training"]
    settings: Any = registry.resolve(block, schema=ConfigSchemaTraining)
    optimizer, before_update = settings["optimizer"], settings["before_update"]
    annotate(nlp, examples)
    order = random.Random(seed)
    no_update: Any = False  # None would make an optimizer
    bar = tqdm(disable=not is_shown, total=epochs * -(-len(examples) // BATCH))
    step = 0
    for epoch in range(epochs):
        order.shuffle(examples)
        for start in range(0, len(examples), BATCH):
            batch = examples[start : start + BATCH]
            if before_update:
                before_update(nlp, {"step": step, "epoch": epoch})
            frozen = settings["frozen_components"]
            losses = nlp.update(batch, sgd=no_update, exclude=frozen)
            for _, component in nlp.pipeline:
                finish_update = getattr(component, "finish_update", None)
                if finish_update and getattr(component, "is_trainable", False):
                    finish_update(optimizer)
            optimizer.step_schedules()
            bar.set_postfix(losses)
            bar.update()
            step += 1


def annotate(nlp: Language, examples: Iterable[Example]) -> None:
    """Let the components that are not trained annotate texts, once for all steps."""
    for name in nlp.config["training"]["annotating_components"]:
        for example in examples:
            example.predicted = nlp.get_pipe(name)(example.predicted)


def by_length(examples: Iterable[Example]) -> list[Example]:
    """Sort texts by length, which wastes less compute on padding."""
    return sorted(examples, key=lambda example: len(example.reference))
