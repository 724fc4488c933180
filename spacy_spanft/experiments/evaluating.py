"""Scores of one trained pipeline on test data: overall, by label, and confusions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from spacy.language import Language
from spacy.scorer import Scorer
from spacy.training import Example
from wasabi.tables import table

from ..errors import listed, shown, visible, warn
from ..training.gold import cats_in
from .measuring import check_texts, join, scored, warn_of_unknown
from .metrics import NOTHING, OF_NUMBERS, Metric, Rows, metric_of, metrics_of
from .task_data import read_examples

_N_CONFUSIONS = 10
# What is shown of spaCy's scores: by the end of their names.
_TITLES = {
    "accuracy": "Accuracy",
    "macro_f": "Macro F",
    "macro_auc": "Macro AUC",
    "micro_f": "Micro F",
    "matthews": "Matthews correlation",
    "pearson": "Pearson correlation",
    "spearman": "Spearman correlation",
    "mae": "Mean absolute error",
    "p": "Precision",
    "r": "Recall",
    "f": "F",
}
_PERCENT = {"accuracy", "macro_f", "macro_auc", "micro_f", "p", "r", "f"}


class Evaluation(NamedTuple):
    """The scores of a pipeline."""

    n_texts: int
    scores: dict[str, float]  # under the names of spaCy and this package
    labels: dict[str, dict[str, Any]]  # how often each is right ("n"), "p", "r" and "f"
    # Right and predicted label, and how often; of exclusive labels only.
    confusions: list[tuple[str, str, int]]


def evaluate(
    nlp: Language, data: str, columns: Mapping[str, str] | None = None
) -> Evaluation:
    """Score a trained pipeline on any test data that `compare` reads."""
    examples = list(read_examples(nlp, data, columns=columns))
    docs = nlp.pipe(example.predicted for example in examples)
    examples = join(docs, examples)
    check_texts([example.predicted.text for example in examples], data)
    name = str(nlp.path or nlp.meta["name"])
    metric, *others = _annotated(nlp, name, examples)
    if others:
        groups = listed([other.group for other in others])
        rest = f"`spacy evaluate` scores {groups}, on .spacy files"
        warn(f"Only {metric.group!r} is scored here; {rest}.")
    scores, prefix = Scorer(nlp).score(examples), metric.group
    measured = scored(examples, nlp, metric, name, data)
    warn_of_unknown(measured.unknown, data, "the pipeline")
    gold = Counter(x for e in examples for x in metric.labels_of(e.reference))
    values = {f"{prefix}_{end}": scores.get(f"{prefix}_{end}") for end in _TITLES}
    if metric.name in OF_NUMBERS:
        values["cats_mae"] = float(np.nanmean(np.abs(np.diff(measured.rows))))
        _warn_of_scale(nlp, measured.rows[:, 0], data)
    confusions: Counter[tuple[str, str]] = Counter()
    factories = [nlp.get_pipe_meta(name).factory for name in nlp.pipe_names]
    if prefix == "cats" and "textcat" in factories:
        values["cats_macro_auc"] = None  # that of labels that may hold together
        accuracy = metric_of(nlp, "cats_accuracy")
        values["cats_accuracy"] = accuracy.score(accuracy.rows(examples))
        pairs = zip(measured.gold, measured.answers, strict=True)
        confusions.update((a, b) for a, b in pairs if a not in (b, NOTHING))
        if n := sum(len([*cats_in(e.reference)]) > 1 for e in examples):
            several = f"{shown(data)} has texts with several labels"
            warn(f"{several}, of which textcat predicts one: {n:,}.")
    per_type = scores.get(f"{prefix}_f_per_type") or scores.get(f"{prefix}_per_type")
    none_right = {x: {"p": 0.0, "r": 0.0, "f": 0.0} for x in gold if per_type}
    by_label = none_right | (per_type or {})
    return Evaluation(
        len(examples),
        {name: value for name, value in values.items() if value is not None},
        {x: {"n": gold[x], **prf} for x, prf in sorted(by_label.items())},
        [(*pair, n) for pair, n in confusions.most_common(_N_CONFUSIONS)],
    )


def _annotated(nlp: Language, name: str, examples: Sequence[Example]) -> list[Metric]:
    """Return a metric of each group that the data have, the pipeline's usual one first.

    If they have none, it is the usual one alone.
    """
    usual = metric_of(nlp, path=name)
    metrics = {usual.group: usual}
    for metric in metrics_of(nlp).values():
        metrics.setdefault(metric.group, metric)
    docs = [example.reference for example in examples]
    in_data = [x for x in metrics.values() if {*map(x.answer, docs)} - {NOTHING}]
    return in_data or [usual]


def _warn_of_scale(nlp: Language, scores: Rows, data: str) -> None:
    """Warn of scores far beyond the range of a pipeline."""
    ranges: Any = (pipe for _, pipe in nlp.pipeline if hasattr(pipe, "high"))
    low, high = next((pipe.low, pipe.high) for pipe in ranges)
    least, most = np.nanmin(scores), np.nanmax(scores)
    if least < 2 * low - high or most > 2 * high - low:
        warn(
            f"{shown(data)} has scores from {least:g} to {most:g}, and the pipeline "
            f"predicts {low:g} to {high:g}. Is it the same scale?"
        )


def to_text(evaluation: Evaluation) -> str:
    """Return an evaluation as tables for a terminal."""
    rows = [("Texts", f"{evaluation.n_texts:,}")]
    for name, value in evaluation.scores.items():
        end = next(x for x in _TITLES if name.endswith(f"_{x}"))
        number = f"{value:.1%}" if end in _PERCENT else f"{value:.3f}"
        rows.append((_TITLES[end], number))
    by_label = [
        (visible(x), f"{v['n']:,}", *(f"{v[key]:.1%}" for key in "prf"))
        for x, v in evaluation.labels.items()
    ]
    wrong = [(visible(a), visible(b), f"{n:,}") for a, b, n in evaluation.confusions]
    parts = [table(rows, aligns=("l", "r"))]
    for header, cells, aligns in (
        (["label", "n", "precision", "recall", "F"], by_label, "lrrrr"),
        (["right", "predicted", "n"], wrong, "llr"),
    ):
        how: Any = {"header": header, "divider": True, "aligns": [*aligns]}
        parts += [table(cells, **how)] if cells else []
    return "\n".join(part.strip("\n") + "\n" for part in parts)
