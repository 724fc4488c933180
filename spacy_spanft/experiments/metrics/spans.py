"""Metrics of entities and of spans: counts of what was found, and of what was not."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from spacy.training import Example

from .scoring import NOTHING, Metric, Rows, Scored, Words, f_score, precision, recall

Counts = tuple[int, int, int]
_OF_COUNTS = {"f": f_score, "p": precision, "r": recall}


def of_entities(scored: Scored) -> list[Metric]:
    """Give the metrics of `ner`, F1 first.

    scored (Scored): The component.
    """
    return _of_counts("ents", _entity_counts, _words_of_spans(None))


def of_spans(scored: Scored) -> list[Metric]:
    """Give the metrics of `spancat`, F1 first.

    scored (Scored): The component.
    """
    key = scored.component.key

    def counts(example: Example) -> Counts:
        return _span_counts(example, key)

    return _of_counts(f"spans_{key}", counts, _words_of_spans(key))


def _of_counts(
    prefix: str, counts: Callable[[Example], Counts], words: Words
) -> list[Metric]:
    def rows(examples: Sequence[Example]) -> Rows:
        return np.array([counts(one) for one in examples], np.int64).reshape(-1, 3)

    return [
        Metric(f"{prefix}_{end}", rows, score, words)
        for end, score in _OF_COUNTS.items()
    ]


def _entity_counts(example: Example) -> Counts:
    """Count entities as `spacy.scorer.get_ner_prf` does."""
    if not example.reference.has_annotation("ENT_IOB"):
        return 0, 0, 0
    gold = {(ent.label_, ent.start, ent.end) for ent in example.reference.ents}
    right, wrong = set(), 0
    for ent in example.predicted.ents:
        tokens = example.alignment.x2y[ent.start : ent.end]
        if not len(tokens):
            continue
        start, end = int(tokens[0]), int(tokens[-1]) + 1
        # Where nobody said what is right, nothing is right or wrong.
        if any(token.ent_iob == 0 for token in example.reference[start:end]):
            continue
        key = (ent.label_, start, end)
        if key in gold and key not in right:
            right.add(key)
        else:
            wrong += 1
    return len(right), wrong, len(gold - right)


def _span_counts(example: Example, key: str) -> Counts:
    """Count spans as `spacy.scorer.Scorer.score_spans` does."""
    if key not in example.reference.spans:
        return 0, 0, 0
    found = example.predicted.spans.get(key, [])
    aligned = example.get_aligned_spans_x2y(found, True)
    gold, guess = (
        {(span.label_, span.start, span.end) for span in spans}
        for spans in (example.reference.spans[key], aligned)
    )
    return len(gold & guess), len(guess - gold), len(gold - guess)


def _words_of_spans(key: str | None) -> Words:
    def words(example: Example) -> tuple[str, str]:
        both = []
        for doc in (example.reference, example.predicted):
            group: Any = doc.ents if key is None else doc.spans.get(key, [])
            spans = sorted({(s.start_char, s.end_char, s.label_) for s in group})
            both.append(
                ", ".join(f"{doc.text[a:b]} ({label})" for a, b, label in spans)
            )
        return both[0] or NOTHING, both[1] or NOTHING

    return words
