"""The scores that training has left in a pipeline's meta.json."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..experiments.report.wording import metric_name
from ..util.facts import is_number

if TYPE_CHECKING:
    from huggingface_hub import EvalResult

# What the hub calls metrics, by how spaCy's names of them end.
_TYPES = {
    "f": "f1",
    "f1": "f1",
    "p": "precision",
    "r": "recall",
    "acc": "accuracy",
    "accuracy": "accuracy",
    "auc": "roc_auc",
    "matthews": "matthews_correlation",
    "pearson": "pearsonr",
    "spearman": "spearmanr",
}
_NO_SCORES = ("_loss", "speed")


class Score(NamedTuple):
    """A score.

    key (str): What spaCy calls it.
    name (str): What a paper calls it.
    """

    key: str
    name: str
    value: float


class LabelScores(NamedTuple):
    """The scores of single labels.

    key (str): What spaCy calls them.
    rows (list[tuple[str, list[float]]]): For each label precision, recall and F1.
    """

    key: str
    rows: list[tuple[str, list[float]]]


def scores_of(
    meta: Mapping[str, Any], weights: Mapping[str, float | None]
) -> list[Score]:
    """Find the scores of a pipeline.

    spaCy writes 0 for a metric that nothing computed. So a 0 counts only where the
    metric counted, too.

    meta (Mapping[str, Any]): What its meta.json says.
    weights (Mapping[str, Optional[float]]): The `score_weights` of its training.
    RETURNS (list[Score]): All numbers in `performance` but losses and speed.
    """
    found = meta.get("performance", {})
    return [
        Score(key, _name(key, found), value)
        for key, value in found.items()
        if is_number(value) and not key.endswith(_NO_SCORES)
        if value or weights.get(key)
    ]


def _name(key: str, found: Mapping[str, Any]) -> str:
    """Name a score; what cats_score is stands beside it."""
    meaning = found.get(f"{key}_desc")
    return meaning if isinstance(meaning, str) else metric_name(key)


def label_scores_of(meta: Mapping[str, Any]) -> list[LabelScores]:
    """Find the scores of single labels.

    meta (Mapping[str, Any]): What a pipeline's meta.json says.
    RETURNS (list[LabelScores]): Those that are precision, recall and F1.
    """
    tables = []
    for key, labels in meta.get("performance", {}).items():
        if not (key.endswith("_per_type") and isinstance(labels, dict)):
            continue
        rows = [
            (label, [values[name] for name in "prf"])
            for label, values in labels.items()
            if isinstance(values, dict) and all(is_number(values.get(n)) for n in "prf")
        ]
        if rows:
            tables.append(LabelScores(key, rows))
    return tables


def eval_results(scores: Iterable[Score], kind: str, data: str) -> "list[EvalResult]":
    """Make of the scores what the hub reads: those whose metric it knows.

    scores (Iterable[Score]): What `scores_of` found.
    kind (str): What the hub calls the kind of data that they were measured on.
    data (str): The name of the data.
    RETURNS (list[EvalResult]): The scores.
    """
    from huggingface_hub import EvalResult

    results = []
    for score in scores:
        metric = _TYPES.get(score.key.rpartition("_")[2])
        is_of_texts = score.key.startswith("cats_")
        task = "text-classification" if is_of_texts else "token-classification"
        if metric is not None:
            results.append(
                EvalResult(
                    task_type=task,
                    dataset_type=kind,
                    dataset_name=data,
                    metric_type=metric,
                    metric_name=f"{score.name} ({score.key})",
                    metric_value=score.value,
                )
            )
    return results
