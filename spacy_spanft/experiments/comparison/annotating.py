"""What a row of predictions says, written on a Doc: named as in spaCy's JSON."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import filter_spans

from ...errors import ComparisonError, Errors
from ...errors.shortening import listed, shown
from ...training.readers.rows import Row
from ...util.facts import is_number, is_whole
from ..metrics.scoring import SCORES, Metric, macro_auc


class _Place:
    """Where a value stands, for errors."""

    def __init__(self, row: Row, path: str):
        self.row, self.path = row, path

    def fail(self, reason: str) -> NoReturn:
        told = {"place": self.row.place, "path": self.path, "reason": reason}
        raise ComparisonError(Errors.BAD_PREDICTION.format(**told))

    def wrong(self, name: str, value: Any, expected: str) -> NoReturn:
        self.fail(f"{name} is {shown(value)}, but must be {expected}")


class Annotated(NamedTuple):
    """What was found while a Doc was written on.

    labels (set[str]): The labels that were predicted.
    gold (set[str]): Those that are right.
    n_spans (int): How many entities or spans were predicted.
    n_inside (int): How many of them begin or end inside a token.
    """

    labels: set[str]
    gold: set[str]
    n_spans: int = 0
    n_inside: int = 0


def annotate(example: Example, row: Row, path: str, metric: Metric) -> Annotated:
    """Write on an example's predicted Doc what a row says of it.

    A span that begins or ends inside a token is one of the whole token, as it is for
    spaCy's Scorer where a pipeline has other tokens than the data.

    example (Example): The example, whose predicted Doc has no annotations.
    row (Row): What was predicted: "cats" or "label", "score", "ents" or "spans".
    path (str): The file, for errors.
    metric (Metric): What it is scored with, which says which of them is needed.
    RETURNS (Annotated): What was found.
    """
    place, doc, right = _Place(row, path), example.predicted, example.reference
    kind, _, key = metric.name.rpartition("_")[0].partition("_")
    if kind == "ents":
        values = _need(place, "ents")
        ents = _spans(values, doc, place, "ents")
        _check_apart(values, place)
        # Of two in the same token, the longer one stays.
        doc.ents = filter_spans(ents)
        return _annotated(values, ents, right.ents)
    if kind == "spans":
        groups = _need(place, "spans")
        if not isinstance(groups, dict) or key not in groups:
            expected = f"an object with a list of spans under {key!r}"
            place.wrong("'spans'", groups, expected)
        spans = _spans(groups[key], doc, place, f"spans[{key!r}]")
        doc.spans[key] = spans
        return _annotated(groups[key], spans, right.spans.get(key, []))
    doc.cats = _score(place, metric) if metric.name in SCORES else _cats(place, metric)
    gold = {label for label, value in right.cats.items() if value}
    return Annotated(set(doc.cats), gold)


def _annotated(
    values: list[dict[str, Any]], spans: list[Span], gold: Sequence[Span]
) -> Annotated:
    """Gather what was found of spans, and see which of them had to be widened."""
    n_inside = sum(
        span.end_char - span.start_char > value["end"] - value["start"]
        for value, span in zip(values, spans, strict=True)
    )
    return Annotated(_labels(spans), _labels(gold), len(spans), n_inside)


def _need(place: _Place, name: str) -> Any:
    if name not in place.row.cells:
        place.fail(f"there is no {name!r}, which is what is scored")
    return place.row.cells[name]


def _score(place: _Place, metric: Metric) -> dict[str, float]:
    """Read a score, or the cats that spaCy keeps it in."""
    cells = place.row.cells
    if "score" not in cells and "cats" in cells:
        return _cats(place, metric)
    score = _need(place, "score")
    if not is_number(score):
        place.wrong("'score'", score, "a number")
    return {metric.labels[0]: float(score)}


def _cats(place: _Place, metric: Metric) -> dict[str, float]:
    """Read the scores of labels, or the one label that was chosen."""
    cells = place.row.cells
    if "cats" not in cells and metric.score is macro_auc:
        place.fail(
            f"there is no 'cats', and {metric.name} needs the score of each label"
        )
    if "cats" not in cells and "label" in cells:
        label = cells["label"]
        if is_whole(label):
            label = str(label)
        if not isinstance(label, str) or not label:
            place.wrong("'label'", label, "the name of a label")
        return {label: 1.0}
    if "cats" not in cells:
        reason = "there is neither 'cats' nor 'label', and labels are what is scored"
        place.fail(reason)
    cats = cells["cats"]
    if not isinstance(cats, dict) or not all(map(is_number, cats.values())):
        place.wrong("'cats'", cats, "an object with a number for each label")
    # Of other labels is spoken later, once for all rows.
    if set(cats) <= set(metric.labels) and (left := set(metric.labels) - set(cats)):
        place.fail(f"'cats' has no score of {listed(sorted(left))}")
    return {label: float(value) for label, value in cats.items()}


def _spans(values: Any, doc: Doc, place: _Place, name: str) -> list[Span]:
    if not isinstance(values, list):
        place.wrong(name, values, "a list")
    return [_span(value, doc, place, name) for value in values]


def _check_apart(values: list[dict[str, Any]], place: _Place) -> None:
    """Raise for entities that overlap, which no Doc can have."""
    ordered = sorted(values, key=lambda value: (value["start"], value["end"]))
    for one, other in pairwise(ordered):
        if other["start"] < one["end"]:
            both = f"{shown(one)} and {shown(other)}"
            place.fail(f"there are entities that overlap: {both}. They can be 'spans'")


def _span(value: Any, doc: Doc, place: _Place, name: str) -> Span:
    """Read one span, whose bounds are characters."""
    found: dict[str, Any] = value if isinstance(value, dict) else {}
    start, end, label = (found.get(key, "") for key in ("start", "end", "label"))
    is_there = is_whole(start) and is_whole(end) and 0 <= start < end <= len(doc.text)
    if not is_there or not isinstance(label, str) or not label:
        expected = (
            '{"start": …, "end": …, "label": "…"}, with start and end in characters '
            f"of the text, which has {len(doc.text):,}"
        )
        place.wrong(f"a span in {name}", value, expected)
    # Some tokenizers count the blank before a word in.
    text = doc.text[start:end]
    start, end = end - len(text.lstrip()), start + len(text.rstrip())
    span = doc.char_span(start, end, label, alignment_mode="expand")
    if start >= end or span is None:
        place.fail(f"a span in {name} is of white space alone: {shown(value)}")
    return span


def _labels(spans: Sequence[Span]) -> set[str]:
    return {span.label_ for span in spans}
