"""What a metric is, and the scores: from a row of numbers for each Doc to one number.

With a row a Doc, a score can be computed for any choice of Docs, and two arms can
be compared Doc by Doc. All scores are those of spaCy's Scorer and of our own scorers,
to the last digit.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.scorer import PRFScore, ROCAUCScore
from spacy.training import Example

from ..hook import regression_scores

Rows = NDArray[Any]
MakeRows = Callable[[Sequence[Example]], Rows]
Words = Callable[[Example], tuple[str, str]]
NOTHING = "nothing"
NO_LABEL = -1
SCORES = ("cats_pearson", "cats_spearman")


class Metric(NamedTuple):
    """A metric.

    name (str): Its name, as in [training.score_weights].
    rows (Callable[[Sequence[Example]], Rows]): What there is to say of each Doc.
    score (Callable[[Rows], float]): The score of some of them: a function that other
        processes know too.
    words (Callable[[Example], tuple[str, str]]): Says in words what is right for a
        Doc, and what was predicted.
    right (Optional[Callable[[Sequence[Example]], Rows]]): Which Docs have the right
        label, where they have one.
    wrong (Optional[Callable[[Sequence[Example]], Rows]]): Which Docs have a wrong
        answer, where neither `right` nor counts in the rows tell.
    meaning (str): What the name stands for, if that is not the same in all pipelines.
    labels (tuple[str, ...]): The labels that the pipeline knows, of a text; if it has
        any, one of them has to be right somewhere.
    component (str): Whose metric it is.
    """

    name: str
    rows: MakeRows
    score: Callable[[Rows], float]
    words: Words
    right: MakeRows | None = None
    wrong: MakeRows | None = None
    meaning: str = ""
    labels: tuple[str, ...] = ()
    component: str = ""


class Scored(NamedTuple):
    """A component whose predictions are scored.

    path (str): The pipeline, by name or path.
    name (str): The component's name in it.
    positive (Optional[str]): The positive label that was asked for, for cats_f1.
    """

    path: str
    nlp: Language
    name: str
    component: Any
    positive: str | None


def accuracy(rows: Rows) -> float:
    """Compute the share of right labels."""
    rows = _labeled(rows)
    return float(np.mean(rows[:, 0] == rows[:, 1])) if len(rows) else 0.0


def matthews(rows: Rows) -> float:
    """Compute Matthews' correlation of right and predicted labels.

    As sklearn computes it, but without its checks: a bootstrap calls this thousands of
    times, and they take a hundred times as long as the score.
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


def precision(rows: Rows) -> float:
    """Compute how much of what was found is right, all labels together."""
    return float(_total(rows).precision)


def recall(rows: Rows) -> float:
    """Compute how much of what is right was found, all labels together."""
    return float(_total(rows).recall)


def f_score(rows: Rows) -> float:
    """Compute F1 of how many were found rightly, found wrongly, and missed."""
    return float(_total(rows).fscore)


def macro_precision(rows: Rows) -> float:
    """Compute the mean of the labels' precision."""
    return _mean([one.precision for one in _of_labels(rows)])


def macro_recall(rows: Rows) -> float:
    """Compute the mean of the labels' recall."""
    return _mean([one.recall for one in _of_labels(rows)])


def macro_f_score(rows: Rows) -> float:
    """Compute the mean of the labels' F1."""
    return _mean([one.fscore for one in _of_labels(rows)])


def _of_labels(rows: Rows) -> list[PRFScore]:
    """Add up counts (n_docs, 3) or, label by label, (n_docs, n_labels, 3)."""
    counts = rows.sum(axis=0).reshape(-1, 3).tolist()
    return [PRFScore(tp=tp, fp=fp, fn=fn) for tp, fp, fn in counts]


def _total(rows: Rows) -> PRFScore:
    total = PRFScore()
    for one in _of_labels(rows):
        total += one
    return total


def _mean(values: list[float]) -> float:
    # Neither `mean` nor NumPy adds in the same way as spaCy does.
    return float(sum(values) / (len(values) + 1e-100))


def macro_auc(rows: Rows) -> float:
    """Compute the mean of the labels' areas under the ROC curve.

    rows (Rows): The right and the predicted score of each label (n_docs, n_labels, 2);
        not a number where it is not known what is right.
    RETURNS (float): The mean; a label that is right all over, or nowhere, counts as 0.
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
    """Correlate the scores of those Docs that have them."""
    gold, guess = rows[~np.isnan(rows).any(axis=1)].T.tolist()
    return float(regression_scores(gold, guess)[name] or 0.0)
