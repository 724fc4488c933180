"""One run: a pipeline of the package's, trained and scored.

The loop is spaCy's, without evaluations in between: the same batches of 32 shuffled
texts, callbacks and schedules.
"""

import gc
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import registry

from .arms import DROPPED, ZERO, config_for, dictionaries, precision
from .heads import start_as_baseline
from .segmenters import drop, tell
from .tasks import TASKS, draw, write

BATCH = 32
SPANS_KEY = "ngrams"


def do(run: dict[str, Any], data: Path, encoder: Path) -> dict[str, Any]:
    """Train and score.

    run (dict[str, Any]): What to train on what.
    data (Path): Where the data of all tasks is.
    encoder (Path): The folder of the encoder.
    RETURNS (dict[str, Any]): The task's metrics, and what the encoder computed in.
    """
    nlp, dev = trained(run, data, encoder)
    scores = nlp.evaluate(dev, batch_size=BATCH)
    found = {metric: round(scores[metric], 5) for metric in TASKS[run["task"]].metrics}
    # A pipeline is in circles, and Python does not see how large they are.
    del nlp, dev
    gc.collect()
    return {**found, "precision": precision()}


def trained(
    run: dict[str, Any], data: Path, encoder: Path
) -> tuple[Language, list[Example]]:
    """Train.

    run (dict[str, Any]): What to train on what.
    data (Path): Where the data of all tasks is.
    encoder (Path): The folder of the encoder.
    RETURNS (tuple[Language, list[Example]]): The pipeline, and what it is tested on.
    """
    nlp, train, dev = prepared(run, data, encoder)
    is_dropped = run["arm"] in DROPPED
    fit(nlp, train, run["epochs"], run["seed"], is_dropped=is_dropped)
    return nlp, dev


def prepared(
    run: dict[str, Any], data: Path, encoder: Path
) -> tuple[Language, list[Example], list[Example]]:
    """Initialize a pipeline, and read its data.

    run (dict[str, Any]): What to train on what.
    data (Path): Where the data of all tasks is.
    encoder (Path): The folder of the encoder.
    RETURNS (tuple[Language, list[Example], list[Example]]): The pipeline, what it is
        trained on and what it is tested on.
    """
    task = TASKS[run["task"]]
    drawn = draw(data, task, run["part"], run["size"], run["seed"])
    with TemporaryDirectory() as name:
        folder = Path(name)
        kind = "tsv" if task.text else "conll"
        files = {
            part: write(folder / f"{part}.{kind}", task, drawn.header, rows)
            for part, rows in (("train", drawn.train), ("dev", drawn.test))
        }
        files |= dictionaries(run, task, drawn, folder)
        steps = run["epochs"] * -(-len(drawn.train) // BATCH)
        nlp = init_nlp(config_for(task, run, encoder, files, steps))
        if run["arm"] in ZERO:
            component: Any = nlp.get_pipe(task.component)
            start_as_baseline(component.model)
        corpora = registry.resolve(nlp.config.interpolate()["corpora"])
        train, dev = list(corpora["train"](nlp)), by_length(corpora["dev"](nlp))
    if run["arm"] == "oracle":
        tell([*train, *dev])
    return nlp, train, dev


def fit(
    nlp: Language,
    examples: list[Example],
    epochs: int,
    seed: int,
    is_dropped: bool = False,
) -> None:
    """Train a pipeline as spaCy's loop does.

    nlp (Language): The pipeline, initialized.
    examples (list[Example]): What it is trained on.
    epochs (int): How often it sees each of them.
    seed (int): Shuffles them.
    is_dropped (bool): Whether their spans are others in each epoch.
    """
    block = nlp.config.interpolate()["training"]
    settings: Any = registry.resolve(block, schema=ConfigSchemaTraining)
    optimizer, before_update = settings["optimizer"], settings["before_update"]
    # What is not trained gives a text the same annotations in each step.
    for name in settings["annotating_components"]:
        for example in examples:
            example.predicted = nlp.get_pipe(name)(example.predicted)
    order = random.Random(seed)
    no_update: Any = False  # None would make an optimizer
    step = 0
    cut = {id(one): spans_of(one) for one in examples} if is_dropped else {}
    for epoch in range(epochs):
        order.shuffle(examples)
        for example in examples if is_dropped else ():
            doc = example.predicted
            spans = drop(cut[id(example)], len(doc), order)
            doc.spans[SPANS_KEY] = [doc[start:end] for start, end, *_ in spans]
        for batch in _cut(examples, BATCH):
            if before_update:
                before_update(nlp, {"step": step, "epoch": epoch})
            nlp.update(batch, sgd=no_update, exclude=settings["frozen_components"])
            for _, component in nlp.pipeline:
                finish_update = getattr(component, "finish_update", None)
                if finish_update and getattr(component, "is_trainable", False):
                    finish_update(optimizer)
            optimizer.step_schedules()
            step += 1


def spans_of(example: Example) -> list[tuple[int, int]]:
    """Read the spans that a segmenter wrote to a text."""
    return [(span.start, span.end) for span in example.predicted.spans[SPANS_KEY]]


def by_length(examples: Any) -> list[Example]:
    """Put texts of like length side by side: less padding."""
    return sorted(examples, key=lambda example: len(example.reference))


def _cut(examples: Sequence[Example], size: int) -> Iterator[Sequence[Example]]:
    for start in range(0, len(examples), size):
        yield examples[start : start + size]
