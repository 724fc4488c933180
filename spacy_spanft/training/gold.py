"""The labels that are annotated in a Doc, of each kind."""

from collections.abc import Iterator

from spacy.tokens import Doc

from .readers.columns import SCORE


def cats_in(doc: Doc) -> Iterator[str]:
    """Find the labels of a text that hold."""
    return (label for label, value in doc.cats.items() if value > 0)


def entities_in(doc: Doc) -> Iterator[str]:
    """Find the labels of its entities, one for each."""
    return (entity.label_ for entity in doc.ents)


def spans_in(doc: Doc, key: str | None = None) -> Iterator[str]:
    """Find the labels of the spans in one group, or in all."""
    groups = doc.spans.values() if key is None else [doc.spans.get(key, [])]
    return (span.label_ for group in groups for span in group)


def tags_in(doc: Doc) -> Iterator[str]:
    """Find the tags of its tokens."""
    return (token.tag_ for token in doc if token.tag_)


def has_score(doc: Doc) -> bool:
    """Say whether a text has a score, in the place of labels."""
    return set(doc.cats) == {SCORE}


def labels_in(doc: Doc) -> Iterator[str]:
    """Find all labels of a text, its entities and its spans."""
    if not has_score(doc):
        yield from cats_in(doc)
    yield from entities_in(doc)
    yield from spans_in(doc)
