"""How well each label of a text classifier is predicted, and which are confused."""

from typing import NamedTuple

import numpy as np
from spacy.scorer import PRFScore

from .comparison import Arm, Comparison
from .measuring import Measured
from .metrics import NOTHING
from .result_tables import percent

_LARGEST_MATRIX = 20


class Confusions(NamedTuple):
    """A matrix of right labels (rows) and predicted ones, as the mean of an arm's runs.

    counts (list[list[str]]): The number of texts.
    shares (list[list[float]]): The share among the texts that have the right label.
    """

    arm: str
    labels: list[str]
    counts: list[list[str]]
    shares: list[list[float]]


def label_rows(comparison: Comparison) -> list[list[str]]:
    """Return each label, its number of texts, and its F-score in percent by each arm.

    RETURNS (list[list[str]]): Empty unless texts are classified.
    """
    first = comparison.arms[0].runs[0]
    rows = []
    for label in first.labels:
        n_texts = sum(label in _labels(first, answer) for answer in first.gold)
        scores = [[_f_score(run, label) for run in arm.runs] for arm in comparison.arms]
        rows.append([label, f"{n_texts:,}", *map(percent, scores)])
    return rows


def confusions(comparison: Comparison) -> list[Confusions]:
    """Return a matrix for each arm; none for too many labels, or several of a text."""
    runs = [run for arm in comparison.arms for run in arm.runs]
    names = list(dict.fromkeys(label for run in runs for label in run.labels))
    right = {gold for run in runs for gold in run.gold} - {NOTHING}
    predicted = {answer for run in runs for answer in run.answers}
    names += [NOTHING] * (NOTHING in predicted)
    is_small = 0 < len(names) <= _LARGEST_MATRIX
    if not is_small or not right | predicted <= {*names}:
        return []
    return [_confusions(arm, names) for arm in comparison.arms]


def _confusions(arm: Arm, names: list[str]) -> Confusions:
    number = {name: i for i, name in enumerate(names)}
    counts = np.zeros((len(names), len(names)))
    for run in arm.runs:
        for gold, answer in zip(run.gold, run.answers, strict=True):
            if gold != NOTHING:
                counts[number[gold], number[answer]] += 1 / len(arm.runs)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    words = [[f"{x:.1f}".removesuffix(".0") for x in row] for row in counts.tolist()]
    return Confusions(arm.name, names, words, shares.tolist())


def _labels(run: Measured, answer: str) -> set[str]:
    """Return the labels in an answer; a classifier may give a text several."""
    return {answer} if answer in run.labels else {*answer.split(", ")}


def _f_score(run: Measured, label: str) -> float:
    score = PRFScore()
    for pair in zip(run.gold, run.answers, strict=True):
        is_right, is_predicted = (label in _labels(run, answer) for answer in pair)
        score.tp += is_right and is_predicted
        score.fp += is_predicted and not is_right
        score.fn += is_right and not is_predicted
    return float(score.fscore)
