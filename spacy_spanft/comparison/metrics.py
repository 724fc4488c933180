"""What is scored: from Examples to a row of numbers for each Doc, and to a score.

With a row a Doc, a score can be computed anew for any choice of Docs, and two arms can
be compared Doc by Doc.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.training import Example

from ..errors import ComparisonError, Errors
from ..scorers import classification_scores, regression_scores

Rows = NDArray[Any]
MakeRows = Callable[[Sequence[Example]], Rows]
Words = Callable[[Example], tuple[str, str]]
NOTHING = "nothing"
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
    """

    name: str
    rows: MakeRows
    score: Callable[[Rows], float]
    words: Words
    right: MakeRows | None = None


def metric_of(
    nlp: Language, name: str | None = None, positive: str | None = None
) -> Metric:
    """Choose the metric of a pipeline.

    nlp (Language): The pipeline.
    name (Optional[str]): The name of a metric; None takes what counts most in the
        pipeline's own [training.score_weights].
    positive (Optional[str]): The positive label, for cats_f1.
    RETURNS (Metric): The metric.
    """
    known = _metrics(nlp, positive)
    if name is None:
        weights = nlp.config.get("training", {}).get("score_weights", {})
        ranked = sorted(weights, key=lambda key: -(weights[key] or 0))
        name = next((key for key in ranked if key in known and weights[key]), None)
    if name is None:
        name = next(iter(known), None)
    if name not in known:
        there = ", ".join(known) or "none"
        raise ComparisonError(Errors.NO_METRIC.format(name=name, there=there))
    return known[name]


def _metrics(nlp: Language, positive: str | None) -> dict[str, Metric]:
    """Find what can be scored of a pipeline, each component's usual metric first."""
    found: dict[str, Metric] = {}
    components: Any = nlp.pipeline
    for name, component in components:
        factory = nlp.get_pipe_meta(name).factory
        if factory in ("textcat", "textcat_multilabel", "text_regressor"):
            made = _OF_CATS[factory](component, positive)
        elif factory in ("ner", "beam_ner", "bilou_ner"):
            made = [Metric("ents_f", _ents, f_score, _words_of_spans(None))]
        elif factory in ("spancat", "spancat_singlelabel"):
            made = [_of_spans(component.key)]
        else:
            continue
        found.update({metric.name: metric for metric in made})
    return found


def _of_labels(component: Any, positive: str | None) -> list[Metric]:
    labels = list(component.labels)
    rows = _labels(labels)

    def right(examples: Sequence[Example]) -> Rows:
        gold, guess = rows(examples).T
        return np.asarray(gold == guess)

    made = [
        Metric("cats_accuracy", rows, accuracy, _words_of_label, right),
        Metric("cats_matthews", rows, matthews, _words_of_label, right),
    ]
    if positive is None and len(labels) == 2:
        positive = component.cfg.get("positive_label") or labels[1]
    if positive is not None:
        if positive not in labels:
            there = ", ".join(map(repr, labels))
            message = Errors.NO_POSITIVE_LABEL.format(label=positive, labels=there)
            raise ComparisonError(message)
        number = labels.index(positive)

        def counts(examples: Sequence[Example]) -> Rows:
            gold, guess = (column == number for column in rows(examples).T)
            return np.stack([gold & guess, guess & ~gold, gold & ~guess], axis=1)

        made.append(Metric("cats_f1", counts, f_score, _words_of_label, right))
    return made


def _of_multilabel(component: Any, positive: str | None) -> list[Metric]:
    threshold = component.cfg.get("threshold", 0.5)

    def both(example: Example) -> tuple[set[str], set[str]]:
        gold, guess = example.reference.cats, example.predicted.cats
        return {c for c in gold if gold[c]}, {c for c in guess if guess[c] >= threshold}

    def rows(examples: Sequence[Example]) -> Rows:
        return _counts([both(example) for example in examples])

    def words(example: Example) -> tuple[str, str]:
        gold, guess = (", ".join(sorted(labels)) for labels in both(example))
        return gold or NOTHING, guess or NOTHING

    return [Metric("cats_micro_f", rows, f_score, words)]


def _of_score(component: Any, positive: str | None) -> list[Metric]:
    label = component.label

    def rows(examples: Sequence[Example]) -> Rows:
        pairs = [
            (example.reference.cats[label], example.predicted.cats[label])
            for example in examples
        ]
        return np.array(pairs, np.float64).reshape(-1, 2)

    def words(example: Example) -> tuple[str, str]:
        gold, guess = example.reference.cats, example.predicted.cats
        return f"{gold[label]:.2f}", f"{guess[label]:.2f}"

    makers = zip(SCORES, (pearson, spearman), strict=True)
    return [Metric(name, rows, score, words) for name, score in makers]


_OF_CATS: dict[str, Callable[[Any, str | None], list[Metric]]] = {
    "textcat": _of_labels,
    "textcat_multilabel": _of_multilabel,
    "text_regressor": _of_score,
}


def _of_spans(key: str) -> Metric:
    def rows(examples: Sequence[Example]) -> Rows:
        return _counts([_aligned(example, key) for example in examples])

    return Metric(f"spans_{key}_f", rows, f_score, _words_of_spans(key))


def _ents(examples: Sequence[Example]) -> Rows:
    return _counts([_aligned(example, None) for example in examples])


def _aligned(example: Example, key: str | None) -> tuple[set[Any], set[Any]]:
    """Give the right and the predicted spans of a Doc by their characters."""
    both = []
    for doc in (example.reference, example.predicted):
        group = doc.ents if key is None else doc.spans.get(key, [])
        both.append({(s.start_char, s.end_char, s.label_) for s in group})
    return both[0], both[1]


def _words_of_spans(key: str | None) -> Words:
    def words(example: Example) -> tuple[str, str]:
        docs = (example.reference, example.predicted)
        gold, guess = (
            ", ".join(f"{doc.text[a:b]} ({label})" for a, b, label in sorted(spans))
            for doc, spans in zip(docs, _aligned(example, key), strict=True)
        )
        return gold or NOTHING, guess or NOTHING

    return words


def _counts(sets: Sequence[tuple[set[Any], set[Any]]]) -> Rows:
    """Count what was found rightly, found wrongly, and missed."""
    rows = [(len(g & p), len(p - g), len(g - p)) for g, p in sets]
    return np.array(rows, np.int64).reshape(-1, 3)


def _labels(labels: list[str]) -> Callable[[Sequence[Example]], Rows]:
    numbers = {label: i for i, label in enumerate(labels)}

    def rows(examples: Sequence[Example]) -> Rows:
        pairs = []
        for example in examples:
            gold, guess = _best_labels(example)
            # A label that the pipeline does not know is never right.
            pairs.append((numbers.get(gold, -1), numbers.get(guess, -2)))
        if pairs and all(gold == -1 for gold, _ in pairs):
            there = {_best_labels(example)[0] for example in examples} - {""}
            if there:  # where there are none at all, something else says so
                names = (", ".join(map(repr, sorted(x))) for x in (there, labels))
                text = dict(zip(("there", "known"), names, strict=True))
                raise ComparisonError(Errors.OTHER_LABELS.format(**text))
        return np.array(pairs, np.int64).reshape(-1, 2)

    return rows


def _best_labels(example: Example) -> tuple[str, str]:
    gold, guess = (
        max(cats, key=lambda label: cats[label]) if cats else ""
        for cats in (example.reference.cats, example.predicted.cats)
    )
    return gold, guess


def _words_of_label(example: Example) -> tuple[str, str]:
    gold, guess = _best_labels(example)
    return gold or NOTHING, guess or NOTHING


def accuracy(rows: Rows) -> float:
    """Compute the share of right labels."""
    return float(np.mean(rows[:, 0] == rows[:, 1])) if len(rows) else 0.0


def matthews(rows: Rows) -> float:
    """Compute Matthews' correlation of right and predicted labels."""
    gold, guess = rows.T.tolist()
    return float(classification_scores(gold, guess)["cats_matthews"] or 0.0)


def f_score(rows: Rows) -> float:
    """Compute F1 of how many were found rightly, found wrongly, and missed."""
    right, wrong, missed = rows.sum(axis=0).tolist()
    return 2 * right / max(1, 2 * right + wrong + missed)


def pearson(rows: Rows) -> float:
    """Compute Pearson's correlation of right and predicted scores."""
    gold, guess = rows.T.tolist()
    return float(regression_scores(gold, guess)["cats_pearson"] or 0.0)


def spearman(rows: Rows) -> float:
    """Compute Spearman's correlation of right and predicted scores."""
    gold, guess = rows.T.tolist()
    return float(regression_scores(gold, guess)["cats_spearman"] or 0.0)
