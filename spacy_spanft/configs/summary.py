"""What data hold, and what may be wrong with their labels."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median

from spacy.tokens import Doc
from spacy.training import Example

from ..errors import SpanftError, counted, listed, shown
from ..training.gold import LEARNED, SCORE, has_score
from .templates import REGRESSOR, TASKS

_N_SHOWN, _LONGEST_LABEL = 10, 30
_SEVERAL = re.compile(r"\S\s*([,;|])\s*\S")
_MARKS = " .,;:!?'\""  # around labels that may mean the same
_MANY = 5  # rows, of which each should not have a label of its own


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
        if min(n) == max(n):
            lengths = counted(n[0], "word")
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


def summarize(examples: Iterable[Example], task: str, source: str) -> DataSummary:
    """Return the contents of data for a task; source is their name, for errors."""
    summary = DataSummary()
    component = TASKS[task].component
    for doc in (example.reference for example in examples):
        if component == REGRESSOR and not has_score(doc):
            raise SpanftError(
                f"{shown(source)} has no scores for {task}, but labels or nothing: "
                "each text needs doc.cats['score'] and no other label."
            )
        learned = () if component == REGRESSOR else LEARNED[component](doc, None)
        summary.add(doc, list(learned))
    if not summary.n_words:
        raise SpanftError(f"There are no rows in {shown(source)}.")
    return summary


def check_labels(data: DataSummary, path: str) -> list[str]:
    """Raise if all rows have the same label, or each of many another; return doubts."""
    labels, n_rows, source = data.labels, len(data.n_words), shown(path)
    doubts = _several_in(labels, n_rows, source)
    spellings: dict[str, list[str]] = {}
    for label in labels:
        key = label.strip(_MARKS).casefold().removesuffix(".0")  # 1 and 1.0
        spellings.setdefault(key, []).append(label)
    if alike := [names for names in spellings.values() if len(names) > 1]:
        doubts.append(
            f"Labels of {source} differ only in case or punctuation: "
            f"{'; '.join(map(listed, alike))}. If they mean the same, write them alike."
        )
    if data.n_several:
        return doubts
    if len(labels) == 1:
        raise SpanftError(
            f"Every text of {source} has the label {listed(labels)}; a classifier "
            "needs at least two. Is this the right column?"
        )
    if len(labels) == n_rows >= _MANY:
        hints = " ".join(["Add rows, or name another column with --label.", *doubts])
        raise SpanftError(
            f"Each of {n_rows:,} rows of {source} has a label of its own, such as "
            f"{listed(list(labels)[:2])}, and a label is learned from several rows. "
            f"{hints}"
        )
    return doubts


def _several_in(labels: Counter[str], n_rows: int, source: str) -> list[str]:
    """Return a doubt about labels such as "sport,news"."""
    if lists := [x for x in labels if x.startswith(("['", '["'))]:
        return [
            f"Labels of {source} look like {shown(lists[0])}. If these are "
            "lists, save them as JSONL, where a list holds several labels."
        ]
    joined = {x: match[1] for x in labels if (match := _SEVERAL.search(x))}
    are_most = 2 * sum(labels[x] for x in joined) > n_rows
    for label, mark in joined.items():
        if are_most or set(map(str.strip, label.split(mark))) <= labels.keys():
            return [
                f"Labels of {source} look like {shown(label)}. If these are "
                f'several labels, add --label-separator "{mark}".'
            ]
    return []
