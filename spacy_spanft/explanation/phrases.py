"""The phrases that speak for the labels in a whole corpus."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..errors import Errors, SpanftError, check_number, check_setting
from .candidates import SpanExplanation
from .contributions import Floats
from .entities import EntityExplanation
from .explanation import Explanation

MIN_COUNT = 3


class Phrase(NamedTuple):
    """What a phrase adds to the score of a label.

    text (str): The phrase, in lower case.
    n (int): How often it was found.
    added (float): What it adds on average.
    """

    text: str
    n: int
    added: float


def phrases(
    explained: Iterable[Explanation], *, min_count: int = MIN_COUNT
) -> dict[str, list[Phrase]]:
    """List, for each label, the phrases of a corpus that speak for it.

    Where exactly one label is right, what counts is how much more a phrase adds to a
    label than to the other labels on average: what it adds to all alike decides
    nothing.

    explained (Iterable[Explanation]): The texts, as `explain_pipe` gives them.
    min_count (int): Leave out phrases that were found less often.
    RETURNS (dict[str, list[Phrase]]): By label, those that add something, what adds
        most first.
    """
    check_number("min_count", min_count, lambda n: n >= 1, "1 or more")
    totals: dict[str, Floats] = {}
    counts: dict[str, int] = {}
    labels: tuple[str, ...] = ()
    is_many = isinstance(explained, Iterable)
    check_setting("explained", explained, is_many, "what explain_pipe gives")
    for one in explained:
        if isinstance(one, EntityExplanation | SpanExplanation):
            raise SpanftError(Errors.PHRASES_OF_TEXTS)
        is_right = isinstance(one, Explanation)
        check_setting("explained", one, is_right, "what explain_pipe gives")
        # Numbers of two pipelines cannot be added up.
        is_same = one.labels == (labels or one.labels)
        check_setting("labels", one.labels, is_same, f"the same for all: {labels}")
        labels = one.labels
        for part, added in zip(one.parts, _shares(one), strict=True):
            if text := " ".join(part.text.lower().split()):
                counts[text] = counts.get(text, 0) + 1
                totals[text] = totals.get(text, np.float32(0.0)) + added
    frequent = [text for text in counts if counts[text] >= min_count]
    found = {}
    for number, label in enumerate(labels):
        means = {text: float(totals[text][number]) / counts[text] for text in frequent}
        speaking = [Phrase(text, counts[text], means[text]) for text in frequent]
        speaking = [phrase for phrase in speaking if phrase.added > 0]
        found[label] = sorted(speaking, key=lambda phrase: -phrase.added)
    return found


def _shares(one: Explanation) -> Floats:
    """Say what each part adds to each label, beyond what it adds to the others."""
    added = one.found.of_pieces
    n_others = len(one.labels) - 1
    if not one.is_exclusive or not n_others:
        return added
    others: Floats = (added.sum(axis=1, keepdims=True) - added) / n_others
    return added - others
