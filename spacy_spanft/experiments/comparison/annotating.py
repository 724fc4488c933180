"""A row of predictions written on a Doc; the names are those of spaCy's JSON."""

import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import filter_spans

from ...errors import ComparisonError, listed, shown
from ...training.readers.rows import Row
from ..metrics.scoring import SCORES, Metric, macro_auc


class Annotated(NamedTuple):
    """The annotations of a row.

    labels (set[str]): The predicted labels.
    gold (set[str]): The right ones.
    n_spans (int): The number of predicted entities or spans.
    n_inside (int): How many of them begin or end inside a token.
    """

    labels: set[str]
    gold: set[str]
    n_spans: int = 0
    n_inside: int = 0


def annotate(example: Example, row: Row, path: str, metric: Metric) -> Annotated:
    """Write the predictions of a row on an example's predicted Doc.

    A span that begins or ends inside a token is widened to the token, as spaCy's Scorer
    does where the tokens of a pipeline differ from those of the data.

    row (Row): A text's "cats" or "label", "score", "ents" or "spans".
    path (str): The file, for errors.
    metric (Metric): The metric, which determines which of them is read.
    """
    reader = _Reader(row, path)
    doc, reference = example.predicted, example.reference
    kind, _, key = metric.name.rpartition("_")[0].partition("_")
    if kind == "ents":
        return reader.entities(doc, reference.ents)
    if kind == "spans":
        return reader.group(doc, key, reference.spans.get(key, []))
    doc.cats = reader.cats(metric)
    gold = {label for label, value in reference.cats.items() if value}
    return Annotated(set(doc.cats), gold)


class _Reader:
    """Reads the cells of a row."""

    def __init__(self, row: Row, path: str):
        self._row, self._path = row, path

    def _fail(self, reason: str) -> NoReturn:
        raise ComparisonError(f"{self._row.place} of {self._path!r}: {reason}.")

    def _wrong(self, name: str, value: Any, expected: str) -> NoReturn:
        self._fail(f"{name} is {shown(value)}, but must be {expected}")

    def _need(self, name: str) -> Any:
        if name not in self._row.cells:
            self._fail(f"there is no {name!r}, which the metric needs")
        return self._row.cells[name]

    def cats(self, metric: Metric) -> dict[str, float]:
        """Read the scores of labels, the chosen label, or a regressor's score."""
        cells = self._row.cells
        if metric.name in SCORES and ("score" in cells or "cats" not in cells):
            score = self._need("score")
            if not _is_number(score):
                self._wrong("'score'", score, "a number")
            return {metric.labels[0]: float(score)}
        if "cats" in cells:
            return self._scores(cells["cats"], metric)
        if metric.score is macro_auc:
            self._fail(f"{metric.name} needs 'cats', with the score of each label")
        if "label" not in cells:
            self._fail("there is neither 'cats' nor 'label'")
        label = cells["label"]
        label = str(label) if _is_whole(label) else label
        if not isinstance(label, str) or not label:
            self._wrong("'label'", label, "the name of a label")
        return {label: 1.0}

    def _scores(self, cats: Any, metric: Metric) -> dict[str, float]:
        if not isinstance(cats, dict) or not all(map(_is_number, cats.values())):
            self._wrong("'cats'", cats, "an object with a number for each label")
        # Unknown labels are reported once for all rows.
        known = set(metric.labels)
        if set(cats) <= known and (missing := known - set(cats)):
            self._fail(f"'cats' has no score of {listed(sorted(missing))}")
        return {label: float(value) for label, value in cats.items()}

    def entities(self, doc: Doc, gold: Sequence[Span]) -> Annotated:
        """Read entities, which must not overlap."""
        values = self._need("ents")
        spans = self._spans(values, doc, "ents")
        ordered = sorted(values, key=lambda value: (value["start"], value["end"]))
        for first, second in pairwise(ordered):
            if second["start"] < first["end"]:
                both = f"{shown(first)} and {shown(second)}"
                self._fail(f"there are entities that overlap: {both}. Use 'spans'")
        doc.ents = filter_spans(spans)  # the longest of those in one token
        return _annotated(values, spans, gold)

    def group(self, doc: Doc, key: str, gold: Sequence[Span]) -> Annotated:
        """Read a group of spans."""
        groups = self._need("spans")
        if not isinstance(groups, dict) or key not in groups:
            expected = f"an object with a list of spans under {key!r}"
            self._wrong("'spans'", groups, expected)
        spans = self._spans(groups[key], doc, f"spans[{key!r}]")
        doc.spans[key] = spans
        return _annotated(groups[key], spans, gold)

    def _spans(self, values: Any, doc: Doc, name: str) -> list[Span]:
        if not isinstance(values, list):
            self._wrong(name, values, "a list")
        return [self._span(value, doc, name) for value in values]

    def _span(self, value: Any, doc: Doc, name: str) -> Span:
        cells = value if isinstance(value, dict) else {}
        start, end, label = (cells.get(key, "") for key in ("start", "end", "label"))
        is_valid = _is_whole(start) and _is_whole(end) and 0 <= start < end
        if not is_valid or end > len(doc.text) or not label or label != str(label):
            expected = (
                '{"start": …, "end": …, "label": "…"}, with start and end in '
                f"characters of the text, which has {len(doc.text):,}"
            )
            self._wrong(f"a span in {name}", value, expected)
        # Some tokenizers include the blank before a word.
        text = doc.text[start:end]
        start, end = end - len(text.lstrip()), start + len(text.rstrip())
        span = doc.char_span(start, end, label, alignment_mode="expand")
        if start >= end or span is None:
            self._fail(f"a span in {name} is only white space: {shown(value)}")
        return span


def _annotated(
    values: list[dict[str, Any]], spans: list[Span], gold: Sequence[Span]
) -> Annotated:
    n_inside = sum(
        span.end_char - span.start_char > value["end"] - value["start"]
        for value, span in zip(values, spans, strict=True)
    )
    labels, right = ({span.label_ for span in group} for group in (spans, gold))
    return Annotated(labels, right, len(spans), n_inside)


def _is_whole(value: Any) -> bool:
    """Whether a value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    """Whether a value is a finite number."""
    is_any = _is_whole(value) or isinstance(value, float)
    return is_any and abs(value) <= sys.float_info.max
