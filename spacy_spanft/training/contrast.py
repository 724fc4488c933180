"""Contrast: an encoder learns which texts have the same label, before it classifies.

SetFit (Tunstall et al., 2022, "Efficient Few-Shot Learning Without Prompts") takes the
pairs of texts one by one. Here all pairs of a batch are compared at once, so that some
hundred steps do what it does in thousands. A classifier of the same vectors learns with
it, so that what the encoder knew of the labels is not lost.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Adam, Model, Softmax
from tqdm import tqdm

from ..errors import SpanftError
from ..ml.cross_entropy import target_layers
from ..ml.layers.span_pool import normalized
from ..ml.parameter_groups import models, upstream, weights_of
from .schedules import warmup_linear

Floats = NDArray[np.float32]
# The texts of a batch.
N_TEXTS = 16
# Divided by the width of the encoder, as Adam's rate should be (Yang et al., 2022,
# "Tensor Programs V"): 1e-4 for MiniLM's 384.
_RATE = 0.0384
# So few texts are soon learned: a step for each.
HANDFUL = 32
# How much it counts beside the cross-entropy.
_WEIGHT = 30.0
WITHOUT = (
    "Set [initialize.after_init] contrast = 0, and [training] to what "
    "`spanft init --regime everything` writes."
)


def learn_contrast(
    nlp: Language,
    name: str,
    examples: Sequence[Example],
    Y: Floats,
    start: tuple[Floats, Floats],
    n_steps: int,
    *,
    share: float = 1.0,
    by_contrast: bool = True,
) -> None:
    """Train the encoder of a text classifier to tell its labels apart.

    Y (Floats2d): 1 for the label of each text, (n_texts, n_labels).
    start (tuple[Floats2d, Floats1d]): The weights and biases of a classifier of its
        vectors, divided by their lengths.
    share (float): What is left of the usual rate.
    by_contrast (bool): Whether pairs of texts count, and not cross-entropy alone.
    """
    component: Any = nlp.get_pipe(name)
    ops: Any = component.model.ops
    classifier: Model[Any, Any] = Softmax(*start[0].shape)
    for key, value in zip("Wb", start, strict=True):
        classifier.set_param(key, ops.asarray(value, dtype="f"))
    encoders = upstream(nlp, component.model)
    rate = share * _RATE / classifier.get_dim("nI")
    rates: Any = warmup_linear(rate, max_steps=max(1, n_steps - 1))
    optimizer = Adam(rates, L2=0.01, use_averages=False)
    labeled = np.flatnonzero(Y.any(axis=1)).tolist()
    batches = _batches(labeled, nlp.config.interpolate()["training"]["seed"])
    for _ in tqdm(range(n_steps), "Contrast", disable=None, leave=False):
        rows = next(batches)
        batch = [examples[i] for i in rows]
        for encoder in encoders:
            encoder.update(batch)
        docs = [example.predicted for example in batch]
        truths = ops.asarray(Y[rows])
        _backpropagate(component.model, classifier, docs, truths, by_contrast)
        for part in (*encoders, component, classifier):
            part.finish_update(optimizer)
        optimizer.step_schedules()


def check_contrast(nlp: Language, name: str) -> None:
    """Raise for a text classifier that cannot learn by contrast."""
    component: Any = nlp.get_pipe(name)
    model = component.model
    is_single = not model.attrs["multi_label"] and not hasattr(component, "low")
    if not is_single or "separator" in model.attrs or next(target_layers(model), None):
        raise SpanftError(
            f"{name!r} cannot learn by contrast, which is for single texts with one "
            f"label each and without class_weights or label_smoothing. {WITHOUT}"
        )
    frozen = nlp.config.interpolate()["training"]["frozen_components"]
    encoders = upstream(nlp, model)
    if not encoders or any(
        len(pipe.listeners) > 1 or pipe.name in frozen for pipe in encoders
    ):
        raise SpanftError(
            f"contrast > 0, but the encoder of {name!r} is no component, or frozen, or "
            f"shared with others. {WITHOUT}"
        )


def encoder_weights(nlp: Language, name: str) -> list[Any]:
    """Return the weights of a classifier's encoders, which can be changed in place."""
    encoders = upstream(nlp, models(nlp)[name])
    return [x for part in encoders for x in weights_of(part.model)]


def _batches(rows: list[int], seed: int) -> Iterator[list[int]]:
    """Yield batches; an epoch leaves out the rows that would not fill one."""
    rng = random.Random(seed)
    while True:
        rng.shuffle(rows)
        for start in range(0, max(1, len(rows) - N_TEXTS + 1), N_TEXTS):
            yield rows[start : start + N_TEXTS]


def _backpropagate(
    model: Model[Any, Any],
    classifier: Model[Any, Any],
    docs: list[Doc],
    truths: Any,
    by_contrast: bool,
) -> None:
    """Add the gradient of a batch to that of the encoder, and of the classifier."""
    rows, backprop_rows = model.get_ref("rows")(docs, True)
    vectors, backprop = model.get_ref("text_vector")(rows, True)
    unit, backprop_unit = normalized(model.ops.xp, vectors)
    probabilities, backprop_classes = classifier(unit, True)
    d_unit = backprop_classes((probabilities - truths) / len(docs))
    if by_contrast:
        d_unit += _WEIGHT * contrast_gradient(model.ops.xp, unit, truths)
    backprop_rows(backprop(backprop_unit(d_unit)))


def contrast_gradient(xp: Any, unit: Any, truths: Any) -> Any:
    """Return the gradient of the loss of contrast with respect to vectors of length 1.

    The cosine of two vectors should be 1 if the texts have the same label, or else 0.
    The loss is the mean square of what is missing, over the pairs with the same label
    and over the others, halved.

    truths (Floats2d): 1 for the label of each text, (n, n_labels).
    """
    same = truths @ truths.T
    alike, other = same - xp.eye(len(same), dtype=same.dtype), 1 - same
    weights = alike / xp.maximum(1, alike.sum()) + other / xp.maximum(1, other.sum())
    return 2 * (weights * (unit @ unit.T - same)) @ unit  # each pair occurs twice
