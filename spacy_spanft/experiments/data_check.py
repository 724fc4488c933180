"""Whether arms can be compared on the test data, before hours of training."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from confection import Config
from spacy.training import Example

from ..configs import tokenizer_of
from ..configs.reading import interpolated
from ..errors import ComparisonError, Errors
from ..errors.shortening import listed
from ..errors.visible import visible
from ..training.gold import has_score, labels_in
from .comparison.predicting import read_examples
from .matrix import Run
from .matrix.task_data import TASK, Data
from .metrics.choice import check_metric


class _Seen(NamedTuple):
    """What is in a file: texts, and labels, if these are not scores."""

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
        raise ComparisonError(Errors.NO_TEST_DATA.format(folder=data.folder))
    name = data.folder.resolve().name
    configs = [interpolated(run.config) for run in runs if run.task == name]
    # Most arms read their data alike.
    for config in {repr(one["corpora"]["dev"]): one for one in configs}.values():
        train = _look(config, data.files["train"])
        if data.metric is not None or data.positive_label is not None:
            place = str(data.folder / TASK)
            labels = sorted(train.labels)
            check_metric(config, labels, data.metric, data.positive_label, place)
        for path in data.tests:
            test = _look(config, path)
            _check_labels(path, test, train)
            _warn(path, test, train)
        _warn(data.files["dev"], _look(config, data.files["dev"]), train)


def _check_labels(path: Path, test: _Seen, train: _Seen) -> None:
    """Raise for test data that have nothing to be scored, or nothing known."""
    if test.has_scores or train.has_scores:
        return
    names = {"path": str(path), "known": listed(sorted(train.labels))}
    if not test.labels:
        raise ComparisonError(Errors.NO_GOLD_LABELS.format(**names))
    if not test.labels & train.labels:
        there = listed(sorted(test.labels))
        raise ComparisonError(Errors.OTHER_TEST_LABELS.format(**names, there=there))


def _warn(path: Path, one: _Seen, train: _Seen) -> None:
    """Warn of what makes scores lower or higher than they should be."""
    told = []
    if new := sorted(one.labels - train.labels):
        labels = listed(new)
        told.append(f"Labels of {path} that are not in the training data: {labels}.")
    if both := len(one.texts & train.texts - {""}):
        where = f"{path} that also occur in the training data"
        told.append(f"Texts of {where}: {both:,}. Its scores will be inflated.")
    for sentence in told:
        print(f"⚠ {visible(sentence)}", file=sys.stderr)


def _look(config: Config, path: Path) -> _Seen:
    texts, labels, has_scores = set[str](), set[str](), False
    for example in _examples(config, path):
        texts.add(example.reference.text)
        labels.update(labels_in(example.reference))
        has_scores |= has_score(example.reference)
    return _Seen(texts, labels, has_scores)


def _examples(config: Config, path: Path) -> Iterator[Example]:
    """Read a file as `compare` does."""
    return read_examples(tokenizer_of(config), str(path), config)
