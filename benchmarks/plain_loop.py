"""Fine-tuning as a plain PyTorch and Hugging Face loop, to compare with.

Nothing of this package and nothing of spaCy is in it. The head is a linear layer over
the encoder's last [CLS] vector, as in `ClsTextCat`, so that only the training differs.
"""

import csv
import random
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer, get_linear_schedule_with_warmup

BATCH = 32


class Classifier(torch.nn.Module):
    """[CLS], dropout, linear."""

    def __init__(self, encoder: Any, n_labels: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.dropout = torch.nn.Dropout(0.1)
        self.linear = torch.nn.Linear(encoder.config.hidden_size, n_labels)
        self.linear.weight.data.normal_(0, encoder.config.initializer_range)
        self.linear.bias.data.zero_()

    def forward(self, inputs: Any) -> Any:
        states = self.encoder(**inputs).last_hidden_state
        return self.linear(self.dropout(states[:, 0]))


def read_table(path: Path) -> tuple[list[str], list[int]]:
    """Return the sentences and labels of one of GLUE's tables."""
    with open(path, encoding="utf8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [row["sentence"] for row in rows], [int(row["label"]) for row in rows]


def fit_and_predict(
    train: tuple[list[str], list[int]],
    dev: list[str],
    encoder: Path,
    learn_rate: float,
    seed: int,
    epochs: int,
) -> list[int]:
    """Train with AdamW, warm-up and linear decay, and return the labels of dev."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    texts, labels = train
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    model = Classifier(AutoModel.from_pretrained(encoder), len(set(labels)))
    optimizer = torch.optim.AdamW(parameter_groups(model), lr=learn_rate, eps=1e-6)
    steps = epochs * -(-len(texts) // BATCH)
    schedule = get_linear_schedule_with_warmup(optimizer, steps // 10, steps)
    model.train()
    for _ in range(epochs):
        order = random.sample(range(len(texts)), len(texts))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            logits = model(encode(tokenizer, [texts[i] for i in batch]))
            truth = torch.tensor([labels[i] for i in batch])
            torch.nn.functional.cross_entropy(logits, truth).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
    return predict(model, tokenizer, dev, BATCH)


def predict(model: Any, tokenizer: Any, texts: list[str], batch: int) -> list[int]:
    """Return the labels of texts, in batches as they come."""
    model.eval()
    labels: list[int] = []
    with torch.no_grad():
        for start in range(0, len(texts), batch):
            logits = model(encode(tokenizer, texts[start : start + batch]))
            labels += logits.argmax(dim=1).tolist()
    return labels


def encode(tokenizer: Any, texts: list[str]) -> Any:
    """Return the inputs of a batch, padded to its longest text."""
    return tokenizer(
        texts, truncation=True, max_length=128, padding="longest", return_tensors="pt"
    )


def parameter_groups(model: Any) -> list[dict[str, Any]]:
    """Return parameters with and, for biases and layer norms, without weight decay."""
    decayed = [p for name, p in model.named_parameters() if p.ndim > 1]
    spared = [p for name, p in model.named_parameters() if p.ndim <= 1]
    return [
        {"params": decayed, "weight_decay": 0.01},
        {"params": spared, "weight_decay": 0.0},
    ]
