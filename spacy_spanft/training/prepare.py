"""What is set and checked between initialization and the first step."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry
from thinc.api import Model

from ..errors import SpanftError, report, warn
from ..ml.cross_entropy import Weights, check_weight_names, target_layers
from ..ml.layers.pooling import POOLER
from ..ml.parameter_groups import models, shim_of, transformers, upstream
from ..util._compat import torch_module
from .checks import check_config, check_scores, warn_labels
from .contrast import WITHOUT
from .gold import blocks_in, cats_in, read_corpus
from .probe import start_from_probes
from .schedules import (
    FREEZE,
    MOST_STEPS,
    WARMUP_LINEAR,
    count_batches,
    evaluation_steps,
    first_step,
)


def prepare_training(
    probe: bool = False, contrast: int = 0
) -> Callable[[Language], None]:
    """Build `spacy-spanft.prepare_training.v1`, for [initialize.after_init].

    spaCy evaluates step 0 and then every eval_frequency-th, so that a short training
    has an untrained model-best. With eval_frequency = 0, the callback sets it and
    max_steps so that each epoch and the last step are evaluated; other values stay.
    `spacy-spanft.warmup_linear.v1` ends with the training. A corpus that streams
    (max_epochs = -1) is left alone.

    It also sets `class_weights`, copies the weights of pre-trained poolers, and checks
    for mistakes that would train a wrong model in silence.

    probe (bool): Whether text classifiers start from a linear model that is fitted to
        the vectors of the encoder as it is.
    contrast (int): In how many steps the encoder of a `textcat` then learns which texts
        have the same label, or other things if they predict held-out texts better; the
        linear model is fitted again.
    """
    return partial(_prepare, probe, contrast)


def _prepare(probe: bool, contrast: int, nlp: Language) -> None:
    config = nlp.config.interpolate()
    training = config["training"]
    check_config(nlp, config)
    _take_pretrained_poolers(nlp)
    train = read_corpus(nlp, config, "train_corpus")
    _set_class_weights(nlp, train)
    dev = read_corpus(nlp, config, "dev_corpus")
    warn_labels(nlp, dev or ())
    if dev is not None:
        check_scores(nlp, config, dev)
    last = training["max_steps"]
    if train or training["max_epochs"] < 0:
        last = _last_step(nlp, training, train or [])
    for block in blocks_in(nlp.config["training"]):
        if block.get("@schedules") == WARMUP_LINEAR and not block.get("max_steps"):
            block["max_steps"] = last
    freeze, settings = training["before_update"] or {}, nlp.config["training"]
    share = freeze.get("until_share") if freeze.get("@callbacks") == FREEZE else None
    if share and last != settings["max_steps"]:  # epochs end the training before
        steps = {"until_step": first_step(share, last), "until_share": None}
        settings["before_update"] |= steps
    if probe and train:
        start_from_probes(nlp, train, contrast)
    if contrast and not nlp.meta.get("probe"):
        raise SpanftError(
            "contrast > 0, but no text classifier has a probe, which needs probe = "
            f"true and data that is not streamed (max_epochs = -1). {WITHOUT}"
        )
    if _is_unscored(training):
        report(
            "ℹ SCORE stays 0: no score chooses model-best, which is the last state. If "
            "nothing is held out, the other scores are those of the training texts."
        )


def _is_unscored(training: Mapping[str, Any]) -> bool:
    """Whether no score chooses the best state, so that spaCy keeps the last one."""
    weights = training["score_weights"]
    return bool(weights) and not any(weights.values())


def _last_step(nlp: Language, settings: Any, train: list[Example]) -> int:
    """Return the last step of a training, 0 if it has no limit.

    If eval_frequency is 0, it is set, and max_steps to a step that is evaluated.
    """
    last: int = settings["max_steps"]
    frequency = settings["eval_frequency"]
    per_epoch, total = MOST_STEPS, None  # of what is streamed
    if train:
        per_epoch, total = count_batches(
            train,
            lambda: registry.resolve({"x": settings["batcher"]})["x"],
            last,
            settings["max_epochs"],
        )
    if per_epoch == 0:  # spaCy would wait forever for the first one
        raise SpanftError(
            "[training.batcher] makes no batch of the training data. Raise its size."
        )
    if total is not None:
        # A single step is step 0, and max_steps = 0 would be no limit.
        last = min(last or total, max(1, total - 1))
    if frequency < 1:
        frequency, last = evaluation_steps(last, per_epoch)
        nlp.config["training"] |= {"eval_frequency": frequency, "max_steps": last}
    elif _is_unscored(settings) and (last % frequency or last > frequency == 1):
        # The last state is saved only if it is evaluated, and no score chooses others.
        nlp.config["training"]["eval_frequency"] = last
        report(f"ℹ Only the last step, {last:,}, is evaluated, and kept.")
    elif 0 < last < frequency:
        warn(
            f"[training] eval_frequency is {frequency:,}, but the last step is {last:,}"
            ": model-best is hardly trained. Add --training.eval_frequency 0."
        )
    return last


def _set_class_weights(nlp: Language, train: Sequence[Example] | None) -> None:
    """Set the `class_weights` of text classifiers; train is None if it streams."""
    for name, model in models(nlp).items():
        component: Any = nlp.get_pipe(name)
        for layer in target_layers(model):
            weights: Any = layer.attrs["class_weights"] or {}
            if weights == "balanced":
                if train is None:
                    raise SpanftError(
                        f'{name!r} has class_weights = "balanced", but the training '
                        "data is streamed (max_epochs = -1). Set the weights by label."
                    )
                docs = [example.reference for example in train]
                is_exclusive = layer.attrs["exclusive"]
                weights = balanced(component.labels, docs, exclusive=is_exclusive)
            check_weight_names(name, weights, component.labels)
            if weights:
                known = [float(weights.get(x, 1.0)) for x in component.labels]
                layer.attrs["weights"] = known


def balanced(labels: Iterable[str], docs: Sequence[Doc], *, exclusive: bool) -> Weights:
    """Return weights with which a rare label counts as much as a frequent one.

    With one label a text, they are scikit-learn's: all labels have the same total, and
    texts a mean weight of 1. With several, they are PyTorch's pos_weight: the texts
    with a label have the same total as those without it.
    """
    counts = Counter(label for doc in docs for label in set(cats_in(doc)))
    labels = list(labels)
    known = [label for label in labels if counts[label]]
    if exclusive:
        n_docs = sum(any(label in doc.cats for label in labels) for doc in docs)
        return {label: n_docs / len(known) / counts[label] for label in known}
    # What a text says nothing of is not learned from it.
    others = Counter(x for doc in docs for x, value in doc.cats.items() if value <= 0)
    # A label that all texts have keeps a weight above 0.
    return {label: (others[label] or 1) / counts[label] for label in known}


def _take_pretrained_poolers(nlp: Language) -> None:
    """Copy the pooler of an encoder into the poolers of the models over it."""
    for name, model in models(nlp).items():
        for node in (node for node in model.walk() if node.name == POOLER):
            dense = _dense_of(nlp, model)
            W = node.get_param("W")
            if dense is None or dense.weight.shape != W.shape:
                warn(
                    f"The pooler of {name!r} begins with random weights, as its "
                    "encoder has none of its width. Perhaps set pooler = false."
                )
                continue
            for key, value in (("W", dense.weight), ("b", dense.bias)):
                # A copy: otherwise both would learn in the same memory.
                array = value.detach().float().cpu().numpy().copy()
                param: Any = node.ops.asarray(array, dtype=W.dtype)
                node.set_param(key, param)


def _dense_of(nlp: Language, model: Model[Any, Any]) -> Any:
    """Return the dense layer of the pooler of a model's encoder, or None."""
    for owner in (model, *(pipe.model for pipe in upstream(nlp, model))):
        for transformer in transformers(owner):
            pooler = getattr(torch_module(shim_of(transformer)), "pooler", None)
            # ALBERT's is the dense layer itself.
            dense = getattr(pooler, "dense", pooler)
            if getattr(dense, "weight", None) is not None:
                return dense
    return None
