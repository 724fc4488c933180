"""Predictions of other software: JSON lines, one for each text of the test data.

A pipeline determines how the data is read and how the predictions are scored.
"""

import unicodedata
import warnings
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from spacy.training import Example
from spacy.util import minibatch

from ...errors import ComparisonError, listed, shown
from ...training.readers.rows import Row, rows_from_file
from ...util.pipelines import load
from ..metrics.choice import metric_of
from .annotating import annotate
from .predicting import read_examples


def is_written(path: str) -> bool:
    """Whether a path is a file of predictions, and not a pipeline."""
    return Path(path).suffix == ".jsonl"


class WrittenPredictions:
    """The predictions in a file: batches of examples, to be iterated over once."""

    # Unknown for a file.
    seconds: float | None = None
    n_parameters: int | None = None

    def __init__(
        self,
        path: str,
        data: str,
        reference: str,
        metric: str | None = None,
        positive_label: str | None = None,
    ):
        """Load the pipeline that determines what is scored, and how.

        path (str): The predictions.
        data (str): The test data: DocBins, or what the pipeline's dev corpus reads.
        reference (str): The pipeline, by name or path.
        metric (Optional[str]): The metric; None for the pipeline's own.
        positive_label (Optional[str]): The positive label, for cats_f1.
        """
        self._path, self._data, self._reference = path, data, reference
        self.nlp = load(reference, -1)
        self._metric = metric_of(self.nlp, metric, positive_label, reference)

    def __iter__(self) -> Iterator[list[Example]]:
        """Read batch by batch."""
        yield from minibatch(self._read(), self.nlp.batch_size)

    def _read(self) -> Iterator[Example]:
        predicted, known = set[str](), set(self._metric.labels)
        n_spans = n_inside = 0
        rows, examples = rows_from_file(self._path), read_examples(self.nlp, self._data)
        for number, (row, example) in enumerate(zip_longest(rows, examples), 1):
            _check_text(self._path, self._data, row, example, number)
            annotated = annotate(example, row, self._path, self._metric)
            predicted |= annotated.labels
            known |= annotated.gold
            n_spans += annotated.n_spans
            n_inside += annotated.n_inside
            yield example
        self._check_labels(predicted, known)
        if n_inside:
            warnings.warn(
                f"{n_inside:,} of {n_spans:,} spans in {self._path!r} begin or end "
                f"inside a token; they are scored as the whole token.",
                stacklevel=2,
            )

    def _check_labels(self, predicted: set[str], known: set[str]) -> None:
        unknown = predicted - known
        if not unknown or not known:
            return
        labels, right = listed(sorted(unknown)), listed(sorted(known))
        message = (
            f"{self._path!r} predicts {labels}, and neither {self._reference!r} nor "
            f"the data knows these labels, but {right}."
        )
        if unknown == predicted:
            raise ComparisonError(f"{message} Rename them.")
        warnings.warn(message, stacklevel=2)


def _check_text(
    path: str, data: str, row: Row | None, example: Example | None, number: int
) -> None:
    """Raise unless a row is about the text that it is compared with."""
    if example is None:
        raise ComparisonError(
            f"{path!r} has more predictions than {data!r} has texts ({number - 1})."
        )
    text = example.predicted.text
    if row is None:
        raise ComparisonError(
            f"{path!r} has {number - 1} predictions, and the next text of {data!r} has "
            f"none: {shown(text)}."
        )
    written: Any = row.cells.get("text")
    if written == text:
        return
    hint = ""
    if isinstance(written, str) and _normal(written) == _normal(text):
        hint = " They differ only in how accents are encoded (Unicode normalization)."
    value = shown(written) if "text" in row.cells else "missing"
    raise ComparisonError(
        f'"text" in {row.place.lower()} of {path!r} is {value}, but must be text '
        f"{number} of {data!r}, {shown(text)}.{hint}"
    )


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", text)
