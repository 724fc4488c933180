"""What a metric is, and scores computed from a row of numbers for each Doc.

With a row for each Doc, any resampled choice of Docs is scored in microseconds. The
scores equal those of spaCy's Scorer and of this package's scorers.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.scorer import PRFScore, ROCAUCScore
from spacy.training import Example

from ..hook import regression_scores

Rows = NDArray[Any]
MakeRows = Callable[[Sequence[Example]], Rows]
NO_LABEL = -1
SCORES = ("cats_pearson", "cats_spearman")


class Metric(NamedTuple):
    """A metric.

    name (str): Its name, as in [training.score_weights].
    rows (Callable[[Sequence[Example]], Rows]): Makes a row of each Doc.
    score (Callable[[Rows], float]): Computes the score from rows; it can be pickled.
    answers (Callable[[Example], tuple[str, str]]): The right and the predicted answer,
        in words; "nothing" if there is none.
    wrong (Optional[Callable[[Sequence[Example]], Rows]]): Whether the answer to each
        Doc is wrong; None for scores.
    meaning (str): What the name stands for, if that differs between pipelines.
    labels (tuple[str, ...]): The labels of texts that the pipeline knows.
    component (str): The component whose metric it is.
    """

    name: str
    rows: MakeRows
    score: Callable[[Rows], float]
    answers: Callable[[Example], tuple[str, str]]
    wrong: MakeRows | None = None
    meaning: str = ""
    labels: tuple[str, ...] = ()
    component: str = ""


def has_error(counts: Rows) -> Rows:
    """Return which Docs have a false positive or a false negative."""
    return np.asarray(counts.reshape(len(counts), -1, 3)[:, :, 1:].any(axis=(1, 2)))


def accuracy(rows: Rows) -> float:
    """Compute the share of right labels."""
    rows = _labeled(rows)
    return float(np.mean(rows[:, 0] == rows[:, 1])) if len(rows) else 0.0


def matthews(rows: Rows) -> float:
    """Compute Matthews' correlation of right and predicted labels.

    scikit-learn's takes a hundred times as long, mostly to check its input.
    """
    rows = _labeled(rows).astype(np.int64)
    n_labels = int(rows.max(initial=-1)) + 1
    cells = np.bincount(rows[:, 0] * n_labels + rows[:, 1], minlength=n_labels**2)
    table = cells.reshape(n_labels, n_labels).astype(np.float64)
    gold, guess, n_docs = table.sum(axis=1), table.sum(axis=0), table.sum()
    both = np.trace(table) * n_docs - gold @ guess
    of_gold, of_guess = n_docs**2 - gold @ gold, n_docs**2 - guess @ guess
    return float(both / np.sqrt(of_gold * of_guess)) if of_gold * of_guess else 0.0


def _labeled(rows: Rows) -> Rows:
    return rows[rows[:, 0] != NO_LABEL]


# Counts are true positives, false positives and false negatives: (n_docs, 3), or
# (n_docs, n_labels, 3).


def precision(rows: Rows) -> float:
    """Compute the precision over all labels together."""
    return float(_total(rows).precision)


def recall(rows: Rows) -> float:
    """Compute the recall over all labels together."""
    return float(_total(rows).recall)


def f_score(rows: Rows) -> float:
    """Compute F1 over all labels together."""
    return float(_total(rows).fscore)


def macro_precision(rows: Rows) -> float:
    """Compute the mean of the labels' precision."""
    return _mean([label.precision for label in _by_label(rows)])


def macro_recall(rows: Rows) -> float:
    """Compute the mean of the labels' recall."""
    return _mean([label.recall for label in _by_label(rows)])


def macro_f_score(rows: Rows) -> float:
    """Compute the mean of the labels' F1."""
    return _mean([label.fscore for label in _by_label(rows)])


def _by_label(rows: Rows) -> list[PRFScore]:
    counts = rows.sum(axis=0).reshape(-1, 3).tolist()
    return [PRFScore(tp=tp, fp=fp, fn=fn) for tp, fp, fn in counts]


def _total(rows: Rows) -> PRFScore:
    return sum(_by_label(rows), PRFScore())


def _mean(values: list[float]) -> float:
    # In spaCy's order of additions, to the last digit.
    return float(sum(values) / (len(values) + 1e-100))


def macro_auc(rows: Rows) -> float:
    """Compute the mean of the labels' areas under the ROC curve.

    rows (Rows): The right and the predicted score of each label (n_docs, n_labels, 2);
        NaN where the right one is unknown. A label without both classes counts as 0.
    """
    return _mean([_auc(rows[:, label]) for label in range(rows.shape[1])])


def _auc(rows: Rows) -> float:
    curve = ROCAUCScore()
    curve.golds, curve.cands = rows[~np.isnan(rows[:, 0])].T.tolist()
    return float(curve.score) if curve.is_binary() else 0.0


def pearson(rows: Rows) -> float:
    """Compute Pearson's correlation of right and predicted scores."""
    return _correlation(rows, "cats_pearson")


def spearman(rows: Rows) -> float:
    """Compute Spearman's correlation of right and predicted scores."""
    return _correlation(rows, "cats_spearman")


def _correlation(rows: Rows, name: str) -> float:
    gold, guess = rows[~np.isnan(rows).any(axis=1)].T.tolist()
    return float(regression_scores(gold, guess)[name] or 0.0)
