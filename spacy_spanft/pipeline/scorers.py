"""Scorers for `[training.score_weights]`: the metrics of GLUE's tasks."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from spacy.scorer import Scorer
from spacy.training import Example

from ..errors import Errors, ScoreError

Scores = dict[str, Any]
ScoreExamples = Callable[..., Scores]


def make_classification_scorer(positive_label: str | None = None) -> ScoreExamples:
    """Build `spacy-spanft.classification_scorer.v1`, for `textcat`.

    Beside all that spaCy's own scorer gives: cats_accuracy, cats_matthews, and cats_f1,
    which is that of the positive label.

    positive_label (Optional[str]): The positive label; None for the one that the
        component was initialised with. Without any, there is no cats_f1.
    RETURNS (Callable): Examples to scores.
    """

    def score(examples: Iterable[Example], **settings: Any) -> Scores:
        examples = list(examples)
        positive = positive_label or settings.get("positive_label")
        labels = list(settings.get("labels", ()))
        if positive is not None and labels and positive not in labels:
            there = ", ".join(map(repr, labels))
            message = Errors.NO_POSITIVE_LABEL.format(label=positive, labels=there)
            raise ScoreError(message)
        settings = {**settings, "positive_label": positive, "multi_label": False}
        found = Scorer.score_cats(examples, "cats", **settings)
        gold, guess = [], []
        for example in examples:
            if example.reference.cats and example.predicted.cats:
                gold.append(_best(example.reference.cats))
                guess.append(_best(example.predicted.cats))
        return {**found, **classification_scores(gold, guess, positive)}

    return score


def classification_scores(
    gold: Sequence[str], guess: Sequence[str], positive_label: str | None = None
) -> Scores:
    """Score labels.

    gold (Sequence[str]): The right labels.
    guess (Sequence[str]): The predicted ones.
    positive_label (Optional[str]): The positive label.
    RETURNS (dict[str, Any]): cats_accuracy, cats_matthews and cats_f1, None without
        anything to score.
    """
    from sklearn import metrics

    names = ("cats_accuracy", "cats_matthews", "cats_f1")
    if not gold:
        return dict.fromkeys(names)
    is_one = len({*gold, *guess}) == 1  # nothing correlates with a single label
    scores: Scores = {
        "cats_accuracy": float(metrics.accuracy_score(gold, guess)),
        "cats_matthews": 0.0
        if is_one
        else float(metrics.matthews_corrcoef(gold, guess)),
    }
    if positive_label is not None:
        truth = [label == positive_label for label in gold]
        found = [label == positive_label for label in guess]
        scores["cats_f1"] = float(metrics.f1_score(truth, found, zero_division=0))
    return scores


def make_regression_scorer(label: str = "score") -> ScoreExamples:
    """Build `spacy-spanft.regression_scorer.v1`, for `textcat_multilabel`.

    label (str): The label whose value is the score.
    RETURNS (Callable): Examples to cats_pearson and cats_spearman.
    """

    def score(examples: Iterable[Example], **settings: Any) -> Scores:
        pairs = [
            (example.reference.cats[label], example.predicted.cats[label])
            for example in examples
            if label in example.reference.cats and label in example.predicted.cats
        ]
        return regression_scores([g for g, _ in pairs], [p for _, p in pairs])

    return score


def regression_scores(gold: Sequence[float], guess: Sequence[float]) -> Scores:
    """Score numbers.

    gold (Sequence[float]): The right ones.
    guess (Sequence[float]): The predicted ones.
    RETURNS (dict[str, Any]): cats_pearson and cats_spearman; 0 where either side is
        the same all over, as before the first training step; None for fewer than two.
    """
    from scipy import stats

    if len(gold) < 2:
        return {"cats_pearson": None, "cats_spearman": None}
    if min(gold) == max(gold) or min(guess) == max(guess):
        return {"cats_pearson": 0.0, "cats_spearman": 0.0}
    with warnings.catch_warnings():
        # Scores that differ in the last digit only: the correlation is what it is.
        warnings.simplefilter("ignore", stats.NearConstantInputWarning)
        pearson = stats.pearsonr(gold, guess).statistic
    spearman = stats.spearmanr(gold, guess).statistic
    return {"cats_pearson": float(pearson), "cats_spearman": float(spearman)}


def _best(cats: dict[str, float]) -> str:
    return max(cats, key=lambda label: cats[label])
