"""Scores computed from a row of numbers for each Doc.

With a row for each Doc, any resampled choice of Docs is scored in microseconds. The
scores equal those of spaCy's Scorer and of this package's scorers.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from spacy.scorer import PRFScore, ROCAUCScore

from ..pipeline.scorers import regression_scores

Rows = NDArray[Any]
Score = Callable[[Rows], float]
Kind = Literal["fscore", "precision", "recall"]
NO_LABEL = -1


def accuracy(rows: Rows) -> float:
    """Compute the share of right labels (n_docs, 2)."""
    rows = _labeled(rows)
    return float(np.mean(rows[:, 0] == rows[:, 1])) if len(rows) else 0.0


def matthews(rows: Rows) -> float:
    """Compute Matthews' correlation of right and predicted labels (n_docs, 2).

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


def count_score(rows: Rows, kind: Kind = "fscore", *, is_macro: bool = False) -> float:
    """Compute F1, precision or recall over all labels together, or their mean.

    rows (Rows): True positives, false positives and false negatives (n_docs, 3), or
        those of each label (n_docs, n_labels, 3).
    """
    counts = rows.sum(axis=0).reshape(-1, 3).tolist()
    labels = [PRFScore(tp=tp, fp=fp, fn=fn) for tp, fp, fn in counts]
    if is_macro:
        return _mean([getattr(label, kind) for label in labels])
    return float(getattr(sum(labels, PRFScore()), kind))


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


def correlation(rows: Rows, name: str = "cats_pearson") -> float:
    """Compute a correlation of right and predicted scores (n_docs, 2)."""
    gold, guess = rows[~np.isnan(rows).any(axis=1)].T.tolist()
    return float(regression_scores(gold, guess)[name] or 0.0)


_KINDS: dict[str, Kind] = {"f": "fscore", "p": "precision", "r": "recall"}
OF_SPAN_COUNTS: Mapping[str, Score] = {
    letter: partial(count_score, kind=kind) for letter, kind in _KINDS.items()
}
OF_LABEL_COUNTS: Mapping[str, Score] = {
    f"cats_{average}_{letter}": partial(count_score, kind=kind, is_macro=is_macro)
    for average, is_macro in (("macro", True), ("micro", False))
    for letter, kind in _KINDS.items()
}
OF_NUMBERS: Mapping[str, Score] = {
    name: partial(correlation, name=name) for name in ("cats_pearson", "cats_spearman")
}
