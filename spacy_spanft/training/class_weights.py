"""The weights of labels that only the training data and the labels can tell."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..errors import SpanftError
from ..ml.cross_entropy import (
    Weights,
    check_weight_names,
    set_weights,
    target_layers,
)
from ..ml.optimizers.groups import models
from .gold import cats_in


def set_class_weights(nlp: Language, train: Sequence[Example] | None) -> None:
    """Set the `class_weights` of text classifiers.

    nlp (Language): The pipeline, just initialized.
    train (Optional[Sequence[Example]]): The training data; None if it is streamed.
    """
    for name, model in models(nlp).items():
        component: Any = nlp.get_pipe(name)
        for layer in target_layers(model):
            weights: Any = layer.attrs["class_weights"]
            if not weights:
                continue
            if weights != "balanced":
                check_weight_names(name, weights, component.labels)
            elif train is None:
                raise SpanftError(
                    f'{name!r} has class_weights = "balanced", but the training data '
                    "is streamed (max_epochs = -1). Set the weights by label."
                )
            else:
                docs = [example.reference for example in train]
                is_exclusive = layer.attrs["exclusive"]
                weights = balanced(component.labels, docs, exclusive=is_exclusive)
            set_weights(layer, [weights.get(label, 1.0) for label in component.labels])


def balanced(labels: Iterable[str], docs: Sequence[Doc], *, exclusive: bool) -> Weights:
    """Return weights with which a rare label counts as much as a frequent one.

    With one label a text, they are scikit-learn's: all labels have the same total, and
    texts a mean weight of 1. With several, they are PyTorch's pos_weight: the texts
    with a label have the same total as those without it.

    labels (Iterable[str]): The labels.
    docs (Sequence[Doc]): The texts.
    exclusive (bool): Whether a text has exactly one label.
    RETURNS (Weights): The weights of the labels that occur.
    """
    counts = Counter(label for doc in docs for label in set(cats_in(doc)))
    known = [label for label in labels if counts[label]]
    n_docs = sum(bool(doc.cats) for doc in docs)
    if exclusive:
        return {label: n_docs / len(known) / counts[label] for label in known}
    # A label that all texts have keeps a weight above 0.
    return {label: (n_docs - counts[label] or 1) / counts[label] for label in known}
