"""What a row of predictions says, written on a Doc: named as in spaCy's JSON."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NoReturn

from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import filter_spans

from ..errors import ComparisonError, Errors
from ..errors.shortening import shown
from ..readers.rows import Row
from .facts import is_number, is_whole
from .scoring import SCORES, Metric


class _Place:
    """Where a value stands, for errors."""

    def __init__(self, row: Row, path: str):
        self.row, self.path = row, path

    def fail(self, reason: str) -> NoReturn:
        told = {"place": self.row.place, "path": self.path, "reason": reason}
        raise ComparisonError(Errors.BAD_PREDICTION.format(**told))

    def wrong(self, name: str, value: Any, expected: str) -> NoReturn:
        self.fail(f"{name} is {shown(value)}, but must be {expected}")


def annotate(
    example: Example, row: Row, path: str, metric: Metric
) -> tuple[set[str], set[str]]:
    """Write on an example's predicted Doc what a row says of it.

    A span that begins or ends inside a token is one of the whole token, as it is for
    spaCy's Scorer where a pipeline has other tokens than the data.

    example (Example): The example, whose predicted Doc has no annotations.
    row (Row): What was predicted: "cats" or "label", "score", "ents" or "spans".
    path (str): The file, for errors.
    metric (Metric): What it is scored with, which says which of them is needed.
    RETURNS (tuple[set[str], set[str]]): The labels in it, and those of the right Doc.
    """
    place, doc, right = _Place(row, path), example.predicted, example.reference
    kind, _, key = metric.name.rpartition("_")[0].partition("_")
    if kind == "ents":
        values = _need(place, "ents")
        ents = _spans(values, doc, place, "ents")
        _check_apart(values, place)
        # Of two in the same token, the longer one stays.
        doc.ents = filter_spans(ents)
        return _labels(ents), _labels(right.ents)
    if kind == "spans":
        groups = _need(place, "spans")
        if not isinstance(groups, dict) or key not in groups:
            expected = f"an object with a list of spans under {key!r}"
            place.wrong("'spans'", groups, expected)
        doc.spans[key] = _spans(groups[key], doc, place, f"spans[{key!r}]")
        return _labels(doc.spans[key]), _labels(right.spans.get(key, []))
    doc.cats = _score(place, metric) if metric.name in SCORES else _cats(place)
    return set(doc.cats), {label for label, value in right.cats.items() if value}


def _need(place: _Place, name: str) -> Any:
    if name not in place.row.cells:
        place.fail(f"has no {name!r}, which is what is scored")
    return place.row.cells[name]


def _score(place: _Place, metric: Metric) -> dict[str, float]:
    """Read a score, or the cats that spaCy keeps it in."""
    cells = place.row.cells
    if "score" not in cells and "cats" in cells:
        return _cats(place)
    score = _need(place, "score")
    if not is_number(score):
        place.wrong("'score'", score, "a number")
    return {metric.labels[0]: float(score)}


def _cats(place: _Place) -> dict[str, float]:
    """Read the scores of labels, or the one label that was chosen."""
    cells = place.row.cells
    if "cats" not in cells and "label" in cells:
        label = cells["label"]
        if is_whole(label):
            label = str(label)
        if not isinstance(label, str) or not label:
            place.wrong("'label'", label, "the name of a label")
        return {label: 1.0}
    if "cats" not in cells:
        place.fail("has neither 'cats' nor 'label', and labels are what is scored")
    cats = cells["cats"]
    if not isinstance(cats, dict) or not all(map(is_number, cats.values())):
        place.wrong("'cats'", cats, "an object with a number for each label")
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
            place.fail(f"has entities that overlap: {both}. They can be 'spans'")


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
        place.fail(f"has a span in {name} of white space alone: {shown(value)}")
    return span


def _labels(spans: Sequence[Span]) -> set[str]:
    return {span.label_ for span in spans}
