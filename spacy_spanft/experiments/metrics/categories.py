"""Metrics of `doc.cats`: of one label a text, of several, and of scores."""

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
from spacy.training import Example

from ...errors import ComparisonError, Errors
from . import scoring
from .scoring import NO_LABEL, NOTHING, SCORES, MakeRows, Metric, Rows, Scored, Words

Cats = Mapping[str, float]
# What becomes of the gold cats and the predicted ones of a Doc: a row.
ToRow = Callable[[Cats, Cats], Rows]
_OF_COUNTS = {
    "cats_macro_f": scoring.macro_f_score,
    "cats_macro_p": scoring.macro_precision,
    "cats_macro_r": scoring.macro_recall,
    "cats_micro_f": scoring.f_score,
    "cats_micro_p": scoring.precision,
    "cats_micro_r": scoring.recall,
}


def of_label(scored: Scored) -> list[Metric]:
    """Give the metrics of `textcat`, whose labels exclude each other.

    scored (Scored): The component.
    RETURNS (list[Metric]): The metrics, spaCy's cats_score first.
    """
    labels = list(scored.component.labels)
    # Labels that only the data have get theirs as they come.
    known = {**{label: i for i, label in enumerate(labels)}, "": NO_LABEL}

    def numbers(examples: Sequence[Example]) -> Rows:
        return _numbers(examples, known)

    def right(examples: Sequence[Example]) -> Rows:
        gold, guess = numbers(examples).T
        return np.asarray(gold == guess)

    def to_counts(gold: Cats, guess: Cats) -> Rows:
        return _exclusive_counts(gold, guess, labels)

    def to_scores(gold: Cats, guess: Cats) -> Rows:
        # What has no right score is wrong.
        return _scores({name: gold.get(name) or 0.0 for name in labels}, guess, labels)

    usual = (_words_of_label, right)
    counts = _rows(to_counts, labels)
    made = [Metric(n, counts, score, *usual) for n, score in _OF_COUNTS.items()]
    areas = _rows(to_scores, labels)
    made.append(Metric("cats_macro_auc", areas, scoring.macro_auc, *usual))
    made.append(Metric("cats_accuracy", numbers, scoring.accuracy, *usual))
    made.append(Metric("cats_matthews", numbers, scoring.matthews, *usual))
    own = _own_positive(scored)
    positive = _check_positive(scored, scored.positive or own, labels)
    if positive is None and len(labels) == 2:
        positive = labels[1]
    if positive is not None:
        made.append(_of_positive(positive, numbers, labels, right))
    if len(labels) == 2 and own is not None:
        score = Metric("", _column(counts, labels.index(own)), scoring.f_score, *usual)
        return _with_labels([_as_score(score, f"F ({own})"), *made], labels)
    return _with_labels([_as_score(made[0], "macro F"), *made], labels)


def of_labels(scored: Scored) -> list[Metric]:
    """Give the metrics of `textcat_multilabel`.

    scored (Scored): The component.
    RETURNS (list[Metric]): The metrics, spaCy's cats_score first.
    """
    labels = list(scored.component.labels)
    threshold = scored.component.cfg.get("threshold")
    threshold = 0.5 if threshold is None else threshold

    def to_counts(gold: Cats, guess: Cats) -> Rows:
        return _counts(gold, guess, labels, threshold)

    def to_scores(gold: Cats, guess: Cats) -> Rows:
        return _scores(gold, guess, labels)

    counts = _rows(to_counts, labels)

    def wrong(examples: Sequence[Example]) -> Rows:
        return np.asarray(counts(examples)[..., 1:].any(axis=(1, 2)))

    words = _words_of_labels(threshold)
    areas = _rows(to_scores, labels)
    made = [Metric(n, counts, score, words) for n, score in _OF_COUNTS.items()]
    auc = Metric("cats_macro_auc", areas, scoring.macro_auc, words, None, wrong)
    return _with_labels([_as_score(auc, "macro AUC"), *made, auc], labels)


def of_score(scored: Scored) -> list[Metric]:
    """Give the metrics of `text_regressor`.

    scored (Scored): The component.
    """
    label = scored.component.label

    def rows(examples: Sequence[Example]) -> Rows:
        both = [(one.reference.cats, one.predicted.cats) for one in examples]
        pairs = [(a.get(label, np.nan), b.get(label, np.nan)) for a, b in both]
        return np.array(pairs, np.float64).reshape(-1, 2)

    def words(example: Example) -> tuple[str, str]:
        gold, guess = (
            f"{cats[label]:.2f}" if label in cats else NOTHING
            for cats in (example.reference.cats, example.predicted.cats)
        )
        return gold, guess

    makers = zip(SCORES, (scoring.pearson, scoring.spearman), strict=True)
    made = [Metric(name, rows, score, words) for name, score in makers]
    return _with_labels(made, [label])


def _with_labels(metrics: list[Metric], labels: Sequence[str]) -> list[Metric]:
    return [metric._replace(labels=tuple(labels)) for metric in metrics]


def _as_score(metric: Metric, meaning: str) -> Metric:
    """Give a metric the name that spaCy gives to the most usual one."""
    return metric._replace(name="cats_score", meaning=meaning)


def _rows(to_row: ToRow, labels: Sequence[str]) -> MakeRows:
    """Make rows of the cats that the pipeline knows: the Scorer looks at no others."""
    known = set(labels)

    def rows(examples: Sequence[Example]) -> Rows:
        made = []
        for one in examples:
            both = (one.reference.cats, one.predicted.cats)
            gold, guess = ({k: v for k, v in c.items() if k in known} for c in both)
            made.append(to_row(gold, guess))
        return np.array(made)

    return rows


def _column(rows: MakeRows, number: int) -> MakeRows:
    """Keep the counts of one label."""

    def column(examples: Sequence[Example]) -> Rows:
        return rows(examples)[:, number]

    return column


def _exclusive_counts(gold: Cats, guess: Cats, labels: Sequence[str]) -> Rows:
    """Say of each label whether it was found rightly, found wrongly, or missed."""
    row = np.zeros((len(labels), 3), np.bool_)
    right, found = _best(gold), _best(guess)
    if right and right == found:
        row[labels.index(right), 0] = True
        return row
    if found:
        row[labels.index(found), 1] = True
    # Without a prediction, a label whose score is 0 cannot be missed.
    if right and (found or gold[right] > 0):
        row[labels.index(right), 2] = True
    return row


def _counts(gold: Cats, guess: Cats, labels: Sequence[str], threshold: float) -> Rows:
    """Say the same where each label is a question of its own, perhaps unanswered."""
    row = np.zeros((len(labels), 3), np.bool_)
    for number, label in enumerate(labels):
        if (right := gold.get(label)) is not None:
            is_found = guess.get(label, 0.0) >= threshold
            row[number] = (
                is_found and right > 0,
                is_found and right == 0,
                not is_found and right > 0,
            )
    return row


def _scores(gold: Cats, guess: Cats, labels: Sequence[str]) -> Rows:
    both = [(gold.get(label, np.nan), guess.get(label, 0.0)) for label in labels]
    return np.array(both, np.float64)


def _numbers(examples: Sequence[Example], known: dict[str, int]) -> Rows:
    """Number the right and the predicted labels, those that nobody knows too."""
    found = []
    for one in examples:
        gold, guess = _best(one.reference.cats), _best(one.predicted.cats)
        for name in (gold, guess):
            known.setdefault(name, len(known) - 1)  # one of them is not a label
        # Who predicts nothing is wrong, also where nothing is right.
        found.append((known[gold], known[guess] if guess else NO_LABEL - 1))
    return np.array(found, np.int64).reshape(-1, 2)


def _of_positive(
    positive: str, numbers: MakeRows, labels: Sequence[str], right: MakeRows
) -> Metric:
    number = labels.index(positive)

    def counts(examples: Sequence[Example]) -> Rows:
        rows = numbers(examples)
        gold, guess = (column == number for column in rows.T)
        found = np.stack([gold & guess, guess & ~gold, gold & ~guess], axis=1)
        found[rows[:, 0] == NO_LABEL] = False
        return found

    score, meaning = scoring.f_score, f"F1 ({positive})"
    return Metric("cats_f1", counts, score, _words_of_label, right, meaning=meaning)


def _own_positive(scored: Scored) -> str | None:
    """Find the positive label that the pipeline itself is scored with."""
    block = scored.nlp.get_pipe_config(scored.name).get("scorer")
    of_scorer = block.get("positive_label") if isinstance(block, dict) else None
    found: str | None = of_scorer or scored.component.cfg.get("positive_label")
    return found if found in scored.component.labels else None


def _check_positive(
    scored: Scored, label: str | None, labels: Sequence[str]
) -> str | None:
    if label is None or label in labels:
        return label
    there = ", ".join(map(repr, labels))
    message = Errors.OTHER_POSITIVE.format(label=label, path=scored.path, labels=there)
    raise ComparisonError(message)


def check_labels(there: Collection[str], labels: Collection[str], path: str) -> None:
    """Raise if a pipeline knows none of the labels in the data.

    there (Collection[str]): The labels that are right for any text.
    labels (Collection[str]): The labels that the pipeline knows.
    path (str): The pipeline.
    """
    if there and not set(there) & set(labels):
        names = (", ".join(map(repr, sorted(x))) for x in (there, labels))
        text = dict(zip(("there", "known"), names, strict=True))
        raise ComparisonError(Errors.OTHER_LABELS.format(path=path, **text))


def _best(cats: Cats) -> str:
    return max(cats, key=lambda label: cats[label]) if cats else ""


def _words_of_label(example: Example) -> tuple[str, str]:
    gold, guess = _best(example.reference.cats), _best(example.predicted.cats)
    return gold or NOTHING, guess or NOTHING


def _words_of_labels(threshold: float) -> Words:
    def words(example: Example) -> tuple[str, str]:
        gold, guess = example.reference.cats, example.predicted.cats
        right = ", ".join(sorted(label for label in gold if gold[label]))
        found = ", ".join(sorted(c for c in guess if guess[c] >= threshold))
        return right or NOTHING, found or NOTHING

    return words
