"""Gradients of an encoder's embeddings, only for the rows that were looked up.

PyTorch makes a matrix of the whole vocabulary for each micro-batch, nearly all of it
zeros, and adds it to the one before: on a CPU a tenth of a step.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def few_rows(module: torch.nn.Module) -> Iterator[None]:
    """Let gradients of embeddings hold only the rows that are looked up here.

    module (Module): The encoder.
    """
    embeddings = _embeddings(module)
    for embedding in embeddings:
        embedding.sparse = True
    try:
        yield
    finally:
        for embedding in embeddings:
            embedding.sparse = False


def make_room(module: torch.nn.Module) -> None:
    """Allocate the gradient of all rows of embeddings, to which those few are added.

    Without it the first gradient would stay sparse, which no optimizer here takes.

    module (Module): The encoder, before its backward pass.
    """
    for embedding in _embeddings(module):
        if embedding.weight.requires_grad and embedding.weight.grad is None:
            embedding.weight.grad = torch.zeros_like(embedding.weight)


def _embeddings(module: torch.nn.Module) -> list[torch.nn.Embedding]:
    """Return the embeddings whose gradients are dense, and need not be."""
    return [
        part
        for part in module.modules()
        if isinstance(part, torch.nn.Embedding)
        and not (part.sparse or part.scale_grad_by_freq)
    ]
