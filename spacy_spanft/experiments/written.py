"""Predictions of other software: JSON lines, one for each text of the test data.

The names are those of spaCy's JSON. A pipeline determines how the data is read and how
the predictions are scored.
"""

import warnings
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from math import isfinite
from pathlib import Path
from typing import Any

from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import filter_spans

from ..errors import ComparisonError, listed, shown
from ..training.readers.rows import Row, rows_from_file
from .metrics import Metric
from .row_scores import OF_NUMBERS, macro_auc


def is_written(path: str) -> bool:
    """Whether a path is a file of predictions, and not a pipeline."""
    return Path(path).suffix == ".jsonl"


def read_predictions(
    path: str, examples: Iterator[Example], metric: Metric
) -> Iterator[Example]:
    """Yield examples with the predictions in a file.

    A span that begins or ends inside a token is widened to the token, as spaCy's Scorer
    does where the tokens of a pipeline differ from those of the data.

    examples (Iterator[Example]): The test data.
    metric (Metric): The metric, which determines what is read.
    """
    predicted, known = set[str](), set(metric.labels)
    rows = rows_from_file(path)
    for number, (row, example) in enumerate(zip_longest(rows, examples), 1):
        _check_text(path, row, example, number)
        labels, gold = annotate(example, row, path, metric)
        predicted |= labels
        known |= gold
        yield example
    if (unknown := predicted - known) and known:
        labels_known = listed(sorted(known))
        message = (
            f"{path!r} predicts {listed(sorted(unknown))}, and neither the pipeline "
            f"nor the data knows these labels, but {labels_known}."
        )
        if unknown == predicted:
            raise ComparisonError(f"{message} Rename them.")
        warnings.warn(message, stacklevel=2)


def _check_text(
    path: str, row: Row | None, example: Example | None, number: int
) -> None:
    """Raise unless a row is about the text that it is compared with."""
    n_before = number - 1
    if example is None:
        raise ComparisonError(
            f"{path!r} has more predictions than the data has texts ({n_before})."
        )
    text = example.predicted.text
    if row is None:
        raise ComparisonError(
            f"{path!r} has {n_before} predictions, and the next text has none: "
            f"{shown(text)}."
        )
    if row.cells.get("text") != text:
        text_in_row = shown(row.cells["text"]) if "text" in row.cells else "missing"
        raise ComparisonError(
            f'"text" in {row.place.lower()} of {path!r} is {text_in_row}, but must be '
            f"text {number} of the data, {shown(text)}, with the same characters."
        )


def annotate(
    example: Example, row: Row, path: str, metric: Metric
) -> tuple[set[str], set[str]]:
    """Write the predictions of a row on an example's predicted Doc.

    RETURNS (tuple[set[str], set[str]]): The predicted and the right labels.
    """
    doc, reference = example.predicted, example.reference
    kind, _, key = metric.name.rpartition("_")[0].partition("_")
    try:
        if kind == "ents":
            doc.ents = filter_spans(_entities(doc, row.cells["ents"]))
            return _labels(doc.ents), _labels(reference.ents)
        if kind == "spans":
            doc.spans[key] = _spans(doc, row.cells["spans"][key])
            return _labels(doc.spans[key]), _labels(reference.spans.get(key, []))
        doc.cats = _cats(row.cells, metric)
    except (KeyError, TypeError, ValueError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else str(error)
        cells = {name: cell for name, cell in row.cells.items() if name != "text"}
        raise ComparisonError(
            f"{row.place} of {path!r} is no prediction for {metric.name}: {reason}. "
            f"It has {shown(cells)}."
        ) from error
    return set(doc.cats), {label for label, value in reference.cats.items() if value}


def _cats(cells: dict[str, Any], metric: Metric) -> dict[str, float]:
    """Read the scores of labels, the chosen label, or a regressor's score."""
    if metric.name in OF_NUMBERS and ("score" in cells or "cats" not in cells):
        return {metric.labels[0]: _number(cells["score"])}
    if "cats" in cells:
        cats = {label: _number(score) for label, score in dict(cells["cats"]).items()}
        # Unknown labels are reported once for all rows.
        missing = set(metric.labels) - set(cats)
        if missing and set(cats) <= set(metric.labels):
            raise ValueError(f"'cats' has no score of {listed(sorted(missing))}")
        return cats
    if metric.score is macro_auc:
        raise ValueError("it needs 'cats', with the score of each label")
    label = cells["label"]
    if not isinstance(label, str | int) or label == "":
        raise ValueError("'label' must be the name of a label")
    return {str(label): 1.0}


def _number(score: Any) -> float:
    if not isinstance(score, int | float) or not isfinite(score):
        raise ValueError(f"{shown(score)} is not a number")
    return float(score)


def _entities(doc: Doc, cells: Any) -> list[Span]:
    spans = _spans(doc, cells)
    ordered = sorted(cells, key=lambda cell: (cell["start"], cell["end"]))
    for first, second in pairwise(ordered):
        if second["start"] < first["end"]:
            both = f"{shown(first)} and {shown(second)}"
            raise ValueError(f"entities overlap: {both}. Use 'spans'")
    return spans


def _spans(doc: Doc, cells: Any) -> list[Span]:
    spans: list[Span] = []
    for cell in cells:
        start, end, label = cell["start"], cell["end"], cell["label"]
        text = doc.text[start:end]
        if not 0 <= start < end <= len(doc.text) or not text.strip():
            raise ValueError(
                f"{shown(cell)} is not a span of the {len(doc.text):,} characters"
            )
        # Some tokenizers include the blank before a word.
        start, end = end - len(text.lstrip()), start + len(text.rstrip())
        span: Any = doc.char_span(start, end, label, alignment_mode="expand")
        spans.append(span)
    return spans


def _labels(spans: Sequence[Span]) -> set[str]:
    return {span.label_ for span in spans}
