"""Scorers for `[training.score_weights]`: the metrics of GLUE's tasks."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.scorer import PRFScore, Scorer
from spacy.training import Example

from ..errors import SpanftError, listed, shown

Scores = dict[str, Any]
ScoreExamples = Callable[..., Scores]


def make_classification_scorer(positive_label: str | None = None) -> ScoreExamples:
    """Build `spacy-spanft.classification_scorer.v1`, for `textcat`.

    It adds to the scores of spaCy's own: cats_accuracy, cats_matthews, and cats_f1,
    which is that of the positive label.

    positive_label (Optional[str]): The positive label; None for the one that the
        component was initialized with. Without any, there is no cats_f1.
    """
    return partial(_score_labels, positive_label)


def _score_labels(
    positive_label: str | None, /, examples: Iterable[Example], **settings: Any
) -> Scores:
    examples = list(examples)
    positive = positive_label or settings.get("positive_label")
    labels = list(settings.get("labels", ()))
    if positive is not None and labels and positive not in labels:
        raise SpanftError(
            f"positive_label = {shown(positive)}, but the labels are: "
            f"{listed(labels)}. Set it in the scorer's block to one of them."
        )
    settings = {**settings, "positive_label": positive, "multi_label": False}
    scores = Scorer.score_cats(examples, "cats", **settings)
    full = [
        eg for eg in examples if any(eg.reference.cats.values()) and eg.predicted.cats
    ]
    gold = [best_label(eg.reference.cats, labels) for eg in full]
    guess = [best_label(eg.predicted.cats, labels) for eg in full]
    return {**scores, **classification_scores(gold, guess, positive)}


def best_label(cats: Mapping[str, float], labels: Collection[str]) -> str:
    """Return the label with the highest score, "" if all are 0, as of an empty text.

    labels (Collection[str]): Those of the component: others may have written more. A
        text that has none of them has another one of the data.
    """
    own = {label: cats[label] for label in labels if cats.get(label)}
    own = own or {label: score for label, score in cats.items() if score}
    return max(own, key=lambda label: own[label], default="")


def classification_scores(
    gold: Sequence[str], guess: Sequence[str], positive_label: str | None = None
) -> Scores:
    """Score predicted labels; without any, all scores are None."""
    names = ("cats_accuracy", "cats_matthews", "cats_f1")
    if not gold:
        return dict.fromkeys(names)
    _, numbers = np.unique([*gold, *guess], return_inverse=True)
    scores: Scores = {
        "cats_accuracy": mean(g == p for g, p in zip(gold, guess, strict=True)),
        "cats_matthews": matthews(numbers.reshape(2, -1).T),
    }
    if positive_label is not None:
        right = PRFScore()
        right.score_set(
            {i for i, label in enumerate(guess) if label == positive_label},
            {i for i, label in enumerate(gold) if label == positive_label},
        )
        scores["cats_f1"] = right.fscore
    return scores


def matthews(rows: NDArray[np.int64]) -> float:
    """Compute the Matthews correlation of labels, of any number (Gorodkin, 2004).

    scikit-learn's takes a hundred times as long, mostly to check its input.

    rows (NDArray[int64]): The numbers of the right and the predicted label (n_docs, 2);
        -1 is no label. Docs without a right one do not count.
    RETURNS (float): From -1 to 1; 0 where either side has the same label all over.
    """
    rows = rows[rows[:, 0] >= 0]
    n = int(rows.max(initial=-1)) + 2  # no label is the last one
    cells = np.bincount(rows[:, 0] * n + rows[:, 1] % n, minlength=n**2)
    table = cells.reshape(n, n).astype(np.float64)
    gold, guess, n_docs = table.sum(axis=1), table.sum(axis=0), table.sum()
    both = np.trace(table) * n_docs - gold @ guess
    of_gold, of_guess = n_docs**2 - gold @ gold, n_docs**2 - guess @ guess
    return float(both / np.sqrt(of_gold * of_guess)) if of_gold * of_guess else 0.0


def make_regression_scorer(label: str | None = None) -> ScoreExamples:
    """Build `spacy-spanft.regression_scorer.v1`, for `text_regressor`.

    label (Optional[str]): The label whose value is the score; None for the only one of
        the component.
    """
    return partial(_score_numbers, label)


def _score_numbers(
    label: str | None, /, examples: Iterable[Example], **settings: Any
) -> Scores:
    label = label or next(iter(settings.get("labels", ())), "score")
    pairs = [
        (example.reference.cats[label], example.predicted.cats[label])
        for example in examples
        if label in example.reference.cats and label in example.predicted.cats
    ]
    return regression_scores([g for g, _ in pairs], [p for _, p in pairs])


def regression_scores(gold: Sequence[float], guess: Sequence[float]) -> Scores:
    """Score predicted numbers.

    RETURNS (dict[str, Any]): cats_pearson and cats_spearman; 0 where either side is
        the same all over, as before the first training step; None for fewer than two.
    """
    if len(gold) < 2:
        return {"cats_pearson": None, "cats_spearman": None}
    if min(gold) == max(gold) or min(guess) == max(guess):
        return {"cats_pearson": 0.0, "cats_spearman": 0.0}
    return {
        "cats_pearson": _correlation(np.asarray(gold), np.asarray(guess)),
        "cats_spearman": _correlation(ranks(gold), ranks(guess)),
    }


def _correlation(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    # Of numbers that differ in the last digit alone: from the first, so that the mean
    # is exact, and scaled before they are multiplied, which would make zeros of them.
    x, y = x - x[0], y - y[0]
    x, y = x - x.mean(), y - y.mean()
    return float((x / np.linalg.norm(x)) @ (y / np.linalg.norm(y)))


def ranks(values: Any) -> NDArray[np.float64]:
    """Rank numbers; those that are equal share the mean of their ranks."""
    _, numbers, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[numbers]
