"""The corpora of a config, and what is annotated in their Docs."""

from collections.abc import Callable, Iterator
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import dot_to_object, resolve_dot_names

# What a score is called in doc.cats.
SCORE = "score"
# In doc.user_data: where a text stands in its table, "Line 3".
PLACE = "spanft_place"


def read_corpus(nlp: Language, config: Any, setting: str) -> list[Example] | None:
    """Read the corpus that a setting of [training], such as "dev_corpus", names.

    It is None if there is no corpus, as when `nlp.initialize` is called with examples,
    or if it streams.
    """
    training = config.get("training", {})
    name = training.get(setting)
    if setting == "train_corpus" and training.get("max_epochs", -1) < 0:
        return None
    try:
        block = dot_to_object(config, name or "")
    except KeyError:
        return None
    if block is None or block.get("path", "") is None:
        return None
    (corpus,) = resolve_dot_names(config, [name])
    return list(corpus(nlp))


def blocks_in(block: Any) -> Iterator[dict[str, Any]]:
    """Yield a block of a config, and those inside it."""
    if isinstance(block, dict):
        yield block
        for inner in block.values():
            yield from blocks_in(inner)


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


# The labels of a Doc that the components of each factory learn; a spancat's by its key.
LEARNED: dict[str, Callable[[Doc, str | None], Iterator[str]]] = {
    **dict.fromkeys(("ner", "beam_ner", "bilou_ner"), lambda doc, _: entities_in(doc)),
    **dict.fromkeys(("spancat", "spancat_singlelabel"), spans_in),
    **dict.fromkeys(("textcat", "textcat_multilabel"), lambda doc, _: cats_in(doc)),
    "tagger": lambda doc, _: (token.tag_ for token in doc if token.tag_),
}


def has_score(doc: Doc) -> bool:
    """Whether a text has a score in place of labels."""
    return set(doc.cats) == {SCORE}


def labels_in(doc: Doc) -> Iterator[str]:
    """Yield all labels of a text, its entities and its spans."""
    if not has_score(doc):
        yield from cats_in(doc)
    yield from entities_in(doc)
    yield from spans_in(doc)
