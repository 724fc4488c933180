"""The phrases that speak for each label in a whole corpus."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..errors import SpanftError
from .explanation import Explanation


class Phrase(NamedTuple):
    """A phrase in lower case, how often it occurs, and what it adds on average."""

    text: str
    n: int
    added: float


def phrases(
    explanations: Iterable[Explanation], *, min_count: int = 3
) -> dict[str, list[Phrase]]:
    """Return, for each label, the phrases of a corpus that speak for it.

    Where exactly one label is right, what counts is how much more a phrase adds to a
    label than to the other labels on average: what it adds to all alike decides
    nothing.

    explanations (Iterable[Explanation]): The texts, as `explain_pipe` returns them.
    min_count (int): Leave out phrases that occur less often.
    RETURNS (dict[str, list[Phrase]]): By label, those that add something, the best one
        first.
    """
    totals: dict[str, Any] = defaultdict(float)
    counts: Counter[str] = Counter()
    labels: tuple[str, ...] = ()
    for explanation in explanations:
        if explanation.spans is not None:
            raise SpanftError(
                "Phrases are listed for the labels of texts, and this component labels "
                "spans. Name a text classifier as component."
            )
        labels = explanation.labels
        parts, added, *_ = explanation.contributions()
        if explanation.is_exclusive and len(labels) > 1:
            others = added.sum(axis=1, keepdims=True) - added
            added = added - others / (len(labels) - 1)
        for part, row in zip(parts, added, strict=True):
            if text := " ".join(part.text.lower().split()):
                counts[text] += 1
                totals[text] += row
    of_labels: dict[str, list[Phrase]] = {label: [] for label in labels}
    for text, n in counts.items():
        if n >= min_count:
            for label, total in zip(labels, totals[text].tolist(), strict=True):
                if total > 0:
                    of_labels[label].append(Phrase(text, n, total / n))
    for best in of_labels.values():
        best.sort(key=lambda phrase: -phrase.added)
    return of_labels
