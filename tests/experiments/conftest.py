"""Fixtures of experiments."""

import functools
import traceback
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
import spacy

from spacy_spanft.experiments import comparison, running
from spacy_spanft.util import pipelines


@pytest.fixture
def in_this_process(monkeypatch):
    """Train in this process: another one takes seconds to import everything."""

    def train(arguments, stopped):
        log_path = Path(arguments["folder"]) / "log.txt"
        with open(log_path, "w") as log, redirect_stdout(log), redirect_stderr(log):
            try:
                running.train_run(**arguments)
            except BaseException:
                traceback.print_exc()
                return 1
        return 0

    monkeypatch.setattr(running, "train_in_process", train)


@pytest.fixture
def at_once(monkeypatch):
    """Measure in this process: another one takes seconds to begin."""
    monkeypatch.setattr(
        comparison, "run_in_subprocess", lambda function, *args: function(*args)
    )


@pytest.fixture
def loaded_once(monkeypatch):
    """Load each pipeline once: that takes longer than whatever is tested."""
    monkeypatch.setattr(pipelines, "load_model", load)


load = functools.cache(lambda path: spacy.load(str(path)))
