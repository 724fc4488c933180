"""The span head, ragged as ours, against the same padded, and padded by Python loops.

    python -m benchmarks.head
    python -m benchmarks.head --memory --n-docs 102

All pool the same 32 Docs of 40 wordpieces in the same pieces, CNN over CNN, forward and
backward. The padded ones are PyTorch with r = 64 pieces a Doc and l = 16 rows a piece;
the loops fill the padded tensor row by row, as the code of the paper does. --memory
measures the memory of a step beyond that of its input, the imports and the weights.
"""

import resource
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
import typer
from thinc.api import get_current_ops
from thinc.types import Ragged

from spacy_spanft.ml.layers.pooling import cnn_pooling

from .harness import in_turns, timed_in_turns
from .report import report

R, L = 64, 16
PIECES = (1, 1, 1, 2, 2, 3, 4, 5)


def make_pieces(n_docs: int, n_rows: int) -> list[list[int]]:
    """Draw the number of rows of each piece of each Doc."""
    random = np.random.default_rng(0)
    docs = []
    for _ in range(n_docs):
        pieces: list[int] = []
        while (left := n_rows - sum(pieces)) > 0:
            pieces.append(min(int(random.choice(PIECES)), left))
        docs.append(pieces)
    return docs


def ours(docs: list[list[int]], n_rows: int, width: int) -> Callable[..., Any]:
    """Return a step of the layers of SpanTextCat, on thinc's current device."""
    ops: Any = get_current_ops()
    spans, pooled = cnn_pooling(), cnn_pooling()
    for layer in (spans, pooled):
        layer.initialize(X=Ragged(ops.alloc2f(1, width), ops.asarray1i([1])))
    size = (len(docs) * n_rows, width)
    X = ops.asarray2f(np.random.default_rng(1).normal(size=size).astype("f"))
    lengths = ops.asarray1i([n for doc in docs for n in doc])
    n_pieces = ops.asarray1i([len(doc) for doc in docs])

    def step(turn: int = 0) -> Any:
        vectors, backprop_spans = spans(Ragged(X, lengths), True)
        Y, backprop_docs = pooled(Ragged(vectors, n_pieces), True)
        return backprop_spans(backprop_docs(ops.xp.ones_like(Y)).dataXd)

    return step


def padded(
    docs: list[list[int]], n_rows: int, width: int, by_loops: bool
) -> Callable[..., Any]:
    """Return the same step with a padded tensor, filled at once or by loops."""
    first, second = torch.nn.Conv1d(width, width, 3), torch.nn.Conv1d(width, width, 3)
    X = torch.randn(len(docs), n_rows, width, requires_grad=True)
    index = torch.full((len(docs), R, L), n_rows)
    for i, doc in enumerate(docs):
        at = 0
        for j, n in enumerate(doc[:R]):
            index[i, j, :n] = torch.arange(at, at + n)
            at += n

    def gather() -> torch.Tensor:
        behind = torch.cat([X, X.new_zeros(len(docs), 1, width)], dim=1)
        places = index.view(len(docs), -1, 1).expand(-1, -1, width)
        return torch.gather(behind, 1, places).view(-1, L, width)

    def fill() -> torch.Tensor:
        tensor = torch.zeros(len(docs), R, L, width)
        for i, doc in enumerate(docs):
            at = 0
            for j, n in enumerate(doc):
                for k in range(n):
                    tensor[i][j][k] = X[i][at + k]
                at += n
        return tensor.view(-1, L, width)

    def step(turn: int = 0) -> Any:
        rows = fill() if by_loops else gather()
        spans = torch.relu(first(rows.transpose(1, 2))).amax(-1)
        spans = spans.view(len(docs), R, width).transpose(1, 2)
        torch.relu(second(spans)).amax(-1).sum().backward()

    return step


def megabytes(name: str, n_docs: int, n_rows: int, width: int) -> float:
    """Return the peak megabytes of one step, in a new process."""
    docs = make_pieces(n_docs, n_rows)
    build = ours if name == "ours" else partial(padded, by_loops=False)
    step = build(docs, n_rows, width)
    # Libraries allocate memory when they first compute.
    build(docs[:1], n_rows, width)()
    before = _peak()
    step()
    return _peak() - before


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(
    n_docs: int = 32,
    n_rows: int = 40,
    width: int = 768,
    repeat: int = 5,
    memory: bool = False,
) -> None:
    """Measure."""
    if memory:
        size = (n_docs, n_rows, width)
        runs = in_turns({n: (megabytes, n, *size) for n in ("ours", "padded")}, repeat)
        needed = {name: [run.result for run in each] for name, each in runs.items()}
        report("memory of a step", "MB", needed, "ours")
        return
    docs = make_pieces(n_docs, n_rows)
    steps = {
        "ours": ours(docs, n_rows, width),
        "padded": padded(docs, n_rows, width, by_loops=False),
    }
    loops = {"padded by loops": padded(docs, n_rows, width, by_loops=True)}
    # The loops take a minute.
    times = timed_in_turns(steps, repeat) | timed_in_turns(loops, 2)
    report("step", "s", times, "ours")


if __name__ == "__main__":
    typer.run(main)
