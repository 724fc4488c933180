"""A probe: the last layer of a classifier, fitted to the vectors of a frozen encoder.

Fine-tuning that starts from one keeps more of what the encoder knows (Kumar et al.,
2022, "Fine-Tuning can Distort Pretrained Features"), which counts with few texts.
"""

import sys
from collections.abc import Sequence
from random import Random
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch
from thinc.api import Model

from ..errors import counted
from ..ml.parameter_groups import models
from .contrast import HANDFUL, NEARLY_PERFECT, check_contrast, learn_contrast

Floats = NDArray[np.float32]
# The inverse of the penalty, as scikit-learn's C.
STRENGTHS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
# After contrast: of a handful of texts, one scale keeps what sets them apart large.
_AFTER_CONTRAST, _AFTER_HANDFUL = 0.1, 0.01
# A classifier of few texts is sure of each: too sure for the encoder to learn anything.
# What tells pairs apart, scores, and a handful of texts, is mostly known, and stays.
SHRUNK_TO = 0.2
# Of more texts, a sample is fitted; `init` lets up to so many start from a probe.
MOST_TEXTS = 2000
_LEAST_DEVIATION = 1e-6
_N_FOLDS = 5
_N_STEPS = 100


def start_from_probes(
    nlp: Language, examples: Sequence[Example], contrast: int = 0
) -> None:
    """Fit the last layer of each text classifier, and print how good it is.

    The cross-validated score is kept in `nlp.meta["probe"]`, as a floor for the rest.

    contrast (int): In how many steps the encoder learns to tell labels apart, after
        which the layer is fitted again.
    """
    for name, model in models(nlp).items():
        if not {"pooled", "output_layer"} <= set(model.ref_names):
            continue
        component: Any = nlp.get_pipe(name)
        labeled = [eg for eg in examples if eg.reference.cats]
        if len(labeled) > MOST_TEXTS:
            labeled = Random(0).sample(labeled, MOST_TEXTS)
        if len(labeled) < 2:
            continue
        is_scored, is_pair = hasattr(component, "low"), "separator" in model.attrs
        exclusive = not model.attrs["multi_label"]
        if contrast:  # before the features are computed
            check_contrast(nlp, name)
        Y = _truths(component, labeled)
        X = _features(nlp, name, [example.predicted for example in labeled])
        W, b, predictions = fit_probe(X, Y, exclusive=exclusive)
        are_few = len(labeled) <= HANDFUL
        is_whole = is_scored or is_pair or are_few or contrast > 0
        _set_output(model, W, b, 1.0 if is_whole else SHRUNK_TO)
        if is_scored:
            pairs = predictions[:, 0], Y[:, 0]
            metric, score = "correlation", np.nan_to_num(np.corrcoef(*pairs)[0, 1])
        else:
            metric, score = "macro F1", macro_f(predictions, Y, exclusive)
        nlp.meta.setdefault("probe", {})[name] = {metric: round(float(score), 4)}
        print(
            f"ℹ {name!r} starts from a linear probe of the encoder: {metric} "
            f"{100 * score:.1f} in cross-validation over "
            f"{counted(len(labeled), 'training text')}.",
            file=sys.stderr,
        )
        if contrast and score >= NEARLY_PERFECT and not are_few:
            print(f"ℹ The encoder of {name!r} stays as it is.", file=sys.stderr)
        elif contrast:
            _contrast(nlp, name, labeled, (X, Y), (W, b), contrast, score)


def _truths(component: Any, labeled: list[Example]) -> Floats:
    """Return the share of each label, or how far a score is from low to high."""
    cats = [example.reference.cats for example in labeled]
    Y = np.array([[c.get(x, 0.0) for x in component.labels] for c in cats], dtype="f")
    if hasattr(component, "low"):
        Y = (Y - component.low) / (component.high - component.low)
    return Y


def _contrast(
    nlp: Language,
    name: str,
    labeled: list[Example],
    data: tuple[Floats, Floats],
    probe: tuple[Floats, Floats],
    n_steps: int,
    score: float,
) -> None:
    """Let the encoder learn by contrast, and fit the last layer to what it gives."""
    (X, Y), (W, b) = data, probe
    model: Model[Any, Any] = cast(Any, nlp.get_pipe(name)).model
    width = model.get_ref("rows").get_dim("nO")
    length = np.linalg.norm(X[:, -width:], axis=1).mean()
    start = length * W[:, -width:], b
    learn_contrast(nlp, name, labeled, Y, start, n_steps, score)
    docs = [example.predicted for example in labeled]
    X = _features(nlp, name, docs, trained=model.get_ref("text_vector"))
    # Cross-validation cannot choose it: the encoder has seen the texts of each fold.
    are_few = len(labeled) <= HANDFUL
    strength = _AFTER_HANDFUL if are_few else _AFTER_CONTRAST
    W, b = _fit_layer(X, *_reduced(X, one_scale=are_few), Y, strength, exclusive=True)
    _set_output(model, W, b, 1.0)


def _set_output(model: Model[Any, Any], W: Floats, b: Floats, share: float) -> None:
    output = model.get_ref("output_layer")
    for key, value in (("W", W), ("b", b)):
        array: Any = share * value
        output.set_param(key, cast(Any, model.ops.asarray(array, dtype="f")))


def _features(
    nlp: Language, name: str, docs: list[Doc], trained: Model[Any, Any] | None = None
) -> Floats:
    """Return what the last layer gets, with zeros for what random weights pool."""
    component: Any = nlp.get_pipe(name)
    model: Model[Any, Any] = component.model
    rows, pooled = model.get_ref("rows"), model.get_ref("pooled")
    stream = nlp.pipe(docs, disable=nlp.pipe_names[nlp.pipe_names.index(name) :])
    parts = [pooled.predict(rows.predict(b)) for b in minibatch(stream, nlp.batch_size)]
    X: Floats = model.ops.to_numpy(model.ops.xp.concatenate(parts))
    width = rows.get_dim("nO")
    for i, layer in enumerate(pooled.layers if X.shape[1] > width else [pooled]):
        if layer.name in ("span_pool", "text_pool") and layer is not trained:
            X[:, i * width : (i + 1) * width] = 0.0
    return X


def fit_probe(
    X: Floats, Y: Floats, *, exclusive: bool
) -> tuple[Floats, Floats, Floats]:
    """Fit a logistic regression, with a penalty chosen by cross-validation.

    X (Floats2d): The features, (n_texts, width).
    Y (Floats2d): The share of each label, (n_texts, n_labels), from 0 to 1.
    RETURNS (tuple[Floats2d, Floats1d, Floats2d]): The weights, (n_labels, width), the
        biases, and the scores of each text by a layer of the other folds.
    """
    Z, axes = _reduced(X)
    folds = _folds(Y)
    held_out = {strength: np.zeros_like(Y) for strength in STRENGTHS}
    for fold in range(int(folds.max()) + 1):
        rest = folds != fold
        start = np.zeros((Y.shape[1], Z.shape[1]), "f"), np.zeros(Y.shape[1], "f")
        for strength in STRENGTHS:
            start = _fit(Z[rest], Y[rest], strength, exclusive, start)
            held_out[strength][~rest] = Z[~rest] @ start[0].T + start[1]
    best = max(STRENGTHS, key=lambda c: _quality(held_out[c], Y, exclusive))
    W, b = _fit_layer(X, Z, axes, Y, best, exclusive)
    return W, b, held_out[best]


def _fit_layer(
    X: Floats, Z: Floats, axes: Floats, Y: Floats, strength: float, exclusive: bool
) -> tuple[Floats, Floats]:
    """Fit a logistic regression to reduced features, and return it for all of X."""
    start = np.zeros((Y.shape[1], Z.shape[1]), "f"), np.zeros(Y.shape[1], "f")
    weights, b = _fit(Z, Y, strength, exclusive, start)
    W = weights @ axes
    return W, b - W @ X.mean(axis=0)


def _reduced(X: Floats, *, one_scale: bool = False) -> tuple[Floats, Floats]:
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


def _folds(Y: Floats) -> NDArray[np.int64]:
    """Return the fold of each text, so that each has its share of each label."""
    order = np.random.default_rng(0).permutation(len(Y))
    by_label = order[np.argsort(Y[order].argmax(axis=1), kind="stable")]
    folds = np.empty(len(Y), np.int64)
    folds[by_label] = np.arange(len(Y)) % min(_N_FOLDS, len(Y))
    return folds


def _fit(
    Z: Floats, Y: Floats, strength: float, exclusive: bool, start: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """Minimize the cross-entropy and the penalty of the weights."""
    W, b = (torch.tensor(x, requires_grad=True) for x in start)
    features, targets = torch.from_numpy(Z), torch.from_numpy(Y)
    options: dict[str, Any] = {"max_iter": _N_STEPS, "line_search_fn": "strong_wolfe"}
    optimizer = torch.optim.LBFGS([W, b], **options)

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        total = strength * _cross_entropy(features @ W.T + b, targets, exclusive).sum()
        total = total + 0.5 * (W**2).sum()
        total.backward()  # type: ignore[no-untyped-call]
        return total

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    return W.detach().numpy(), b.detach().numpy()


def _cross_entropy(scores: Any, targets: Any, exclusive: bool) -> torch.Tensor:
    if exclusive:
        return -(targets * torch.log_softmax(scores, dim=1)).sum(dim=1)
    losses = torch.nn.functional.binary_cross_entropy_with_logits
    return losses(scores, targets, reduction="none").sum(dim=1)


def _quality(scores: Floats, Y: Floats, exclusive: bool) -> tuple[float, float]:
    """Return the macro F1 of held-out texts, and their likelihood where that ties."""
    tensors = torch.from_numpy(scores), torch.from_numpy(Y)
    likelihood = -float(_cross_entropy(*tensors, exclusive).mean())
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
