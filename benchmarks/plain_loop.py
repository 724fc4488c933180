"""Fine-tuning as a plain PyTorch and Hugging Face loop: what `finetune` compares with.

Nothing of this package and nothing of spaCy is in it. The head is a linear layer over
the encoder's last [CLS] vector, as in `ClsTextCat`, so that only the training differs.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer, get_linear_schedule_with_warmup


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


def fit_and_predict(
    train: tuple[list[Any], list[int]],
    dev: list[Any],
    encoder: Path,
    learn_rate: float,
    seed: int,
    epochs: int = 3,
) -> list[int]:
    """Train on texts (or pairs of texts) with labels 0 to n - 1.

    RETURNS (list[int]): The labels predicted for dev.
    """
    seed_everything(seed)
    texts, labels = train
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    model = Classifier(AutoModel.from_pretrained(encoder), len(set(labels)))

    def loss_of(batch: list[int]) -> Any:
        logits = model(_encode(tokenizer, [texts[i] for i in batch]))
        truth = torch.tensor([labels[i] for i in batch])
        return torch.nn.functional.cross_entropy(logits, truth)

    fit(model, len(texts), loss_of, learn_rate, epochs)
    return _predict(model, tokenizer, dev)


def seed_everything(seed: int) -> None:
    """Seed all that draws random numbers."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


Batcher = Callable[[list[int]], Iterable[list[int]]]


def in_order(order: list[int]) -> Iterator[list[int]]:
    """Cut shuffled examples into batches of 32, as they come."""
    for start in range(0, len(order), 32):
        yield order[start : start + 32]


def fit(
    model: Any,
    n_examples: int,
    loss_of: Callable[[list[int]], Any],
    learn_rate: float,
    epochs: int,
    batcher: Batcher = in_order,
) -> None:
    """Train with AdamW, warm-up and linear decay."""
    optimizer = torch.optim.AdamW(_groups(model), lr=learn_rate, eps=1e-6)
    steps = epochs * -(-n_examples // 32)
    schedule = get_linear_schedule_with_warmup(optimizer, steps // 10, steps)
    model.train()
    for _ in range(epochs):
        order = random.sample(range(n_examples), n_examples)
        for batch in batcher(order):
            loss_of(batch).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()


def _predict(model: Any, tokenizer: Any, texts: list[Any]) -> list[int]:
    model.eval()
    found: list[int] = []
    with torch.no_grad():
        for start in range(0, len(texts), 32):
            logits = model(_encode(tokenizer, texts[start : start + 32]))
            found += logits.argmax(dim=1).tolist()
    return found


def _encode(tokenizer: Any, texts: list[Any]) -> Any:
    return tokenizer(
        texts, truncation=True, max_length=128, padding="longest", return_tensors="pt"
    )


def _groups(model: Any) -> list[dict[str, Any]]:
    """Spare biases and layer norms the weight decay, as is done everywhere."""
    decayed = [p for name, p in model.named_parameters() if p.ndim > 1]
    spared = [p for name, p in model.named_parameters() if p.ndim <= 1]
    return [
        {"params": decayed, "weight_decay": 0.01},
        {"params": spared, "weight_decay": 0.0},
    ]
