"""Peers of the Hugging Face world, with nothing of spaCy or of this package.

    python foreign.py PEER FOLDER ENCODER SEED

It may run in an environment of its own, as SetFit and SpanMarker need older versions of
transformers. FOLDER has train.jsonl and test.jsonl; predictions.jsonl is written: a
label of each text, or [start, end, label] of each entity, in tokens. The settings are
those of each peer's own example.
"""

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

Rows = list[dict[str, Any]]
LONGEST = 128


def arguments(folder: Path, seed: int, **settings: Any) -> Any:
    """Return Hugging Face's arguments of a training that saves nothing."""
    from transformers import TrainingArguments

    quiet = {"save_strategy": "no", "report_to": [], "disable_tqdm": True}
    quiet["dataloader_pin_memory"] = torch.cuda.is_available()
    return TrainingArguments(str(folder / "trainer"), seed=seed, **quiet, **settings)


def fitted(model: Any, how: Any, rows: Rows, collator: Any) -> Any:
    """Return a Trainer that has trained a model."""
    from transformers import Trainer

    trainer = Trainer(model, how, train_dataset=rows, data_collator=collator)  # type: ignore[arg-type]
    trainer.train()
    return trainer


def trainer_texts(
    train: Rows, test: Rows, encoder: str, seed: int, folder: Path
) -> list[Any]:
    """Classify texts as transformers' run_glue.py: 3 epochs, 2e-5, batches of 32."""
    from transformers import AutoModelForSequenceClassification as Model
    from transformers import AutoTokenizer, DataCollatorWithPadding, set_seed

    set_seed(seed)
    labels = sorted({row["label"] for row in train})
    tokenizer = AutoTokenizer.from_pretrained(encoder)

    def encode(row: dict[str, Any]) -> dict[str, Any]:
        inputs: Any = tokenizer(row["text"], truncation=True, max_length=LONGEST)
        known = row["label"] in labels
        return {**inputs, "labels": labels.index(row["label"]) if known else 0}

    trainer = fitted(
        Model.from_pretrained(encoder, num_labels=len(labels)),
        arguments(folder, seed, learning_rate=2e-5, per_device_train_batch_size=32),
        [encode(row) for row in train],
        DataCollatorWithPadding(tokenizer),
    )
    logits = trainer.predict([encode(row) for row in test]).predictions
    return [labels[i] for i in logits.argmax(axis=1)]


def trainer_tokens(
    train: Rows, test: Rows, encoder: str, seed: int, folder: Path, steps: int = -1
) -> list[Any]:
    """Tag words as transformers' run_ner.py: 3 epochs, 5e-5, batches of 8.

    Of few sentences, 3 epochs are few steps: another number may replace them.
    """
    from transformers import AutoModelForTokenClassification as Model
    from transformers import AutoTokenizer, DataCollatorForTokenClassification, set_seed

    set_seed(seed)
    kinds = sorted({label for row in train for _, _, label in row["ents"]})
    tags = ["O", *(f"{mark}-{kind}" for kind in kinds for mark in "BI")]
    tokenizer = AutoTokenizer.from_pretrained(encoder, add_prefix_space=True)

    def encode(row: dict[str, Any]) -> dict[str, Any]:
        inputs: Any = tokenizer(
            row["tokens"], truncation=True, is_split_into_words=True
        )
        truth, before = [], None
        for word in inputs.word_ids():
            is_first = word is not None and word != before
            truth.append(
                tags.index(_tag(row["ents"], word, kinds)) if is_first else -100
            )
            before = word
        return {**inputs, "labels": truth}

    trainer = fitted(
        Model.from_pretrained(encoder, num_labels=len(tags)),
        arguments(
            folder,
            seed,
            learning_rate=5e-5,
            per_device_train_batch_size=8,
            max_steps=steps,
        ),
        [encode(row) for row in train],
        DataCollatorForTokenClassification(tokenizer),
    )
    rows = [encode(row) for row in test]
    logits = trainer.predict(rows).predictions
    answers = []
    for scores, row, encoded in zip(logits, test, rows, strict=True):
        firsts = np.flatnonzero(np.array(encoded["labels"]) != -100)
        best = [tags[i] for i in scores[firsts].argmax(axis=1)]
        best += ["O"] * (len(row["tokens"]) - len(best))  # what was cut off
        answers.append(entities_of(best))
    return answers


def _tag(ents: list[tuple[int, int, str]], word: int, kinds: list[str]) -> str:
    for start, end, label in ents:
        if start <= word < end and label in kinds:
            return f"{'B' if word == start else 'I'}-{label}"
    return "O"


def entities_of(tags: list[str]) -> list[list[Any]]:
    """Return the entities of IOB tags, as seqeval reads them."""
    ents: list[list[Any]] = []
    before = "O"
    for i, tag in enumerate(tags):
        mark, _, label = tag.partition("-")
        if mark == "B" or (mark == "I" and before[2:] != label):
            ents.append([i, i + 1, label])
        elif mark == "I":
            ents[-1][1] = i + 1
        before = tag
    return ents


def span_marker(
    train: Rows, test: Rows, encoder: str, seed: int, folder: Path
) -> list[Any]:
    """Find entities as SpanMarker's documentation: 5e-5, batches of 4, 3 epochs."""
    from datasets import Dataset
    from span_marker import SpanMarkerModel, Trainer
    from transformers import set_seed

    set_seed(seed)
    kinds = sorted({label for row in train for _, _, label in row["ents"]})
    tags = ["O", *(f"{mark}-{kind}" for kind in kinds for mark in "BI")]
    columns = [
        {
            "tokens": row["tokens"],
            "ner_tags": [
                tags.index(_tag(row["ents"], i, kinds))
                for i in range(len(row["tokens"]))
            ],
        }
        for row in train
    ]
    model = SpanMarkerModel.from_pretrained(
        encoder, labels=tags, model_max_length=256, entity_max_length=8
    )
    settings = {"per_device_train_batch_size": 4, "warmup_ratio": 0.1}
    how = arguments(folder, seed, learning_rate=5e-5, num_train_epochs=3, **settings)
    trainer = Trainer(model=model, args=how, train_dataset=Dataset.from_list(columns))
    trainer.train()
    predicted = model.predict([row["tokens"] for row in test])
    return [
        [[ent["word_start_index"], ent["word_end_index"], ent["label"]] for ent in ents]
        for ents in predicted
    ]


def setfit(train: Rows, test: Rows, encoder: str, seed: int, folder: Path) -> list[Any]:
    """Classify texts with SetFit's defaults."""
    from datasets import Dataset
    from setfit import SetFitModel, Trainer, TrainingArguments

    model = SetFitModel.from_pretrained(encoder)
    how = TrainingArguments(str(folder / "setfit"), seed=seed, report_to="none")
    trainer = Trainer(model, how, train_dataset=Dataset.from_list(train))
    trainer.train()
    return [str(label) for label in model.predict([row["text"] for row in test])]


PEERS: dict[str, Callable[..., list[Any]]] = {
    "Hugging Face Trainer": trainer_texts,
    "SetFit": setfit,
    "Hugging Face token classification": trainer_tokens,
    # As many as `spanft init` takes.
    "Hugging Face token classification, 300 steps": partial(trainer_tokens, steps=300),
    "SpanMarker": span_marker,
}


def main(peer: str, folder: Path, encoder: str, seed: int) -> None:
    """Train, predict, and write the predictions."""
    torch.set_num_threads(1)
    train, test = (
        [json.loads(line) for line in (folder / name).read_text("utf8").splitlines()]
        for name in ("train.jsonl", "test.jsonl")
    )
    answers = PEERS[peer](train, test, encoder, seed, folder)
    lines = [json.dumps(answer) + "\n" for answer in answers]
    (folder / "predictions.jsonl").write_text("".join(lines), "utf8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
