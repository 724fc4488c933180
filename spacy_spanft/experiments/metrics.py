"""The metrics of a pipeline, each with the rows that it is computed from."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..errors import ComparisonError, listed
from .row_scores import (
    NO_LABEL,
    OF_LABEL_COUNTS,
    OF_NUMBERS,
    OF_SPAN_COUNTS,
    Rows,
    Score,
    accuracy,
    count_score,
    macro_auc,
    matthews,
)

MakeRows = Callable[[Sequence[Example]], Rows]
Cats = Mapping[str, float]
NOTHING = "nothing"


class Metric(NamedTuple):
    """A metric.

    rows (Callable[[Sequence[Example]], Rows]): Makes a row of each Doc.
    score (Callable[[Rows], float]): Computes the score from rows; it can be pickled.
    answers (Callable[[Example], tuple[str, str]]): The right and the predicted answer,
        in words; "nothing" if there is none.
    meaning (str): What the name stands for, if that differs between pipelines.
    """

    name: str
    rows: MakeRows
    score: Score
    answers: Callable[[Example], tuple[str, str]]
    meaning: str = ""
    labels: tuple[str, ...] = ()


def metric_of(
    nlp: Language, name: str | None = None, positive: str | None = None, path: str = ""
) -> Metric:
    """Return the metric of a pipeline.

    name (Optional[str]): The name of a metric; None for the one with the highest
        weight in the pipeline's own [training.score_weights].
    positive (Optional[str]): The positive label, for cats_f1.
    path (str): The pipeline's name in errors.
    """
    path = path or nlp.meta["name"]
    metrics: dict[str, Metric] = {}
    for component in nlp.pipe_names:
        known = _component_metrics(nlp, component, positive, path)
        metrics |= {metric.name: metric for metric in known}
    if name is None:
        weights = nlp.config.get("training", {}).get("score_weights", {})
        weights = {key: weight for key, weight in weights.items() if weight is not None}
        largest = max(weights.values(), default=None)
        heaviest = [key for key in weights if weights[key] == largest]
        name = next((k for k in heaviest if k in metrics), ", ".join(heaviest))
    if name not in metrics:
        raise ComparisonError(
            f"{path!r} has no metric {name!r} to be compared by. Choose with --metric, "
            f"one of: {', '.join(metrics) or NOTHING}."
        )
    return metrics[name]


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


def _label_metrics(
    component: Any, scorer: Any, positive: str | None, path: str
) -> list[Metric]:
    """Return the metrics of exclusive labels, spaCy's cats_score first.

    scorer (Any): The scorer's block in the component's config.
    """
    labels = list(component.labels)
    if positive is not None and positive not in labels:
        raise ComparisonError(
            f"The positive label is {positive!r}, but the labels of {path!r} are: "
            f"{listed(labels)}."
        )
    # Labels that only the data has get their numbers as they come.
    numbers = partial(_numbers, {**{name: i for i, name in enumerate(labels)}, "": -1})
    counts = _rows(partial(_exclusive_counts, labels=labels))
    metric = partial(Metric, answers=_best_answers, labels=tuple(labels))
    metrics = [metric(name, counts, score) for name, score in OF_LABEL_COUNTS.items()]
    metrics.append(metric("cats_accuracy", numbers, accuracy))
    metrics.append(metric("cats_matthews", numbers, matthews))
    of_scorer = scorer.get("positive_label") if isinstance(scorer, dict) else None
    of_scorer = of_scorer or component.cfg.get("positive_label")
    of_scorer = of_scorer if of_scorer in labels else None
    is_binary = len(labels) == 2
    score = metrics[0]._replace(name="cats_score", meaning="macro F")
    if is_binary and of_scorer is not None:
        number = labels.index(of_scorer)
        of_one = lambda examples: counts(examples)[:, number]  # noqa: E731
        meaning = f"F ({of_scorer})"
        score = metric("cats_score", of_one, count_score, meaning=meaning)
    positive = positive or of_scorer or (labels[1] if is_binary else None)
    if positive is not None:
        rows = partial(_positive_counts, numbers, labels.index(positive))
        metrics.append(metric("cats_f1", rows, count_score, meaning=f"F1 ({positive})"))
    return [score, *metrics]


def _multilabel_metrics(component: Any) -> list[Metric]:
    """Return the metrics of labels that do not exclude each other, cats_score first."""
    labels = list(component.labels)
    threshold = component.cfg.get("threshold")
    threshold = 0.5 if threshold is None else threshold

    def answers(example: Example) -> tuple[str, str]:
        gold, guess = example.reference.cats, example.predicted.cats
        right = ", ".join(sorted(label for label in gold if gold[label]))
        predicted = ", ".join(sorted(c for c in guess if guess[c] >= threshold))
        return right or NOTHING, predicted or NOTHING

    counts = _rows(partial(_counts, labels=labels, threshold=threshold))
    areas = _rows(partial(_pairs, labels=labels))
    metric = partial(Metric, answers=answers, labels=tuple(labels))
    auc = metric("cats_macro_auc", areas, macro_auc)
    others = [metric(name, counts, score) for name, score in OF_LABEL_COUNTS.items()]
    return [auc._replace(name="cats_score", meaning="macro AUC"), *others, auc]


def _number_metrics(label: str) -> list[Metric]:
    """Return the metrics of `text_regressor`."""

    def rows(examples: Sequence[Example]) -> Rows:
        both = [(e.reference.cats, e.predicted.cats) for e in examples]
        pairs = [(a.get(label, np.nan), b.get(label, np.nan)) for a, b in both]
        return np.array(pairs, np.float64).reshape(-1, 2)

    def answers(example: Example) -> tuple[str, str]:
        both = (example.reference.cats, example.predicted.cats)
        gold, guess = (f"{c[label]:.2f}" if label in c else NOTHING for c in both)
        return gold, guess

    return [
        Metric(name, rows, score, answers, labels=(label,))
        for name, score in OF_NUMBERS.items()
    ]


def _span_metrics(prefix: str, key: str | None) -> list[Metric]:
    """Return the metrics of a group of spans, or of entities if it is None."""

    def rows(examples: Sequence[Example]) -> Rows:
        counts = [
            _entity_counts(e) if key is None else _span_counts(key, e) for e in examples
        ]
        return np.array(counts, np.int64).reshape(-1, 3)

    def answers(example: Example) -> tuple[str, str]:
        return _in_words(example.reference, key), _in_words(example.predicted, key)

    return [
        Metric(f"{prefix}_{end}", rows, score, answers)
        for end, score in OF_SPAN_COUNTS.items()
    ]


def _rows(to_row: Callable[[Cats, Cats], Rows]) -> MakeRows:
    """Make rows of right and predicted labels."""

    def rows(examples: Sequence[Example]) -> Rows:
        return np.array([to_row(e.reference.cats, e.predicted.cats) for e in examples])

    return rows


def _exclusive_counts(gold: Cats, guess: Cats, labels: Sequence[str]) -> Rows:
    # Of the labels that the pipeline knows, as spaCy's Scorer does.
    kept = ({k: cats[k] for k in cats if k in labels} for cats in (gold, guess))
    right, predicted = map(_best, kept)
    is_gold = np.array([label == right for label in labels])
    return _outcomes(is_gold, np.array([label == predicted for label in labels]))


def _counts(gold: Cats, guess: Cats, labels: Sequence[str], threshold: float) -> Rows:
    right = np.array([gold.get(label, np.nan) for label in labels])
    is_predicted = np.array([guess.get(label, 0.0) >= threshold for label in labels])
    return _outcomes(right > 0, is_predicted) & ~np.isnan(right)[:, None]


def _outcomes(gold: Rows, guess: Rows) -> Rows:
    """Return whether each is a true positive, false positive, or false negative."""
    return np.stack([gold & guess, guess & ~gold, gold & ~guess], axis=-1)


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
    gold, guess = numbers(examples).T
    counts = _outcomes(gold == positive, guess == positive)
    return counts & (gold != NO_LABEL)[:, None]


def _best(cats: Cats) -> str:
    return max(cats, key=lambda label: cats[label]) if cats else ""


def _best_answers(example: Example) -> tuple[str, str]:
    gold, guess = _best(example.reference.cats), _best(example.predicted.cats)
    return gold or NOTHING, guess or NOTHING


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


def _in_words(doc: Doc, key: str | None) -> str:
    group = doc.ents if key is None else doc.spans.get(key, [])
    spans = sorted({(s.start_char, s.end_char, s.label_) for s in group})
    words = [f"{doc.text[start:end]} ({label})" for start, end, label in spans]
    return ", ".join(words) or NOTHING
