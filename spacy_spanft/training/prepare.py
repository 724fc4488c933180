"""What is looked at, and set right, between initialization and the first step."""

import sys
from collections.abc import Callable
from typing import Any

from spacy.language import Language
from spacy.training import Example
from spacy.util import registry

from ..errors import Warnings
from .batch_count import count_batches
from .checks.labels import warn_no_labels, warn_similar_labels, warn_unseen_labels
from .checks.names import check_initialized, check_names
from .checks.numbers import check_batches, check_numbers
from .checks.parts import check_parts
from .checks.scores import check_scores
from .checks.settings import check_classifiers, check_spans, warn_unused_paths
from .class_weights import set_class_weights
from .corpora import read_corpus
from .evaluation import evaluation_steps
from .pretrained_pooler import take_pretrained_poolers
from .schedules import set_max_steps


def prepare_training() -> Callable[[Language], None]:
    """Build `spacy-spanft.prepare_training.v1`, for [initialize.after_init].

    spaCy evaluates step 0 and then each eval_frequency-th, so that a short training has
    an untrained model-best. Here eval_frequency and max_steps become what evaluates
    each epoch and the last step, and `spacy-spanft.warmup_linear.v1` ends with that.
    What streams (max_epochs = -1) stays.
    The labels of `class_weights` are found.
    A pooler begins with the pre-trained weights of its encoder's.
    What would spoil a training in silence is found before it begins: labels that only
    the dev data has, metrics that nothing computes, settings that nothing reads, and
    numbers with which training would never end, or learn nothing.

    RETURNS (Callable[[Language], None]): The callback.
    """
    return _prepare


def _prepare(nlp: Language) -> None:
    config = nlp.config.interpolate()
    check_names()
    check_initialized(nlp, config)
    check_numbers(config)
    check_parts(config)
    check_classifiers(nlp, config)
    check_spans(nlp, config)
    warn_unused_paths(nlp.config)
    warn_no_labels(nlp)
    warn_similar_labels(nlp)
    take_pretrained_poolers(nlp)
    is_stream = config.get("training", {}).get("max_epochs", -1) < 0
    train = None if is_stream else read_corpus(nlp, config, "train_corpus")
    set_class_weights(nlp, train)
    dev = read_corpus(nlp, config, "dev_corpus")
    if dev is not None:
        warn_unseen_labels(nlp, dev)
        check_scores(nlp, config, dev)
    if train:
        _fit_steps(nlp, config["training"], train)
    set_max_steps(nlp.config)


def _fit_steps(nlp: Language, settings: Any, train: list[Example]) -> None:
    """Let the loop end with the epochs, and evaluate each; say what changed."""
    max_steps, frequency = settings["max_steps"], settings["eval_frequency"]
    block = {"batcher": settings["batcher"]}
    batches = count_batches(
        train,
        lambda: registry.resolve(block)["batcher"],
        max_steps,
        settings["max_epochs"],
    )
    check_batches(batches.per_epoch, settings["batcher"])
    end = max_steps
    if batches.total is not None:
        # A single step is step 0, and max_steps = 0 would be no limit.
        last = max(1, batches.total - 1)
        end = min(max_steps or last, last)
    # No more than what somebody asked for.
    fitted = evaluation_steps(end, batches.per_epoch, frequency, can_grow=False)
    changes = []
    new = {
        "eval_frequency": (frequency, fitted.eval_frequency),
        "max_steps": (max_steps, fitted.n_steps),
    }
    for name, (before, after) in new.items():
        if before != after:
            nlp.config["training"][name] = after
            changes.append(f"{name} = {after} (it was {before})")
    if changes:
        place = {"changes": ", ".join(changes), "per_epoch": batches.per_epoch}
        print(f"ℹ {Warnings.EVALUATION_FITTED.format(**place)}", file=sys.stderr)
