"""Fixtures of experiments."""

import traceback
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from spacy_spanft.experiments.matrix import train_run


@pytest.fixture
def in_this_process(monkeypatch):
    """Train in this process: another one takes seconds to import everything."""

    def train(arguments, stopped):
        log_path = Path(arguments["folder"]) / "log.txt"
        with open(log_path, "w") as log, redirect_stdout(log), redirect_stderr(log):
            try:
                train_run.train_run(**arguments)
            except BaseException:
                traceback.print_exc()
                return 1
        return 0

    monkeypatch.setattr(train_run, "train_in_process", train)
