"""spaCy's command line in this process: another one takes seconds to start."""

import os
import sys
import warnings
from types import SimpleNamespace

from spacy.cli._util import app
from spacy.util import registry
from typer.testing import CliRunner


def run(*args, cwd=".", ok=True, stdin=None):
    """Run `python -m spacy ARGS`, and return its stdout and stderr."""
    registry.cli.get_all()  # which registers our own commands
    before = os.getcwd()
    os.chdir(cwd)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = show_warning
            done = CliRunner().invoke(app, [str(arg) for arg in args], input=stdin)
    finally:
        os.chdir(before)
    assert (done.exit_code == 0) == ok, f"{args}\n{done.output}\n{done.exception!r}"
    return SimpleNamespace(stdout=done.stdout, stderr=done.stderr)


def show_warning(message, category, filename, lineno, file=None, line=None):
    """Print a warning, as Python does where pytest does not collect them."""
    sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))
