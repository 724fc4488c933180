"""Warns before training of labels that the dev data has and no component knows."""

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ...errors import Errors, SpanftError, Warnings
from ..corpora import read_corpus
from ..gold import cats_in, entities_in, spans_in, tags_in


def _entities(component: Any, doc: Doc) -> Iterable[str]:
    return entities_in(doc)


def _spans(component: Any, doc: Doc) -> Iterable[str]:
    return spans_in(doc, component.key)


def _cats(component: Any, doc: Doc) -> Iterable[str]:
    return cats_in(doc)


def _tags(component: Any, doc: Doc) -> Iterable[str]:
    return tags_in(doc)


_SPANCATS = ("spancat", "spancat_singlelabel")
LabelsOf = Callable[[Any, Doc], Iterable[str]]
# Where the gold labels of each factory's components stand.
_GOLD: dict[str, LabelsOf] = {
    "ner": _entities,
    "beam_ner": _entities,
    "bilou_ner": _entities,
    "spancat": _spans,
    "spancat_singlelabel": _spans,
    "textcat": _cats,
    "textcat_multilabel": _cats,
    "tagger": _tags,
}


def make_label_check() -> Callable[[Language], None]:
    """Build `spacy-spanft.warn_unseen_labels.v1`, for [initialize.after_init].

    A label of the dev data that the training data does not have can never be predicted,
    and spaCy says nothing of it. As the dev data is read here once, whatever is wrong
    with it is found before training begins, too.

    RETURNS (Callable[[Language], None]): Warns once for each component.
    """
    return _check


def _check(nlp: Language) -> None:
    dev = read_corpus(nlp, nlp.config.interpolate(), "dev_corpus")
    if dev is not None:
        warn_unseen_labels(nlp, dev)


def warn_unseen_labels(nlp: Language, dev: Iterable[Example]) -> None:
    """Warn of labels of the dev data that a component does not know.

    dev (Iterable[Example]): The dev data.
    """
    components = _components(nlp)
    found: dict[str, set[str]] = {name: set() for name in components}
    for example in dev:
        for name, (component, labels_of) in components.items():
            found[name].update(labels_of(component, example.reference))
    for name, (component, _) in components.items():
        if new := sorted(found[name] - set(component.labels)):
            place = {"name": name, "labels": ", ".join(map(repr, new))}
            warnings.warn(Warnings.UNSEEN_LABELS.format(**place), stacklevel=2)


def warn_no_labels(nlp: Language) -> None:
    """Warn of components that were initialized without any label."""
    for name, (component, _) in _components(nlp).items():
        if not component.labels:
            warnings.warn(Warnings.NO_LABELS.format(name=name), stacklevel=2)


def warn_similar_labels(nlp: Language) -> None:
    """Warn of labels that are the same but for white space or capital letters."""
    for name, (component, _) in _components(nlp).items():
        if (message := similar_labels(name, component.labels)) is not None:
            warnings.warn(message, stacklevel=2)


def similar_labels(name: str, labels: Iterable[str]) -> str | None:
    """Say which labels are the same but for white space or capital letters.

    name (str): What learns them.
    labels (Iterable[str]): The labels.
    RETURNS (Optional[str]): A warning; None if there are no such labels.
    """
    alike: dict[str, list[str]] = {}
    for label in labels:
        alike.setdefault(" ".join(label.split()).casefold(), []).append(label)
    groups = [" and ".join(map(repr, g)) for g in alike.values() if len(g) > 1]
    place = {"name": name, "labels": "; ".join(groups)}
    return Warnings.SIMILAR_LABELS.format(**place) if groups else None


def make_span_check() -> Callable[[Language], None]:
    """Build `spacy-spanft.check_span_groups.v1`, for [initialize.before_init].

    A spancat whose key no example has fails with spaCy's E143, which asks for labels
    and names neither the key nor those that are there.

    RETURNS (Callable[[Language], None]): Raises for such a component.
    """
    return _check_span_groups


def _check_span_groups(nlp: Language) -> None:
    config = nlp.config.interpolate()
    settings = config.get("initialize", {}).get("components", {})
    unsure: list[tuple[str, Any]] = [
        (name, component)
        for name, component in nlp.pipeline
        if nlp.get_pipe_meta(name).factory in _SPANCATS
        and "labels" not in settings.get(name, {})
    ]
    if not unsure or config.get("training", {}).get("max_epochs", -1) < 0:
        return
    train = read_corpus(nlp, config, "train_corpus")
    there = {
        key for eg in train or () for key, own in eg.reference.spans.items() if own
    }
    for name, component in unsure:
        if train and component.key not in there:
            names = ", ".join(map(repr, sorted(there))) or "none"
            place = {"name": name, "key": component.key, "there": names}
            raise SpanftError(Errors.NO_SPAN_GROUP.format(**place))


def _components(nlp: Language) -> dict[str, tuple[Any, LabelsOf]]:
    """Find the components that have labels, and where those stand in gold data."""
    return {
        name: (component, _GOLD[factory])
        for name, component in nlp.pipeline
        if (factory := nlp.get_pipe_meta(name).factory) in _GOLD
    }
