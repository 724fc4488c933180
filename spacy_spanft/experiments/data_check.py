"""Whether arms can be compared on the test data, before hours of training."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from confection import Config
from spacy.training import Example

from ..configs import tokenizer_of
from ..configs.adding import interpolated
from ..errors import ComparisonError, Errors
from ..errors.shortening import listed
from ..errors.visible import visible
from ..training.gold import has_score, labels_in
from .comparison.predicting import read_examples
from .matrix import Run
from .matrix.data import Data


def check_test_data(data: Data, runs: Sequence[Run]) -> None:
    """Raise for test data that the pipelines could not be compared on; warn of labels.

    data (Data): The data of a task.
    runs (Sequence[Run]): The runs of all tasks.
    """
    if not data.tests:
        raise ComparisonError(Errors.NO_TEST_DATA.format(folder=data.folder))
    name = data.folder.resolve().name
    configs = [interpolated(run.config) for run in runs if run.task == name]
    # Most arms read their data alike.
    for config in {repr(one["corpora"]["dev"]): one for one in configs}.values():
        known = _labels(config, data.files["train"])
        for path in data.tests:
            _check_labels(path, _labels(config, path), known)


def _check_labels(path: Path, there: set[str] | None, known: set[str] | None) -> None:
    """Raise for test data that have nothing to be scored, or nothing known."""
    if there is None or known is None:  # scores have no labels
        return
    names = {"path": str(path), "known": listed(sorted(known))}
    if not there:
        raise ComparisonError(Errors.NO_GOLD_LABELS.format(**names))
    new = sorted(there - known)
    if len(new) == len(there):
        text = Errors.OTHER_TEST_LABELS.format(**names, there=listed(new))
        raise ComparisonError(text)
    if new:
        where = f"Labels of {path} that are not in the training data"
        print(f"⚠ {visible(f'{where}: {listed(new)}.')}", file=sys.stderr)


def _labels(config: Config, path: Path) -> set[str] | None:
    """Find the labels in a file; None if the texts have scores in their place."""
    found: set[str] = set()
    for example in _examples(config, path):
        if has_score(example.reference):
            return None
        found.update(labels_in(example.reference))
    return found


def _examples(config: Config, path: Path) -> Iterator[Example]:
    """Read a file as `compare` does."""
    return read_examples(tokenizer_of(config), str(path), config)
