"""The corpora of a config, and what is annotated in their Docs."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import dot_to_object, resolve_dot_names

from ..errors import counted

# What a score is called in doc.cats.
SCORE = "score"
# In doc.user_data: where a text stands in its table, "Line 3".
PLACE = "spanft_place"
_N_SHOWN, _LONGEST_LABEL = 10, 30


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


@dataclass
class DataSummary:
    """The contents of a corpus.

    n_words (list[int]): The number of words of each text.
    labels (Counter[str]): How many texts, entities or spans have each label.
    texts (dict[str, int]): The hash of each text's labels at its first occurrence.
    n_several (int): The number of texts with several labels or none.
    n_contradicting (int): The number of texts that occurred before with other labels.
    """

    n_words: list[int] = field(default_factory=list)
    labels: Counter[str] = field(default_factory=Counter)
    scores: list[float] = field(default_factory=list)
    texts: dict[str, int] = field(default_factory=dict)
    n_several: int = 0
    n_contradicting: int = 0

    def add(self, doc: Doc, labels: list[str]) -> None:
        """Count a Doc, and its labels of the kind that is learned."""
        self.n_words.append(len(doc) if doc.text.strip() else 0)
        self.labels.update(labels)
        if has_score(doc):
            self.scores.append(doc.cats[SCORE])
        key = hash(tuple(sorted(labels)))
        first = self.texts.setdefault(doc.text, key)
        self.n_contradicting += len(doc) > 0 and first != key
        self.n_several += len(labels) != 1

    def describe(self, path: str) -> str:
        """Return "train.csv: 40 texts of 3 to 9 words (median 5); good: 30 (75%)"."""
        n = self.n_words
        lengths = f"{min(n):,} to {max(n):,} words (median {median(n):.0f})"
        parts = [f"{path}: {counted(len(n), 'text')} of {lengths}"]
        if self.scores:
            parts.append(f"scores from {min(self.scores):g} to {max(self.scores):g}")
        shares = []
        for label, k in self.labels.most_common(_N_SHOWN):
            # A long one is a text: another column was meant.
            end = "..." if len(label) > _LONGEST_LABEL else ""
            share = f"{k:,} ({k / self.labels.total():.0%})"
            shares.append(f"{label[:_LONGEST_LABEL]}{end}: {share}")
        if len(self.labels) > _N_SHOWN:
            shares.append(counted(len(self.labels) - _N_SHOWN, "more label"))
        return "; ".join(filter(None, (*parts, ", ".join(shares))))
