"""One run: a pipeline of the package's, trained and scored.

The loop is spaCy's, without evaluations in between: the same batches of 32 shuffled
texts, callbacks and schedules.
"""

import gc
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import registry

from .adapting import adapted
from .arms import DROPPED, MIXED, TAUGHT, ZERO
from .configs import config_for, dictionaries, precision, texts_of
from .heads import start_as_baseline
from .mixing import mix_layers
from .segmenters import Dropout, tell
from .tasks import TASKS, Data, draw, write
from .teaching import Teacher

BATCH = 32
# As many texts without labels as a teacher labels at most.
N_UNLABELED = 1000
Change = Callable[[Sequence[Example]], Sequence[Example]]


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
    fit(nlp, train, run["epochs"], run["seed"], change_for(run, nlp, data))
    return nlp, dev


def change_for(run: dict[str, Any], nlp: Language, data: Path) -> Change | None:
    """Make what changes the batches of an arm.

    run (dict[str, Any]): The run.
    nlp (Language): Its pipeline, initialized.
    data (Path): Where the data of all tasks is.
    RETURNS (Optional[Callable]): Batches to batches.
    """
    if run["arm"] in DROPPED:
        return Dropout(run["seed"])
    if run["arm"] not in TAUGHT:
        return None
    task = TASKS[run["task"]]
    drawn = draw(data, task, run["part"], run["size"], run["seed"])
    n_steps = run["epochs"] * -(-len(drawn.train) // BATCH)
    texts = _unlabeled(nlp, run, drawn)
    component: Any = nlp.get_pipe(task.component)
    return Teacher(component, texts, n_steps, run["seed"], TAUGHT[run["arm"]])


def _unlabeled(nlp: Language, run: dict[str, Any], drawn: Data) -> list[Example]:
    """Read texts that a seed did not draw, of which no label is looked at."""
    known = {*drawn.train}
    rest = [row for row in drawn.pool if row not in known]
    own = random.Random(run["seed"]).sample(rest, min(N_UNLABELED, len(rest)))
    with TemporaryDirectory() as name:
        path = write(Path(name) / "more.tsv", TASKS[run["task"]], drawn.header, own)
        block: Any = nlp.config.interpolate()["corpora"]["train"]
        corpus = registry.resolve({"train": {**block, "path": str(path)}})["train"]
        found = list(corpus(nlp))
    annotate(nlp, found)
    return found


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
        base = adapted(encoder, run["arm"], texts_of(drawn, task))
        nlp = init_nlp(config_for(task, run, base, files, steps))
        if run["arm"] in ZERO:
            component: Any = nlp.get_pipe(task.component)
            start_as_baseline(component.model)
        if run["arm"] in MIXED:
            mix_layers(nlp)
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
    change: Change | None = None,
    losses: dict[str, float] | None = None,
) -> None:
    """Train a pipeline as spaCy's loop does.

    nlp (Language): The pipeline, initialized.
    examples (list[Example]): What it is trained on.
    epochs (int): How often it sees each of them.
    seed (int): Shuffles them.
    change (Optional[Callable]): Changes each batch.
    losses (Optional[dict[str, float]]): The loss of each component is added to it.
    """
    block = nlp.config.interpolate()["training"]
    settings: Any = registry.resolve(block, schema=ConfigSchemaTraining)
    optimizer, before_update = settings["optimizer"], settings["before_update"]
    annotate(nlp, examples)
    order = random.Random(seed)
    no_update: Any = False  # None would make an optimizer
    step = 0
    for epoch in range(epochs):
        order.shuffle(examples)
        for batch in _cut(examples, BATCH):
            if change:
                batch = change(batch)
            if before_update:
                before_update(nlp, {"step": step, "epoch": epoch})
            frozen = settings["frozen_components"]
            nlp.update(batch, sgd=no_update, losses=losses, exclude=frozen)
            for _, component in nlp.pipeline:
                finish_update = getattr(component, "finish_update", None)
                if finish_update and getattr(component, "is_trainable", False):
                    finish_update(optimizer)
            optimizer.step_schedules()
            step += 1


def annotate(nlp: Language, examples: Iterable[Example]) -> None:
    """Let components that are not trained annotate texts: the same in each step."""
    for name in nlp.config["training"]["annotating_components"]:
        for example in examples:
            example.predicted = nlp.get_pipe(name)(example.predicted)


def by_length(examples: Any) -> list[Example]:
    """Put texts of like length side by side: less padding."""
    return sorted(examples, key=lambda example: len(example.reference))


def _cut(examples: Sequence[Example], size: int) -> Iterator[Sequence[Example]]:
    for start in range(0, len(examples), size):
        yield examples[start : start + size]
