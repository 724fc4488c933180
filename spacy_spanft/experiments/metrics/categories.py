"""Metrics of `doc.cats`: one label for each text, several labels, and scores."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from spacy.training import Example

from ...errors import ComparisonError, listed
from . import scoring
from .scoring import NO_LABEL, MakeRows, Metric, Rows, has_error

Cats = Mapping[str, float]
_OF_COUNTS = {
    "cats_macro_f": scoring.macro_f_score,
    "cats_macro_p": scoring.macro_precision,
    "cats_macro_r": scoring.macro_recall,
    "cats_micro_f": scoring.f_score,
    "cats_micro_p": scoring.precision,
    "cats_micro_r": scoring.recall,
}


def label_metrics(
    component: Any, scorer: Any, positive: str | None, path: str
) -> list[Metric]:
    """Return the metrics of `textcat`, spaCy's cats_score first.

    component (Any): The component.
    scorer (Any): The scorer's block in its config.
    positive (Optional[str]): The positive label for cats_f1.
    path (str): The pipeline, for errors.
    """
    labels = list(component.labels)
    if positive is not None and positive not in labels:
        raise ComparisonError(
            f"The positive label is {positive!r}, but the labels of {path!r} are: "
            f"{listed(labels)}."
        )
    # Labels that only the data has get their numbers as they come.
    numbers = partial(_numbers, {**{name: i for i, name in enumerate(labels)}, "": -1})

    def wrong(examples: Sequence[Example]) -> Rows:
        gold, guess = numbers(examples).T
        return np.asarray(gold != guess)

    def areas(gold: Cats, guess: Cats) -> Rows:
        # A label without a right score is wrong.
        return _pairs({name: gold.get(name) or 0.0 for name in labels}, guess, labels)

    counts = _rows(partial(_exclusive_counts, labels=labels), labels)
    metric = partial(Metric, answers=_best_answers, wrong=wrong, labels=tuple(labels))
    metrics = [metric(name, counts, score) for name, score in _OF_COUNTS.items()]
    metrics.append(metric("cats_macro_auc", _rows(areas, labels), scoring.macro_auc))
    metrics.append(metric("cats_accuracy", numbers, scoring.accuracy))
    metrics.append(metric("cats_matthews", numbers, scoring.matthews))
    of_scorer = scorer.get("positive_label") if isinstance(scorer, dict) else None
    of_scorer = of_scorer or component.cfg.get("positive_label")
    of_scorer = of_scorer if of_scorer in labels else None
    is_binary = len(labels) == 2
    positive = positive or of_scorer or (labels[1] if is_binary else None)
    if positive is not None:
        rows = partial(_positive_counts, numbers, labels.index(positive))
        f1 = metric("cats_f1", rows, scoring.f_score, meaning=f"F1 ({positive})")
        metrics.append(f1)
    score = metrics[0]._replace(name="cats_score", meaning="macro F")
    if is_binary and of_scorer is not None:
        rows = partial(_column, counts, labels.index(of_scorer))
        meaning = f"F ({of_scorer})"
        score = metric("cats_score", rows, scoring.f_score, meaning=meaning)
    return [score, *metrics]


def multilabel_metrics(component: Any) -> list[Metric]:
    """Return the metrics of `textcat_multilabel`, spaCy's cats_score first."""
    labels = list(component.labels)
    threshold = component.cfg.get("threshold")
    threshold = 0.5 if threshold is None else threshold

    def answers(example: Example) -> tuple[str, str]:
        gold, guess = example.reference.cats, example.predicted.cats
        right = ", ".join(sorted(label for label in gold if gold[label]))
        predicted = ", ".join(sorted(c for c in guess if guess[c] >= threshold))
        return right or "nothing", predicted or "nothing"

    counts = _rows(partial(_counts, labels=labels, threshold=threshold), labels)
    areas = _rows(partial(_pairs, labels=labels), labels)

    def wrong(examples: Sequence[Example]) -> Rows:
        return has_error(counts(examples))

    metric = partial(Metric, answers=answers, wrong=wrong, labels=tuple(labels))
    auc = metric("cats_macro_auc", areas, scoring.macro_auc)
    score = auc._replace(name="cats_score", meaning="macro AUC")
    others = [metric(name, counts, score) for name, score in _OF_COUNTS.items()]
    return [score, *others, auc]


def score_metrics(component: Any) -> list[Metric]:
    """Return the metrics of `text_regressor`."""
    label = component.label

    def rows(examples: Sequence[Example]) -> Rows:
        both = [(e.reference.cats, e.predicted.cats) for e in examples]
        pairs = [(a.get(label, np.nan), b.get(label, np.nan)) for a, b in both]
        return np.array(pairs, np.float64).reshape(-1, 2)

    def answers(example: Example) -> tuple[str, str]:
        both = (example.reference.cats, example.predicted.cats)
        gold, guess = (f"{c[label]:.2f}" if label in c else "nothing" for c in both)
        return gold, guess

    scores = zip(scoring.SCORES, (scoring.pearson, scoring.spearman), strict=True)
    return [
        Metric(name, rows, score, answers, labels=(label,)) for name, score in scores
    ]


def _rows(to_row: Callable[[Cats, Cats], Rows], labels: Sequence[str]) -> MakeRows:
    """Make rows of the labels that the pipeline knows, as spaCy's Scorer does."""
    known = set(labels)

    def rows(examples: Sequence[Example]) -> Rows:
        both = ((e.reference.cats, e.predicted.cats) for e in examples)
        kept = ([{k: c[k] for k in c if k in known} for c in pair] for pair in both)
        return np.array([to_row(gold, guess) for gold, guess in kept])

    return rows


def _column(counts: MakeRows, number: int, examples: Sequence[Example]) -> Rows:
    return counts(examples)[:, number]


def _exclusive_counts(gold: Cats, guess: Cats, labels: Sequence[str]) -> Rows:
    row = np.zeros((len(labels), 3), np.bool_)
    right, predicted = _best(gold), _best(guess)
    if right and right == predicted:
        row[labels.index(right), 0] = True
        return row
    if predicted:
        row[labels.index(predicted), 1] = True
    # Without a prediction, a label whose score is 0 cannot be missed.
    if right and (predicted or gold[right] > 0):
        row[labels.index(right), 2] = True
    return row


def _counts(gold: Cats, guess: Cats, labels: Sequence[str], threshold: float) -> Rows:
    row = np.zeros((len(labels), 3), np.bool_)
    for number, label in enumerate(labels):
        if (right := gold.get(label)) is not None:
            is_predicted = guess.get(label, 0.0) >= threshold
            row[number, 0] = is_predicted and right > 0
            row[number, 1] = is_predicted and right == 0
            row[number, 2] = not is_predicted and right > 0
    return row


def _pairs(gold: Cats, guess: Cats, labels: Sequence[str]) -> Rows:
    both = [(gold.get(label, np.nan), guess.get(label, 0.0)) for label in labels]
    return np.array(both, np.float64)


def _numbers(known: dict[str, int], examples: Sequence[Example]) -> Rows:
    """Number the right and the predicted labels, unknown ones included."""
    rows = []
    for example in examples:
        gold, guess = _best(example.reference.cats), _best(example.predicted.cats)
        for name in (gold, guess):
            known.setdefault(name, len(known) - 1)  # one of them is no label
        # No prediction is wrong even where there is no right label.
        rows.append((known[gold], known[guess] if guess else NO_LABEL - 1))
    return np.array(rows, np.int64).reshape(-1, 2)


def _positive_counts(
    numbers: MakeRows, positive: int, examples: Sequence[Example]
) -> Rows:
    rows = numbers(examples)
    gold, guess = (column == positive for column in rows.T)
    counts = np.stack([gold & guess, guess & ~gold, gold & ~guess], axis=1)
    counts[rows[:, 0] == NO_LABEL] = False
    return counts


def _best(cats: Cats) -> str:
    return max(cats, key=lambda label: cats[label]) if cats else ""


def _best_answers(example: Example) -> tuple[str, str]:
    gold, guess = _best(example.reference.cats), _best(example.predicted.cats)
    return gold or "nothing", guess or "nothing"
