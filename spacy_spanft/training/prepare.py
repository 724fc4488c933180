"""What is set and checked between initialization and the first step."""

import sys
from collections.abc import Callable
from typing import Any

from spacy.language import Language
from spacy.training import Example
from spacy.util import registry

from ..errors import SpanftError
from .checks import check_config, check_scores, warn_labels
from .class_weights import set_class_weights
from .evaluation import count_batches, evaluation_steps
from .gold import read_corpus
from .pretrained_pooler import take_pretrained_poolers
from .schedules import set_max_steps


def prepare_training() -> Callable[[Language], None]:
    """Build `spacy-spanft.prepare_training.v1`, for [initialize.after_init].

    spaCy evaluates step 0 and then every eval_frequency-th, so that a short training
    has an untrained model-best. The callback sets eval_frequency and max_steps so that
    each epoch and the last step are evaluated, and `spacy-spanft.warmup_linear.v1` ends
    with that. A corpus that streams (max_epochs = -1) is left alone.

    It also sets `class_weights`, copies the weights of pre-trained poolers, and checks
    for mistakes that would train a wrong model in silence.

    RETURNS (Callable[[Language], None]): The callback.
    """
    return _prepare


def _prepare(nlp: Language) -> None:
    config = nlp.config.interpolate()
    check_config(nlp, config)
    take_pretrained_poolers(nlp)
    is_stream = config.get("training", {}).get("max_epochs", -1) < 0
    train = None if is_stream else read_corpus(nlp, config, "train_corpus")
    set_class_weights(nlp, train)
    dev = read_corpus(nlp, config, "dev_corpus")
    warn_labels(nlp, dev or ())
    if dev is not None:
        check_scores(nlp, config, dev)
    if train:
        _fit_steps(nlp, config["training"], train)
    set_max_steps(nlp.config)


def _fit_steps(nlp: Language, settings: Any, train: list[Example]) -> None:
    """Let training end with its epochs, and evaluate each; print what changed."""
    max_steps, frequency = settings["max_steps"], settings["eval_frequency"]
    block = {"batcher": settings["batcher"]}
    batches = count_batches(
        train,
        lambda: registry.resolve(block)["batcher"],
        max_steps,
        settings["max_epochs"],
    )
    if batches.per_epoch == 0:  # spaCy would wait forever for the first one
        raise SpanftError(
            "[training.batcher] makes no batch of the training data. Raise its size, "
            "or keep texts that are longer (discard_oversize = false)."
        )
    end = max_steps
    if batches.total is not None:
        # A single step is step 0, and max_steps = 0 would be no limit.
        last = max(1, batches.total - 1)
        end = min(max_steps or last, last)
    # Never more than the config asks for.
    fitted = evaluation_steps(end, batches.per_epoch, frequency, can_grow=False)
    changes = []
    for name, value in zip(("eval_frequency", "max_steps"), fitted, strict=True):
        if settings[name] != value:
            nlp.config["training"][name] = value
            changes.append(f"{name} = {value} (it was {settings[name]})")
    if changes:
        print(
            f"ℹ [training] {', '.join(changes)}, so that there is an evaluation at "
            f"least once an epoch ({batches.per_epoch} steps) and at the last step.",
            file=sys.stderr,
        )
