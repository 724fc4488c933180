"""Predictions that something else has made: JSON lines, one for each text of the data.

They are scored as those of a pipeline are, whose reader and metric they share.
"""

import unicodedata
import warnings
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from spacy.training import Example
from spacy.util import minibatch

from ...errors import ComparisonError, Errors, Warnings
from ...errors.shortening import listed, shown
from ...training.readers.rows import Row
from ...training.readers.tables import rows_from_file
from ...util.pipelines import load
from ..metrics.choice import metric_of
from .annotating import annotate
from .predicting import read_examples

_ENDING = ".jsonl"


def is_written(path: str) -> bool:
    """Say whether a path names predictions, and no pipeline.

    RETURNS (bool): Whether it is a file of JSON lines.
    """
    return Path(path).suffix == _ENDING


class WrittenPredictions:
    """What a file says of the test data: examples, to be gone through once."""

    # Nobody knows how long it took.
    seconds = 0.0

    def __init__(
        self,
        path: str,
        data: str,
        reference: str,
        metric: str | None = None,
        positive_label: str | None = None,
    ):
        """Load the pipeline that says what is scored, and how.

        path (str): The predictions.
        data (str): The test data: DocBins, or what the pipeline's dev corpus reads.
        reference (str): The pipeline, by name or path.
        metric (Optional[str]): The metric; None for the pipeline's own.
        positive_label (Optional[str]): The positive label, for cats_f1.
        """
        self.path, self._data, self._reference = path, data, reference
        self.nlp = load(reference, -1)
        self._metric = metric_of(self.nlp, metric, positive_label, reference)

    def __iter__(self) -> Iterator[list[Example]]:
        """Read batch by batch.

        YIELDS (list[Example]): The Docs with what was predicted, beside the right ones.
        """
        yield from minibatch(self._read(), self.nlp.batch_size)

    def _read(self) -> Iterator[Example]:
        there, known = set[str](), set(self._metric.labels)
        n_spans = n_inside = 0
        rows, examples = rows_from_file(self.path), read_examples(self.nlp, self._data)
        for number, (row, example) in enumerate(zip_longest(rows, examples), 1):
            if row is None or example is None:
                raise ComparisonError(self._wrong_number(number, example))
            self._check_text(row, example, number)
            found = annotate(example, row, self.path, self._metric)
            there |= found.labels
            known |= found.gold
            n_spans += found.n_spans
            n_inside += found.n_inside
            yield example
        self._check_labels(there, known)
        if n_inside:
            told = {"path": self.path, "n": n_inside, "n_spans": n_spans}
            warnings.warn(Warnings.INSIDE_TOKENS.format(**told), stacklevel=2)

    def _wrong_number(self, number: int, example: Example | None) -> str:
        place = {"path": self.path, "data": self._data, "n": number - 1}
        if example is None:
            return Errors.MORE_PREDICTIONS.format(**place)
        return Errors.FEWER_PREDICTIONS.format(**place, text=example.predicted.text)

    def _check_text(self, row: Row, example: Example, number: int) -> None:
        text = example.predicted.text
        if row.cells.get("text") != text:
            place = {"place": row.place.lower(), "path": self.path, "number": number}
            found = shown(row.cells["text"]) if "text" in row.cells else "nothing"
            told = {"found": found, "data": self._data, "text": text}
            told["hint"] = _hint(row.cells.get("text"), text)
            raise ComparisonError(Errors.PREDICTED_TEXT.format(**place, **told))

    def _check_labels(self, there: set[str], known: set[str]) -> None:
        """Labels that nobody knows are most often named otherwise."""
        strange = there - known
        if not strange or not known:
            return
        told = {"path": self.path, "labels": listed(sorted(strange))}
        told |= {"known": listed(sorted(known)), "model": self._reference}
        if strange == there:
            raise ComparisonError(Errors.OTHER_PREDICTIONS.format(**told))
        warnings.warn(Warnings.STRANGE_PREDICTIONS.format(**told), stacklevel=2)


def _hint(found: Any, text: str) -> str:
    """Say so if two texts look the same and are not."""
    if not isinstance(found, str):
        return ""
    one, other = (unicodedata.normalize("NFC", each) for each in (found, text))
    return Errors.OTHER_NORMAL_FORM if one == other else ""
