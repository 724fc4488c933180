"""From the Examples of a corpus to spaCy's own format, which all commands read."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from spacy.tokens import DocBin
from spacy.training import Example

from ...errors.shortening import counted
from ..gold import cats_in, entities_in
from .columns import SCORE

# How many labels are listed, and how many characters of each.
_N_LABELS = 10
_LONGEST_LABEL = 30


class Converted(NamedTuple):
    """Docs in spaCy's format, and what is in them.

    labels (Counter[str]): How many texts or entities have each label.
    scores (list[float]): The score of each text, if they have any.
    n_empty (int): How many texts without a token were left out, as spaCy leaves them
        out when it reads such data.
    """

    docs: DocBin
    labels: Counter[str]
    scores: list[float]
    n_empty: int

    def __str__(self) -> str:
        empty = f"; {self.n_empty:,} left out, as empty" if self.n_empty else ""
        return f"{counted(len(self.docs), 'doc')}: {self._what()}{empty}"

    def _what(self) -> str:
        if self.scores:
            return f"scores from {min(self.scores):g} to {max(self.scores):g}"
        most = self.labels.most_common(_N_LABELS)
        counts = ", ".join(f"{n:,} {_cut(label)}" for label, n in most)
        n_more = len(self.labels) - len(most)
        if not n_more:
            return counts or "no label"
        return f"{counts} and {counted(n_more, 'more label')}"


def convert(
    examples: Iterable[Example], *, score: bool = False, gold_tokens: bool = True
) -> Converted:
    """Put what is known of Examples into spaCy's own format.

    score (bool): Whether the texts have scores, and not labels.
    gold_tokens (bool): Whether a pipeline gets the Docs' own tokens, where these do not
        tell where white space stands: those of CoNLL's columns.
    """
    docs = DocBin()
    labels: Counter[str] = Counter()
    scores: list[float] = []
    n_empty = 0
    for example in examples:
        doc = example.reference
        if not len(doc):
            n_empty += 1
            continue
        if not gold_tokens:
            doc.has_unknown_spaces = False
        if score:
            scores.append(doc.cats[SCORE])
        labels.update([*cats_in(doc), *entities_in(doc)])
        docs.add(doc)
    return Converted(docs, labels, scores, n_empty)


def _cut(label: str) -> str:
    return f"{label[:_LONGEST_LABEL]}..." if len(label) > _LONGEST_LABEL else label
