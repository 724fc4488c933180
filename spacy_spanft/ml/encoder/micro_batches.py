"""Cuts a batch so that little of it is padding."""

import numpy as np

from ..alignment import Ints


def micro_batches(lengths: Ints, overhead: float, most: int) -> list[Ints]:
    """Cut sequences into micro-batches of similar length, at the least cost.

    A micro-batch costs as many rows as it has with its padding, and the overhead. Of
    all cuts of the sequences in the order of their lengths, the cheapest is taken.

    lengths (Ints): The length of each sequence, (n_sequences,).
    overhead (float): The cost of a micro-batch beside its rows, in rows.
    most (int): The most rows of a micro-batch of more than one sequence.
    RETURNS (list[Ints]): The sequences of each micro-batch, the shortest ones first.
    """
    order = np.argsort(lengths, kind="stable")
    # Sequences of one length stay together: there are few lengths, even in thousands.
    sizes, counts = np.unique(lengths, return_counts=True)
    before = np.concatenate([[0], np.cumsum(counts)])
    n_sizes = len(sizes)
    best = np.zeros(n_sizes + 1)
    since = np.zeros(n_sizes + 1, np.int64)
    for end in range(1, n_sizes + 1):
        n_sequences = before[end] - before[:end]
        # One that would be too large is cut into several of the same length.
        n_parts = -(-n_sequences // max(1, most // sizes[end - 1]))
        costs = best[:end] + n_sequences * sizes[end - 1] + overhead * n_parts
        since[end] = np.argmin(costs)
        best[end] = costs[since[end]]
    batches: list[Ints] = []
    end = n_sizes
    while end:
        begin = int(since[end])
        group = order[before[begin] : before[end]]
        n_fitting = max(1, most // int(sizes[end - 1]))
        n_parts = -(-len(group) // n_fitting)
        batches.extend(reversed(np.array_split(group, n_parts)))
        end = begin
    return batches[::-1]
