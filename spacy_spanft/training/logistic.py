"""A logistic regression over features, with a penalty that cross-validation chooses."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..errors import SpanftError

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
# The weights, (n_labels, width), and the biases.
Layer = tuple[Floats, Floats]
# The inverse of the penalty, as scikit-learn's C.
STRENGTHS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
_LEAST_DEVIATION = 1e-6
# The deviation of a feature over fewer texts is chance, and may be close to 0.
_FEWEST_FOR_SCALES = 8
_N_FOLDS = 5
_N_STEPS = 100


def fit_probe(
    X: Floats, Y: Floats, texts: Sequence[str] = (), *, exclusive: bool
) -> tuple[Floats, Floats, Floats]:
    """Fit a logistic regression, with a penalty chosen by cross-validation.

    X (Floats2d): The features, (n_texts, width).
    Y (Floats2d): The share of each label, (n_texts, n_labels), from 0 to 1.
    texts (Sequence[str]): Equal ones are held out together.
    RETURNS (tuple[Floats2d, Floats1d, Floats2d]): The weights, (n_labels, width), the
        biases, and the scores of each text by a layer of the other folds.
    """
    Z, axes = reduced(X, one_scale=len(X) < _FEWEST_FOR_SCALES)
    folds = folds_of(Y, texts or range(len(Y)), _N_FOLDS)
    if not folds.any():
        raise SpanftError(
            "All labeled texts are the same, so that there is nothing to learn."
        )
    held_out = {strength: np.zeros_like(Y) for strength in STRENGTHS}
    for fold in range(int(folds.max()) + 1):
        rest, layer = folds != fold, None
        for strength in STRENGTHS:
            layer = _fit(Z[rest], Y[rest], strength, exclusive, layer)
            held_out[strength][~rest] = Z[~rest] @ layer[0].T + layer[1]
    best = max(STRENGTHS, key=lambda c: quality(held_out[c], Y, exclusive))
    W, b = fit_layer(X, Z, axes, Y, best, exclusive)
    return W, b, held_out[best]


def fit_layer(
    X: Floats, Z: Floats, axes: Floats, Y: Floats, strength: float, exclusive: bool
) -> Layer:
    """Fit a logistic regression to reduced features, and return it for all of X."""
    weights, b = _fit(Z, Y, strength, exclusive)
    W = weights @ axes
    return W, b - W @ X.mean(axis=0)


def reduced(X: Floats, *, one_scale: bool = False) -> tuple[Floats, Floats]:
    """Return features of mean 0 and deviation 1, and the axes that they are along.

    There are at most as many as texts, which span no more dimensions.

    one_scale (bool): Whether the deviation is 1 on average, and not of each feature.
    """
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    varies = deviation > _LEAST_DEVIATION
    if one_scale and varies.any():
        deviation[:] = np.sqrt(np.mean(deviation[varies] ** 2))
    Z = (X - mean)[:, varies] / deviation[varies]
    axes = np.zeros((Z.shape[1], X.shape[1]), "f")
    axes[:, varies] = np.diag(1 / deviation[varies])
    if len(Z) < Z.shape[1]:
        directions = np.linalg.svd(Z, full_matrices=False)[2]
        Z, axes = Z @ directions.T, directions @ axes
    return Z, axes


def folds_of(Y: Floats, texts: Sequence[Any], n_folds: int) -> NDArray[np.int64]:
    """Return the fold of each text, so that each has its share of each label."""
    first = {text: i for i, text in reversed([*enumerate(texts)])}
    rows = sorted(first.values())
    order = np.random.default_rng(0).permutation(len(rows))
    labels = Y[rows].argmax(axis=1)
    by_label = order[np.argsort(labels[order], kind="stable")]
    folds = np.empty(len(Y), np.int64)
    folds[np.array(rows)[by_label]] = np.arange(len(rows)) % min(n_folds, len(rows))
    return folds[[first[text] for text in texts]]


def _fit(
    Z: Floats, Y: Floats, strength: float, exclusive: bool, start: Layer | None = None
) -> Layer:
    """Minimize the cross-entropy and the penalty of the weights."""
    start = start or (np.zeros((Y.shape[1], Z.shape[1]), "f"), np.zeros_like(Y[0]))
    W, b = (torch.tensor(x, requires_grad=True) for x in start)
    features, targets = torch.from_numpy(Z), torch.from_numpy(Y)
    optimizer = torch.optim.LBFGS(
        [W, b], max_iter=_N_STEPS, line_search_fn="strong_wolfe"
    )

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        total = strength * cross_entropy(features @ W.T + b, targets, exclusive).sum()
        total = total + 0.5 * (W**2).sum()
        total.backward()  # type: ignore[no-untyped-call]
        return total

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    return W.detach().numpy(), b.detach().numpy()


def cross_entropy(scores: Any, targets: Any, exclusive: bool) -> torch.Tensor:
    """Return that of each text, for tensors of its scores and the shares of labels."""
    if exclusive:
        return -(targets * torch.log_softmax(scores, dim=1)).sum(dim=1)
    losses = torch.nn.functional.binary_cross_entropy_with_logits
    return losses(scores, targets, reduction="none").sum(dim=1)


def quality(scores: Floats, Y: Floats, exclusive: bool) -> tuple[float, float]:
    """Return the macro F1 of held-out texts, and their likelihood where that ties."""
    tensors = torch.from_numpy(scores), torch.from_numpy(Y)
    likelihood = -float(cross_entropy(*tensors, exclusive).mean())
    return (macro_f(scores, Y, exclusive) if exclusive else 0.0), likelihood


def macro_f(scores: Floats, Y: Floats, exclusive: bool) -> float:
    """Return the mean F1 of the labels: the best of a text, or all above 0."""
    n = Y.shape[1]
    if exclusive:
        predicted, truth = np.eye(n)[scores.argmax(axis=1)], np.eye(n)[Y.argmax(axis=1)]
    else:
        predicted, truth = scores > 0, Y > 0.5
    hits = (predicted * truth).sum(axis=0)
    return float(np.mean(2 * hits / np.maximum(1, predicted.sum(0) + truth.sum(0))))
