"""The metrics of a pipeline, each computed from a row of numbers for each Doc.

With a row for each Doc, any resampled choice of Docs is scored in microseconds. The
scores equal those of spaCy's Scorer and of this package's scorers.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.scorer import PRFScore
from spacy.tokens import Doc
from spacy.training import Example

from ..errors import SpanftError, listed
from ..pipeline.scorers import best_label, matthews, ranks, regression_scores
from ..training.gold import cats_in, entities_in, spans_in

Rows = NDArray[Any]
Score = Callable[[Rows], float]
Kind = Literal["fscore", "precision", "recall"]
NOTHING = "(nothing)"
OF_NUMBERS = ("cats_pearson", "cats_spearman")


class Metric(NamedTuple):
    """A metric."""

    name: str
    rows: Callable[[Sequence[Example]], Rows]  # one of each Doc
    score: Score  # can be pickled
    answer: Callable[[Doc], str]  # what is annotated, in words
    meaning: str = ""  # what the name stands for, if that differs between pipelines
    labels: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """What is scored: "cats", "ents", or "spans_" and a key."""
        is_of_text = self.name.startswith("cats_")
        return "cats" if is_of_text else self.name.rpartition("_")[0]

    def labels_of(self, doc: Doc) -> Iterator[str]:
        """Return the labels of what is scored: of the text, its entities or spans."""
        if self.group == "cats":  # where a score would be an unknown label
            return cats_in(doc) if self.labels else iter(())
        key = self.group.removeprefix("spans_")
        return entities_in(doc) if self.group == "ents" else spans_in(doc, key)

    def answers(self, example: Example) -> tuple[str, str]:
        """Return the right and the predicted answer. An empty text is never right."""
        is_empty = not example.predicted.text.strip()
        predicted = NOTHING if is_empty else self.answer(example.predicted)
        return self.answer(example.reference), predicted


def metric_of(
    nlp: Language, name: str | None = None, positive: str | None = None, path: str = ""
) -> Metric:
    """Return the metric of a pipeline, by its path in errors.

    name (Optional[str]): The name of a metric; None for the one with the highest
        weight in the pipeline's own [training.score_weights].
    positive (Optional[str]): The positive label, for cats_f1.
    """
    path = path or nlp.meta["name"]
    metrics = metrics_of(nlp, positive, path)
    if name is None:
        weights = nlp.config.get("training", {}).get("score_weights", {})
        weights = {key: weight for key, weight in weights.items() if weight is not None}
        largest = max(weights.values(), default=None)
        heaviest = [key for key in weights if weights[key] == largest]
        name = next((k for k in heaviest if k in metrics), ", ".join(heaviest))
    if not metrics:
        raise SpanftError(
            f"{path!r} predicts no labels or scores of texts, entities or spans, which "
            "are what can be compared. `spacy evaluate` scores other components."
        )
    if name not in metrics:
        raise SpanftError(
            f"{path!r} has no metric {name!r} to be compared by. Choose one of: "
            f"{', '.join(metrics)}."
        )
    if positive is not None and name != "cats_f1":
        raise SpanftError(
            f"The metric of {path!r} is {name}, which has no positive label. Choose "
            "cats_f1, or leave out the positive label."
        )
    return metrics[name]


def metrics_of(
    nlp: Language, positive: str | None = None, path: str = ""
) -> dict[str, Metric]:
    """Return all metrics of a pipeline, by name."""
    names = nlp.pipe_names
    known = (_component_metrics(nlp, name, positive, path) for name in names)
    return {metric.name: metric for metrics in known for metric in metrics}


def _component_metrics(
    nlp: Language, name: str, positive: str | None, path: str
) -> list[Metric]:
    """Return the metrics of a component, its usual one first."""
    factory = nlp.get_pipe_meta(name).factory
    component: Any = nlp.get_pipe(name)
    if factory == "textcat":
        scorer = nlp.get_pipe_config(name).get("scorer")
        return _label_metrics(component, scorer, positive, path)
    if factory == "textcat_multilabel":
        return _multilabel_metrics(component)
    if factory == "text_regressor":
        return _number_metrics(component.label)
    if factory in ("spancat", "spancat_singlelabel"):
        return _span_metrics(f"spans_{component.key}", component.key)
    if factory in ("ner", "beam_ner", "bilou_ner"):
        return _span_metrics("ents", None)
    return []


# Outcomes: right ones, wrong ones and missing ones, of each label or of all


def _outcomes(gold: Rows, guess: Rows) -> Rows:
    """Return whether each is a true positive, false positive, or false negative."""
    return np.stack([gold & guess, guess & ~gold, gold & ~guess], axis=-1)


def count_score(rows: Rows, kind: Kind = "fscore", is_macro: bool = False) -> float:
    """Compute F1, precision or recall over all labels together, or their mean.

    rows (Rows): Outcomes (n_docs, 3), or those of each label (n_docs, n_labels, 3).
    """
    counts = rows.sum(axis=0).reshape(-1, 3).tolist()
    labels = [PRFScore(tp=tp, fp=fp, fn=fn) for tp, fp, fn in counts]
    if is_macro:
        return _mean([getattr(label, kind) for label in labels])
    return float(getattr(sum(labels, PRFScore()), kind))


def _mean(values: list[float]) -> float:
    # In spaCy's order of additions, to the last digit.
    return float(sum(values) / (len(values) + 1e-100))


_KINDS: dict[str, Kind] = {"f": "fscore", "p": "precision", "r": "recall"}
_AVERAGES: dict[str, Score] = {
    f"cats_{average}_{letter}": partial(count_score, kind=kind, is_macro=is_macro)
    for average, is_macro in (("macro", True), ("micro", False))
    for letter, kind in _KINDS.items()
}


# Exclusive labels: the numbers of the right label and of the predicted one, or -1


def _label_metrics(
    component: Any, scorer: Any, positive: str | None, path: str
) -> list[Metric]:
    """Return the metrics of exclusive labels, spaCy's cats_score first."""
    labels = list(component.labels)
    if positive is not None and positive not in labels:
        raise SpanftError(f"{path!r} has no label {positive!r}, but {listed(labels)}.")
    numbers = {label: i for i, label in enumerate(labels)}
    known = partial(_known_labels, numbers)
    every = partial(_all_labels, labels, {**numbers, "": -1})
    metric = partial(
        Metric,
        answer=lambda doc: best_label(doc.cats, labels) or NOTHING,
        labels=tuple(labels),
    )
    counts = partial(_label_counts, known, [*numbers.values()])
    metrics = [metric(name, counts, score) for name, score in _AVERAGES.items()]
    metrics.append(metric("cats_accuracy", every, accuracy))
    metrics.append(metric("cats_matthews", every, matthews))
    of_scorer = scorer.get("positive_label") if isinstance(scorer, dict) else None
    of_scorer = of_scorer or component.cfg.get("positive_label")
    of_scorer = of_scorer if of_scorer in labels else None
    is_binary = len(labels) == 2
    usual = metrics[0]._replace(name="cats_score", meaning="macro F")
    if is_binary and of_scorer is not None:
        of_one = partial(_label_counts, known, [numbers[of_scorer]])
        usual = usual._replace(rows=of_one, meaning=f"F ({of_scorer})")
    positive = positive or of_scorer or (labels[1] if is_binary else None)
    if positive is not None:
        of_one = partial(_label_counts, every, [numbers[positive]])
        meaning = f"F1 ({positive})"
        metrics.append(metric("cats_f1", of_one, count_score, meaning=meaning))
    return [usual, *metrics]


def _known_labels(known: Mapping[str, int], examples: Sequence[Example]) -> Rows:
    """Number the best of the labels that the pipeline knows, as spaCy's Scorer does."""
    rows = []
    for example in examples:
        both = (example.reference.cats, example.predicted.cats)
        cats = [{k: x[k] for k in x if k in known} for x in both]
        best = [max(x, key=x.__getitem__, default="") for x in cats]
        rows.append([known.get(label, -1) for label in best])
    return np.array(rows, np.int64).reshape(-1, 2)


def _all_labels(
    labels: Sequence[str], numbers: dict[str, int], examples: Sequence[Example]
) -> Rows:
    """Number the best labels; those that only the data has get a number as they come.

    A Doc without a right label does not count, and an empty one is never right.
    """
    rows = []
    for example in examples:
        both = (example.reference.cats, example.predicted.cats)
        gold, guess = (best_label(cats, labels) for cats in both)
        if not gold or not example.predicted.text.strip():
            guess = ""
        for name in (gold, guess):
            numbers.setdefault(name, len(numbers) - 1)  # one of them is no label
        rows.append([numbers[gold], numbers[guess]])
    return np.array(rows, np.int64).reshape(-1, 2)


def _label_counts(
    number: Callable[[Sequence[Example]], Rows],
    labels: Sequence[int],
    examples: Sequence[Example],
) -> Rows:
    """Return the outcomes of some labels (n_docs, n_labels, 3)."""
    gold, guess = number(examples).T[:, :, None] == np.array(labels)
    return _outcomes(gold, guess)


def accuracy(rows: Rows) -> float:
    """Compute the share of right labels (n_docs, 2)."""
    rows = rows[rows[:, 0] >= 0]
    return float(np.mean(rows[:, 0] == rows[:, 1])) if len(rows) else 0.0


# Labels that do not exclude each other: for each label its outcome, or its scores


def _multilabel_metrics(component: Any) -> list[Metric]:
    """Return the metrics of labels that do not exclude each other, cats_score first."""
    labels = tuple(component.labels)
    threshold = component.cfg.get("threshold")
    threshold = 0.5 if threshold is None else threshold

    def scores(examples: Sequence[Example]) -> Rows:
        both = [(e.reference.cats, e.predicted.cats) for e in examples]
        rows = [[(a.get(x, np.nan), b.get(x, 0.0)) for x in labels] for a, b in both]
        return np.array(rows, np.float64)

    def counts(examples: Sequence[Example]) -> Rows:
        right, predicted = np.moveaxis(scores(examples), -1, 0)
        return _outcomes(right > 0, (predicted >= threshold) & ~np.isnan(right))

    def answer(doc: Doc) -> str:
        held = [x for x, value in doc.cats.items() if value and value >= threshold]
        return ", ".join(sorted(held)) or NOTHING

    auc = Metric("cats_macro_auc", scores, macro_auc, answer, labels=labels)
    metrics = [auc._replace(name="cats_score", meaning="macro AUC"), auc]
    for name, score in _AVERAGES.items():
        metrics.append(Metric(name, counts, score, answer, labels=labels))
    return metrics


def macro_auc(rows: Rows) -> float:
    """Compute the mean of the labels' areas under the ROC curve.

    rows (Rows): The right and the predicted score of each label (n_docs, n_labels, 2);
        NaN where the right one is unknown. A label without both classes counts as 0.
    """
    areas = []
    for pairs in rows.transpose(1, 0, 2):
        right, scores = pairs[~np.isnan(pairs[:, 0])].T
        of_right = ranks(scores)[right == 1]
        n, n_others = len(of_right), len(right) - len(of_right)
        # Of all pairs of a text that has the label and one that has not, the share in
        # which the former has the higher score.
        above = of_right.sum() - n * (n + 1) / 2
        areas.append(float(above / (n * n_others)) if n and n_others else 0.0)
    return _mean(areas)


# Numbers: the right and the predicted one


def _number_metrics(label: str) -> list[Metric]:
    """Return the metrics of `text_regressor`."""

    def rows(examples: Sequence[Example]) -> Rows:
        both = [(e.reference.cats, e.predicted.cats) for e in examples]
        pairs = [(a.get(label, np.nan), b.get(label, np.nan)) for a, b in both]
        return np.array(pairs, np.float64).reshape(-1, 2)

    def answer(doc: Doc) -> str:
        return f"{doc.cats[label]:.2f}" if label in doc.cats else NOTHING

    return [
        Metric(name, rows, partial(correlation, name=name), answer)
        for name in OF_NUMBERS
    ]


def correlation(rows: Rows, name: str = "cats_pearson") -> float:
    """Compute a correlation of right and predicted scores (n_docs, 2)."""
    gold, guess = rows[~np.isnan(rows).any(axis=1)].T.tolist()
    return float(regression_scores(gold, guess)[name] or 0.0)


# Entities and spans: the number of right ones, wrong ones, and missing ones


def _span_metrics(prefix: str, key: str | None) -> list[Metric]:
    """Return the metrics of a group of spans, or of entities if it is None."""

    def rows(examples: Sequence[Example]) -> Rows:
        counts = [
            _entity_counts(e) if key is None else _span_counts(key, e) for e in examples
        ]
        return np.array(counts, np.int64).reshape(-1, 3)

    def answer(doc: Doc) -> str:
        group = doc.ents if key is None else doc.spans.get(key, [])
        spans = sorted({(s.start_char, s.end_char, s.label_) for s in group})
        words = [f"{doc.text[start:end]} ({label})" for start, end, label in spans]
        return ", ".join(words) or NOTHING

    return [
        Metric(f"{prefix}_{letter}", rows, partial(count_score, kind=kind), answer)
        for letter, kind in _KINDS.items()
    ]


def _entity_counts(example: Example) -> tuple[int, int, int]:
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


def _span_counts(key: str, example: Example) -> tuple[int, int, int]:
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
