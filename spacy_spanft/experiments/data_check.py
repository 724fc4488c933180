"""Check before hours of training whether arms can be compared on the test data."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from confection import Config

from ..configs import tokenizer_of
from ..configs.reading import interpolated
from ..errors import ComparisonError, listed, visible
from ..training.gold import has_score, labels_in
from .comparison.predicting import read_examples
from .matrix import Run
from .matrix.data import TASK, Data
from .metrics.choice import check_metric


class _Contents(NamedTuple):
    """The texts of a file, and their labels if these are not scores."""

    texts: set[str]
    labels: set[str]
    has_scores: bool


def check_test_data(data: Data, runs: Sequence[Run]) -> None:
    """Raise for test data that the pipelines could not be compared on.

    Warns of labels that the training data lacks, and of texts that it has.

    data (Data): The data of a task.
    runs (Sequence[Run]): The runs of all tasks.
    """
    if not data.tests:
        raise ComparisonError(
            f"There is no test data in {str(data.folder)!r}. Add test.spacy, or a "
            f"table such as test.csv."
        )
    name = data.folder.resolve().name
    configs = [interpolated(run.config) for run in runs if run.task == name]
    # Most arms read their data alike.
    for config in {repr(c["corpora"]["dev"]): c for c in configs}.values():
        train = _read(config, data.files["train"])
        if data.metric is not None or data.positive_label is not None:
            labels = sorted(train.labels)
            named = data.metric, data.positive_label, str(data.folder / TASK)
            check_metric(config, labels, *named)
        for path in data.tests:
            test = _read(config, path)
            _check_labels(path, test, train)
            _warn(path, test, train)
        _warn(data.files["dev"], _read(config, data.files["dev"]), train)


def _check_labels(path: Path, test: _Contents, train: _Contents) -> None:
    if test.has_scores or train.has_scores:
        return
    if not test.labels:
        raise ComparisonError(f"No text of '{path}' has a label, entity or span.")
    if not test.labels & train.labels:
        raise ComparisonError(
            f"'{path}' has the labels {listed(sorted(test.labels))}, and the training "
            f"data has none of them: {listed(sorted(train.labels))}."
        )


def _warn(path: Path, test: _Contents, train: _Contents) -> None:
    warnings = []
    if unknown := sorted(test.labels - train.labels):
        labels = listed(unknown)
        warnings.append(
            f"Labels of {path} that are not in the training data: {labels}."
        )
    if n_shared := len(test.texts & train.texts - {""}):
        warnings.append(
            f"Texts of {path} that also occur in the training data: {n_shared:,}. Its "
            f"scores will be inflated."
        )
    for warning in warnings:
        print(f"⚠ {visible(warning)}", file=sys.stderr)


def _read(config: Config, path: Path) -> _Contents:
    texts, labels, has_scores = set[str](), set[str](), False
    for example in read_examples(tokenizer_of(config), str(path), config):
        texts.add(example.reference.text)
        labels.update(labels_in(example.reference))
        has_scores |= has_score(example.reference)
    return _Contents(texts, labels, has_scores)
