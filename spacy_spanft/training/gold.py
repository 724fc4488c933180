"""The corpora of a config, and the annotated labels of a Doc, of each kind."""

from collections.abc import Iterator
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import dot_to_object, resolve_dot_names

from .readers.columns import SCORE


def read_corpus(nlp: Language, config: Any, setting: str) -> list[Example] | None:
    """Read the corpus that a setting of [training] names.

    nlp (Language): The pipeline.
    config (Config): Its config, interpolated.
    setting (str): "train_corpus" or "dev_corpus".
    RETURNS (Optional[list[Example]]): Its examples; None if the config has no corpus,
        as when `nlp.initialize` is called with examples.
    """
    name = config.get("training", {}).get(setting)
    try:
        block = dot_to_object(config, name or "")
    except KeyError:
        return None
    if block is None or block.get("path", "") is None:
        return None
    (corpus,) = resolve_dot_names(config, [name])
    return list(corpus(nlp))


def cats_in(doc: Doc) -> Iterator[str]:
    """Return the labels of a text that hold."""
    return (label for label, value in doc.cats.items() if value > 0)


def entities_in(doc: Doc) -> Iterator[str]:
    """Return the label of each entity."""
    return (entity.label_ for entity in doc.ents)


def spans_in(doc: Doc, key: str | None = None) -> Iterator[str]:
    """Return the label of each span in a group, or in all groups."""
    groups = doc.spans.values() if key is None else [doc.spans.get(key, [])]
    return (span.label_ for group in groups for span in group)


def tags_in(doc: Doc) -> Iterator[str]:
    """Return the tags of the tokens."""
    return (token.tag_ for token in doc if token.tag_)


def has_score(doc: Doc) -> bool:
    """Whether a text has a score in place of labels."""
    return set(doc.cats) == {SCORE}


def labels_in(doc: Doc) -> Iterator[str]:
    """Yield all labels of a text, its entities and its spans."""
    if not has_score(doc):
        yield from cats_in(doc)
    yield from entities_in(doc)
    yield from spans_in(doc)
