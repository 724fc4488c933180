"""What the data of a config hold."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import spacy
from confection import Config
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus
from spacy.util import registry

from ..errors import SpanftError, counted, shown
from ..training.gold import cats_in, entities_in, has_score, spans_in, tags_in
from ..training.readers.columns import SCORE
from .bases import REGRESSOR, TASKS
from .sources import COLUMNS, DOCBINS

_N_SHOWN = 10


@dataclass
class DataSummary:
    """The contents of a corpus.

    n_words (list[int]): The number of words of each text.
    labels (Counter[str]): How many texts, entities or spans have each label.
    scores (list[float]): The score of each text, for a regressor.
    texts (set[str]): The distinct texts.
    n_several (int): The number of texts with several labels or none.
    """

    n_words: list[int] = field(default_factory=list)
    labels: Counter[str] = field(default_factory=Counter)
    scores: list[float] = field(default_factory=list)
    texts: set[str] = field(default_factory=set)
    n_several: int = 0

    def describe(self, path: str) -> str:
        """Return "train.csv: 40 texts of 3 to 9 words (median 5); good: 30 (75%)"."""
        n = self.n_words
        lengths = f"{min(n):,} to {max(n):,} words (median {median(n):.0f})"
        parts = [f"{path}: {counted(len(n), 'text')} of {lengths}"]
        if self.scores:
            parts.append(f"scores from {min(self.scores):g} to {max(self.scores):g}")
        most = self.labels.most_common(_N_SHOWN)
        shares = [f"{name}: {k:,} ({k / self.labels.total():.0%})" for name, k in most]
        if len(self.labels) > _N_SHOWN:
            shares.append(counted(len(self.labels) - _N_SHOWN, "more label"))
        return "; ".join(filter(None, (*parts, ", ".join(shares))))


def summarize(config: Config, task: str, part: str) -> DataSummary:
    """Read the data of a config once; part is "train" or "dev"."""
    plain = config.interpolate()
    path = plain["paths"][part] or plain["paths"]["train"]
    summary = DataSummary()
    for example in corpus_of(plain["corpora"][part])(tokenizer_of(plain)):
        doc = example.reference
        labels: list[str] = []
        if TASKS[task].component != REGRESSOR:
            labels += _labels(doc, task)
        elif has_score(doc):
            summary.scores.append(doc.cats[SCORE])
        else:
            raise SpanftError(
                f"{shown(path)} has no scores for {task}, but labels or nothing: each "
                "text needs doc.cats['score'] and no other label."
            )
        summary.n_words.append(len(doc))
        summary.labels.update(labels)
        summary.texts.add(doc.text)
        summary.n_several += len(labels) != 1
    if not summary.n_words:
        raise SpanftError(f"There are no rows in {shown(path)}.")
    return summary


def tokenizer_of(config: Config) -> Language:
    """Make an empty pipeline with the tokenizer of a config without variables."""
    tokenizer = {k: v for k, v in config["nlp"].items() if k == "tokenizer"}
    return spacy.blank(config["nlp"]["lang"], config={"nlp": tokenizer})


def corpus_of(block: dict[str, Any]) -> Any:
    """Make a corpus of a block that spaCy has not filled in yet."""
    if block["@readers"] == DOCBINS:
        return Corpus(block["path"])
    return registry.resolve({"corpus": block})["corpus"]


def _labels(doc: Doc, task: str) -> Iterator[str]:
    if task in COLUMNS:
        return cats_in(doc)
    return {"tagger": tags_in, "spancat": spans_in}.get(task, entities_in)(doc)
