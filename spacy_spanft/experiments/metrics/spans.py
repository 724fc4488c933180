"""Metrics of entities and of spans, from counts for each Doc."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from spacy.training import Example

from .scoring import Metric, Rows, f_score, has_error, precision, recall

Counts = tuple[int, int, int]
_OF_COUNTS = {"f": f_score, "p": precision, "r": recall}


def entity_metrics() -> list[Metric]:
    """Return the metrics of `ner`, F1 first."""
    return _metrics("ents", _entity_counts, None)


def span_metrics(key: str) -> list[Metric]:
    """Return the metrics of `spancat`, F1 first.

    key (str): The group of spans that it writes.
    """
    return _metrics(f"spans_{key}", partial(_span_counts, key), key)


def _metrics(
    prefix: str, counts: Callable[[Example], Counts], key: str | None
) -> list[Metric]:
    def rows(examples: Sequence[Example]) -> Rows:
        return np.array([counts(e) for e in examples], np.int64).reshape(-1, 3)

    def wrong(examples: Sequence[Example]) -> Rows:
        return has_error(rows(examples))

    def answers(example: Example) -> tuple[str, str]:
        return _in_words(example.reference, key), _in_words(example.predicted, key)

    return [
        Metric(f"{prefix}_{end}", rows, score, answers, wrong)
        for end, score in _OF_COUNTS.items()
    ]


def _entity_counts(example: Example) -> Counts:
    """Count entities as `spacy.scorer.get_ner_prf` does."""
    if not example.reference.has_annotation("ENT_IOB"):
        return 0, 0, 0
    gold = {(ent.label_, ent.start, ent.end) for ent in example.reference.ents}
    right, n_wrong = set(), 0
    for ent in example.predicted.ents:
        tokens = example.alignment.x2y[ent.start : ent.end]
        if not len(tokens):
            continue
        start, end = int(tokens[0]), int(tokens[-1]) + 1
        # Unannotated tokens are neither right nor wrong.
        if any(token.ent_iob == 0 for token in example.reference[start:end]):
            continue
        key = (ent.label_, start, end)
        if key in gold and key not in right:
            right.add(key)
        else:
            n_wrong += 1
    return len(right), n_wrong, len(gold - right)


def _span_counts(key: str, example: Example) -> Counts:
    """Count spans as `spacy.scorer.Scorer.score_spans` does."""
    if key not in example.reference.spans:
        return 0, 0, 0
    predicted = example.predicted.spans.get(key, [])
    aligned = example.get_aligned_spans_x2y(predicted, True)
    gold, guess = (
        {(span.label_, span.start, span.end) for span in spans}
        for spans in (example.reference.spans[key], aligned)
    )
    return len(gold & guess), len(guess - gold), len(gold - guess)


def _in_words(doc: Any, key: str | None) -> str:
    group = doc.ents if key is None else doc.spans.get(key, [])
    spans = sorted({(s.start_char, s.end_char, s.label_) for s in group})
    words = [f"{doc.text[start:end]} ({label})" for start, end, label in spans]
    return ", ".join(words) or "nothing"
