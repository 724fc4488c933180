"""Named entities as a plain PyTorch and Hugging Face loop: what `ner` compares with.

Nothing of this package and nothing of spaCy is in it: a linear layer tells the IOB2 tag
of each token from the last vector of its first wordpiece.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import torch
from transformers import AutoModel, AutoTokenizer

from .plain_loop import fit, seed_everything


class Tagger(torch.nn.Module):
    """Each wordpiece: dropout, linear."""

    def __init__(self, encoder: Any, n_tags: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.dropout = torch.nn.Dropout(0.1)
        self.linear = torch.nn.Linear(encoder.config.hidden_size, n_tags)
        self.linear.weight.data.normal_(0, encoder.config.initializer_range)
        self.linear.bias.data.zero_()

    def forward(self, inputs: Any) -> Any:
        states = self.encoder(**inputs).last_hidden_state
        return self.linear(self.dropout(states))


ItemT = TypeVar("ItemT")


def batches_by_length(
    items: Iterable[ItemT], length_of: Callable[[ItemT], int]
) -> Iterator[list[ItemT]]:
    """Cut shuffled items into batches of 32 of like length, in random order.

    With much less padding, as with the Trainer's group_by_length.
    """
    items = list(items)
    batches = []
    for start in range(0, len(items), 32 * 50):
        near = sorted(items[start : start + 32 * 50], key=length_of)
        batches += [near[i : i + 32] for i in range(0, len(near), 32)]
    random.shuffle(batches)
    yield from batches


def fit_and_tag(
    train: tuple[list[list[str]], list[list[str]]],
    texts: list[list[str]],
    encoder: Path,
    learn_rate: float,
    seed: int,
    epochs: int,
) -> list[list[str]]:
    """Train on tokens with their tags.

    RETURNS (list[list[str]]): The tags predicted for the texts.
    """
    seed_everything(seed)
    words, tags = train
    names = sorted({tag for sentence in tags for tag in sentence})
    tokenizer = AutoTokenizer.from_pretrained(encoder, add_prefix_space=True)
    model = Tagger(AutoModel.from_pretrained(encoder), len(names))

    def loss_of(batch: list[int]) -> Any:
        inputs, firsts = _encode(tokenizer, [words[i] for i in batch])
        truth = torch.tensor([names.index(tag) for i in batch for tag in tags[i]])
        logits = model(inputs)[firsts]
        return torch.nn.functional.cross_entropy(logits, truth)

    def batcher(order: list[int]) -> Iterable[list[int]]:
        return batches_by_length(order, lambda i: len(words[i]))

    fit(model, len(words), loss_of, learn_rate, epochs, batcher)
    model.eval()
    found: list[list[str]] = []
    with torch.no_grad():
        for start in range(0, len(texts), 32):
            batch = texts[start : start + 32]
            inputs, firsts = _encode(tokenizer, batch)
            best = iter(model(inputs)[firsts].argmax(dim=1).tolist())
            found += [[names[next(best)] for _ in sentence] for sentence in batch]
    return found


def _encode(tokenizer: Any, batch: list[list[str]]) -> tuple[Any, Any]:
    """Give the inputs, and the places of each token's first wordpiece."""
    inputs = tokenizer(
        batch, is_split_into_words=True, padding="longest", return_tensors="pt"
    )
    rows, columns = [], []
    for i, sentence in enumerate(batch):
        ids = inputs.word_ids(i)
        # A token of which the tokenizer makes nothing is told by [CLS].
        rows += [i] * len(sentence)
        columns += [ids.index(j) if j in ids else 0 for j in range(len(sentence))]
    return inputs, (torch.tensor(rows), torch.tensor(columns))
