"""How much each label counts in training, where a config asks for it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model

from ..errors import Errors, SpanftError
from ..ml.cross_entropy import (
    Weights,
    check_weight_names,
    set_weights,
    target_layers,
)
from .gold import cats_in


def set_class_weights(nlp: Language, train: Sequence[Example] | None) -> None:
    """Tell the models how much each label counts, whose numbers they do not know.

    train (Optional[Sequence[Example]]): The training data; None where it streams.
    """
    pipeline: Any = nlp.pipeline
    for name, component in pipeline:
        model = getattr(component, "model", None)
        for layer in target_layers(model) if isinstance(model, Model) else ():
            if layer.attrs["class_weights"]:
                weights = _weights(name, component.labels, layer.attrs, train)
                set_weights(layer, [weights.get(one, 1.0) for one in component.labels])


def balanced(labels: Iterable[str], docs: Sequence[Doc], *, exclusive: bool) -> Weights:
    """Compute the weights with which a rare label counts as much as a frequent one.

    Where a text has one label they are scikit-learn's: the texts of each label count
    together as much as those of any other, and a text once in the mean. Where it can
    have several they are PyTorch's pos_weight: the texts that have a label count
    together as much as those that have not.

    labels (Iterable[str]): The labels.
    docs (Sequence[Doc]): The texts.
    exclusive (bool): Whether a text has exactly one label.
    RETURNS (Weights): The weights of those labels that occur.
    """
    counts = Counter(label for doc in docs for label in set(cats_in(doc)))
    there = [label for label in labels if counts[label]]
    n_docs = sum(bool(doc.cats) for doc in docs)
    if exclusive:
        return {label: n_docs / len(there) / counts[label] for label in there}
    # One that all texts have is learned from them alone.
    others = {label: (n_docs - counts[label]) or 1 for label in there}
    return {label: others[label] / counts[label] for label in there}


def _weights(
    name: str,
    labels: Sequence[str],
    attrs: dict[str, Any],
    train: Sequence[Example] | None,
) -> Weights:
    weights = attrs["class_weights"]
    if weights == "balanced":
        if train is None:
            raise SpanftError(Errors.BALANCED_STREAM.format(name=name))
        docs = [example.reference for example in train]
        return balanced(labels, docs, exclusive=attrs["exclusive"])
    check_weight_names(name, weights, labels)
    found: Weights = weights
    return found
