"""Training steps and prediction against a plain loop of Hugging Face's, in turns.

    python -m benchmarks.encoder DATA/glue/SST-2/train.tsv ENCODER
    python -m benchmarks.encoder DATA/glue/CoLA/train.tsv ENCODER --n-predicted 0

The plain loop pads each batch to its longest text, as usual, and gets the same texts in
the same order.
"""

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import spacy
import torch
import typer
from spacy.training import Example
from transformers import AutoModel, AutoTokenizer

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.encoder.hf_encoder import cpu_has_bf16

from .arguments import Encoder, File
from .harness import needs, our_config, timed_in_turns, without_missing
from .plain_loop import BATCH, Classifier, encode, parameter_groups, predict, read_table
from .report import report

PLAIN, SORTED = "plain loop", "plain loop, sorted by length"
OURS, IN_BF16 = "textcat_spanft", "textcat_spanft in bf16"
OVER = "textcat_spanft over spacy-transformers"
RATE = 2e-5
# The config, the encoder component and the precision of each pipeline.
ARMS = {
    OURS: (OURS, "spanft", "single"),
    IN_BF16: (OURS, "spanft", "bf16"),
    "textcat_baseline": ("textcat_baseline", "spanft", "single"),
    OVER: (OURS, "spacy-transformers", "single"),
}
Step = Callable[[list[str], list[int]], Any]
Predict = Callable[[list[str]], Any]


def plain(encoder: Path) -> tuple[Step, Predict]:
    """Return the step and the prediction of the usual loop."""
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    model = Classifier(AutoModel.from_pretrained(encoder), 2)
    optimizer = torch.optim.AdamW(parameter_groups(model), lr=RATE, eps=1e-6)

    def step(texts: list[str], labels: list[int]) -> None:
        model.train()
        scores = model(encode(tokenizer, texts))
        torch.nn.functional.cross_entropy(scores, torch.tensor(labels)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return step, lambda texts: predict(model, tokenizer, texts, 2 * BATCH)


def ours(
    name: str,
    kind: str,
    precision: str,
    encoder: Path,
    texts: list[str],
    labels: list[int],
) -> tuple[Step, Predict]:
    """Return the step and the prediction of a pipeline, as in spaCy's loop."""
    overrides = {"paths.transformer": str(encoder)}
    if kind == "spanft":
        overrides["components.transformer.model.precision"] = precision
    config = our_config(name, overrides, encoder=kind).interpolate()
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)

    def examples_of(texts: list[str], labels: list[int]) -> list[Example]:
        golds = ({"cats": {"0": 1.0 - y, "1": float(y)}} for y in labels)
        pairs = zip(texts, golds, strict=True)
        return [Example.from_dict(nlp.make_doc(text), gold) for text, gold in pairs]

    nlp.initialize(lambda: examples_of(texts[: 2 * BATCH], labels[: 2 * BATCH]))
    block = {"optimizer": nlp.config["training"]["optimizer"] | {"learn_rate": RATE}}
    optimizer = spacy.util.registry.resolve(block)["optimizer"]
    annotates = [name for name in nlp.pipe_names if name == "span_segmenter"]

    def step(texts: list[str], labels: list[int]) -> None:
        nlp.update(examples_of(texts, labels), sgd=False, annotates=annotates)  # type: ignore[arg-type]
        for _, component in nlp.pipeline:
            if getattr(component, "is_trainable", False):
                component.finish_update(optimizer)  # type: ignore[attr-defined]

    def labels_of(texts: list[str]) -> list[str]:
        docs = nlp.pipe(texts, batch_size=2 * BATCH)
        return [max(doc.cats, key=lambda label: doc.cats[label]) for doc in docs]

    return step, labels_of


def _check_bf16() -> None:
    if not cpu_has_bf16():
        raise SpanftError("This CPU has no bf16.")


def _step(step: Step, batches: list[tuple[list[str], list[int]]], turn: int) -> None:
    step(*batches[turn])


def _on(predict_all: Predict, texts: list[str], turn: int) -> None:
    predict_all(texts)


def main(
    texts: File,
    encoder: Encoder,
    n_steps: int = 20,
    n_predicted: int = 1280,
    n_turns: int = 3,
) -> None:
    """Run all in turns."""
    data = list(zip(*read_table(texts), strict=True))
    random.Random(0).shuffle(data)
    sentences: list[str] = [text for text, _ in data]
    labels: list[int] = [label for _, label in data]
    checks = {OVER: needs("spacy_transformers"), IN_BF16: _check_bf16}
    pairs = {PLAIN: plain(encoder)}
    for name, arm in without_missing(ARMS, checks).items():
        pairs[name] = ours(*arm, encoder, sentences, labels)
    batches = [
        (sentences[start : start + BATCH], labels[start : start + BATCH])
        for start in range(0, BATCH * (n_steps + 1), BATCH)
    ]
    steps = {name: partial(_step, step, batches) for name, (step, _) in pairs.items()}
    report("training step", "s", timed_in_turns(steps, n_steps), OURS, [*ARMS])
    if n_predicted:
        mixed = sentences[:n_predicted]
        jobs = {
            name: partial(_on, labels_of, mixed)
            for name, (_, labels_of) in pairs.items()
        }
        jobs[SORTED] = partial(_on, pairs[PLAIN][1], sorted(mixed, key=len))
        report("prediction", "s", timed_in_turns(jobs, n_turns), OURS, [*ARMS])


if __name__ == "__main__":
    typer.run(main)
