"""Cross-entropy with weights of classes and smoothed labels."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SpanftError, check_number, shown
from .layers.sequences import upload

Weights = dict[str, float]
_HEAVIEST = 1_000_000
# What a config does not keep as the name of a setting.
_NO_SETTING = re.compile(r"[=:\n]|^[#;\[]|^\s|\s$|^$")


def check_smoothing(smoothing: object) -> None:
    """Raise for a share of the labels that cannot be spread."""
    expected = "a number from 0 to below 1"
    check_number("label_smoothing", smoothing, lambda x: 0 <= x < 1, expected)


def read_weights(weights: Mapping[str, Any] | Sequence[Any] | None) -> Weights:
    """Read the weights of classes, as names or as pairs.

    A config has names as settings, and loses some of them in silence: those must be
    written as pairs.

    weights (Optional[Union[Dict[str, float], List[Tuple[str, float]]]]): The setting.
    RETURNS (Dict[str, float]): The weights by the names of the classes.
    """
    if isinstance(weights, Mapping):
        for name in weights:
            if _NO_SETTING.search(name):
                raise SpanftError(
                    f"class_weights has a weight of {name!r}, which cannot be the "
                    'name of a setting in a config: no "=" or ":" is allowed in it, '
                    'nor "#", ";" or "[" at its beginning. Write pairs: '
                    f'class_weights = [["{name}", 3.0], ...]'
                )
    for pair in weights if isinstance(weights, list | tuple) else ():
        is_pair = isinstance(pair, list | tuple) and len(pair) == 2
        if not is_pair or not isinstance(pair[0], str):
            raise SpanftError(
                f"class_weights has {shown(pair)}, which must be a pair of a label "
                'and its weight: class_weights = [["LABEL", 3.0], ...]'
            )
    read: Weights = dict(weights or {})
    if weights is not None and len(read) < len(weights):
        names = [pair[0] for pair in weights]
        twice = next(name for name in names if names.count(name) > 1)
        raise SpanftError(
            f"class_weights has two weights of {shown(twice)}. Remove one of them."
        )
    expected = f"a number above 0, and {_HEAVIEST:,} at most"
    for name, weight in read.items():
        setting = f"class_weights.{name}"
        check_number(setting, weight, lambda x: 0 < x <= _HEAVIEST, expected)
    return read


def check_weight_names(name: str, weights: Weights, labels: Sequence[str]) -> None:
    """Raise for a weight of a label that is not there.

    name (str): The component.
    weights (Dict[str, float]): The weights.
    labels (Sequence[str]): The labels there are.
    """
    for label in weights:
        if label not in labels:
            there = ", ".join(map(repr, labels))
            raise SpanftError(
                f"class_weights of {name!r} has a weight of {shown(label)}. Its "
                f"labels are {there}."
            )


def smoothed(truths: Any, smoothing: float, n_classes: int) -> Any:
    """Spread a share of each label over all classes.

    truths (FloatsXd): 1 where a class is right, otherwise 0.
    smoothing (float): The share.
    n_classes (int): Over how many classes it is spread: 2 where each is right or not.
    RETURNS (FloatsXd): What is learned.
    """
    return truths * (1 - smoothing) + smoothing / n_classes


def softmax_gradient(shares: Any, targets: Any, weights: Any) -> Any:
    """Compute the gradient, as that of PyTorch's CrossEntropyLoss before the mean.

    shares (Floats2d): The softmax, (n, n_classes).
    targets (Floats2d): What it learns, of the same shape.
    weights (Floats1d): Those of the classes.
    RETURNS (Floats2d): The gradient with respect to what goes into the softmax.
    """
    weighted = targets * weights
    return weighted.sum(axis=1)[:, None] * shares - weighted


def cross_entropy(
    ops: Any,
    shares: Any,
    truths: NDArray[np.int64],
    weights: Sequence[float],
    smoothing: float,
) -> tuple[float, Any]:
    """Compute the loss, summed, and its gradient.

    ops (Ops): Where the numbers are.
    shares (Floats2d): The softmax, (n, n_classes).
    truths (NDArray): The number of each one's class, -1 where there is nothing to
        learn, (n,).
    weights (Sequence[float]): Those of the classes.
    smoothing (float): The share of each that is spread over all classes.
    RETURNS (tuple[float, Floats2d]): The loss, and its gradient with respect to what
        goes into the softmax.
    """
    known = np.flatnonzero(truths >= 0)
    rows, columns = upload(ops, known, truths[known])
    own = shares[rows]
    targets = ops.xp.zeros_like(own)
    targets[ops.xp.arange(len(known)), columns] = 1
    targets = smoothed(targets, smoothing, own.shape[1])
    each = ops.asarray1f(list(weights))
    gradient = ops.xp.zeros_like(shares)
    gradient[rows] = softmax_gradient(own, targets, each)
    logs = ops.xp.log(ops.xp.maximum(own, np.finfo(own.dtype).tiny))
    return float(-(targets * each * logs).sum()), gradient
