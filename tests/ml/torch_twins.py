"""Layers, forward and back, against what PyTorch computes on padded sequences."""

import numpy as np
import torch
from thinc.types import Ragged

from spacy_spanft.ml.alignment import encoding_of_wordpieces
from spacy_spanft.ml.layers.encoder_rows import DocRows

WIDTH = 5


def ragged(lengths, seed=0, dtype="f8", width=WIDTH):
    rows = np.random.default_rng(seed).normal(size=(sum(lengths), width))
    return Ragged(rows.astype(dtype), np.array(lengths, "i"))


def initialized(layer, X=None, dtype="f8", seed=0):
    """Initialize a layer with random weights, biases too."""
    random = np.random.default_rng(seed)
    layer.initialize(X=ragged([2], 0, "f") if X is None else X)
    for node, name in weights_of(layer):
        shape = node.get_param(name).shape
        node.set_param(name, random.normal(size=shape).astype(dtype))
    return layer


def weights_of(layer):
    nodes = [(node, name) for node in layer.walk() for name in node.param_names]
    return [(node, name) for node, name in nodes if node.has_param(name)]


def flat(Y):
    if isinstance(Y, list):
        return np.concatenate(Y)
    rows = Y.vectors if isinstance(Y, DocRows) else Y
    return rows.dataXd if isinstance(rows, Ragged) else rows


def like(Y, rows):
    """Cut rows as Y is cut."""
    if isinstance(Y, list):
        return np.split(rows, np.cumsum([len(part) for part in Y])[:-1])
    return Ragged(rows, Y.lengths) if isinstance(Y, Ragged) else rows


def assert_equal(layer, X, reference, tolerance=1e-10, rtol=None):
    """Compare the output and all gradients of a layer with those of its reference.

    reference(rows, *weights) is computed by PyTorch, with the weights in the order of
    `layer.walk()`.
    """
    rows = torch.tensor(flat(X), requires_grad=True)
    nodes = weights_of(layer)
    theirs = [torch.tensor(n.get_param(name), requires_grad=True) for n, name in nodes]
    expected = reference(rows, *theirs)
    Y, backprop = layer(X, is_train=True)
    close = {"atol": tolerance, "rtol": rtol or tolerance}
    np.testing.assert_allclose(flat(Y), expected.detach(), **close)
    dY = np.random.default_rng(1).normal(size=flat(Y).shape).astype(flat(Y).dtype)
    dX = backprop(like(Y, dY))
    # What has no part in the output has a gradient of zero.
    nothing = sum((tensor * 0).sum() for tensor in (rows, *theirs))
    ((expected * torch.tensor(dY)).sum() + nothing).backward()
    np.testing.assert_allclose(flat(dX), rows.grad, **close)
    for (node, name), tensor in zip(nodes, theirs, strict=True):
        gradient = node.get_grad(name) if node.has_grad(name) else 0
        np.testing.assert_allclose(gradient, tensor.grad, **close, err_msg=name)


def encode(random, n_tokens):
    """Draw the rows of tokens as a transformer's, between [CLS] and [SEP].

    There may be windows that overlap, padding, and tokens that are cut off, have no
    row, or share one.
    """
    size, stride = random.choice([(9, 9), (3, 2), (4, 4), (2, 1)])
    firsts = range(0, max(1, n_tokens - int(size - stride)), int(stride))
    bounds = [(a, min(a + int(size), n_tokens)) for a in firsts]
    n_rows = random.integers(0, 4, n_tokens)
    limit = int(random.integers(3, 20))
    sizes = [min(limit, 2 + int(n_rows[a:b].sum())) for a, b in bounds]
    width = max(sizes) + int(random.integers(0, 3))
    rows = [[] for _ in range(n_tokens)]
    for window, (a, b) in enumerate(bounds):
        at = 1
        for token in range(a, b):
            is_shared = at > 1 and n_rows[token] and random.random() < 0.2
            at -= bool(is_shared)
            for _ in range(n_rows[token]):
                if at < limit:
                    rows[token].append(window * width + at)
                at += 1
    return encoding_of_wordpieces(
        [row for of_token in rows for row in of_token],
        [len(of_token) for of_token in rows],
        sizes,
        width,
    )


def best_window(rows, width):
    """Return the first of the windows that have most of a token's rows."""
    windows = [row // width for row in rows]
    return max(sorted(windows), key=windows.count, default=None)


def pad(rows, lengths):
    """Put sequences into a padded tensor (n_sequences, longest, width), with a mask."""
    longest = max([1, *lengths])
    padded = rows.new_zeros(len(lengths), longest, rows.shape[1])
    mask = torch.zeros(len(lengths), longest, dtype=torch.bool)
    for i, part in enumerate(torch.split(rows, list(lengths))):
        padded[i, : len(part)] = part
        mask[i, : len(part)] = True
    return padded, mask


def windows(rows, lengths, W, b):
    """c_j = ReLU(W [t_j ... t_(j+k-1)] + b), windows at every row."""
    padded, mask = pad(rows, lengths)
    padded = torch.nn.functional.pad(padded, (0, 0, 0, len(W) - 1))
    conv = torch.nn.functional.conv1d(padded.transpose(1, 2), W.permute(1, 2, 0), b)
    return torch.relu(conv).transpose(1, 2)[mask]


def cnn(rows, lengths, W, b):
    padded, _ = pad(windows(rows, lengths, W, b), lengths)
    return padded.amax(dim=1)  # ReLU leaves nothing below zero, so zeros do no harm


def attention(rows, lengths, W, b, w):
    """Softmax(w tanh(W t + b)) over each sequence, then the weighted sum."""
    padded, mask = pad(rows, lengths)
    scores = torch.tanh(padded @ W.T + b) @ w
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=1) * mask
    return (weights[:, :, None] * padded).sum(dim=1)


def maximum(rows, lengths):
    padded, mask = pad(rows, lengths)
    maxima = padded.masked_fill(~mask[:, :, None], -torch.inf).amax(dim=1)
    return torch.where(mask.any(dim=1)[:, None], maxima, 0.0)


def boundaries(rows, lengths, *weights):
    """[s; e; g] of each sequence; the attention stands one step above the others."""
    (Wa, ba, w), ends = weights[:3], (weights[3:7], weights[7:])
    full = [part for part in torch.split(rows, lengths) if len(part)]
    width = 2 * len(ends[0][0]) + rows.shape[1]
    pooled = rows.new_zeros(len(lengths), width)
    if full:
        parts = []
        for i, (W, b, V, c) in zip((0, -1), ends, strict=True):
            hidden = torch.relu(torch.stack([part[i] for part in full]) @ W.T + b)
            parts.append(hidden @ V.T + c)
        sizes = [len(part) for part in full]
        summary = attention(rows, sizes, Wa, ba, w)
        pooled[torch.tensor(lengths) > 0] = torch.cat([*parts, summary], dim=1)
    return pooled
