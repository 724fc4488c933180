"""How our commands print errors and warnings, and what stops them."""

import contextlib
import os
import signal
import threading
import warnings

import pytest

from spacy_spanft.cli.util import short_errors
from spacy_spanft.errors import SpanftError


def stopped(number, raised):
    """A command that is stopped, and raises whatever it likes."""
    with short_errors():
        try:
            signal.raise_signal(number)
        except KeyboardInterrupt:
            raise raised from None


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.parametrize("raised", [KeyboardInterrupt, ImportError])
def test_signals_stop_a_command(monkeypatch, capsys, number, code, raised):
    """Also where a module that is being imported turns them into something else."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    defaults = [signal.default_int_handler, signal.SIG_DFL]
    before = list(map(signal.signal, numbers, defaults))
    try:
        with pytest.raises(SystemExit) as end:
            stopped(getattr(signal, number), raised)
        assert list(map(signal.getsignal, numbers)) == defaults
    finally:
        list(map(signal.signal, numbers, before))
    assert end.value.code == code
    assert capsys.readouterr().err == "✘ Stopped. No file is half written.\n"


def test_signals_that_the_user_has_set_otherwise_stay():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with short_errors():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_commands_run_in_other_threads(capsys):
    """Where no handler can be set."""

    def command():
        with contextlib.suppress(SystemExit), short_errors():
            raise SpanftError("Row 3.")

    thread = threading.Thread(target=command)
    thread.start()
    thread.join()
    assert capsys.readouterr().err == "✘ Row 3.\n"


def test_tracebacks_for_who_wants_them(monkeypatch):
    monkeypatch.setenv("SPANFT_TRACEBACK", "1")
    with pytest.raises(SpanftError, match="no label"), short_errors():
        raise SpanftError("Row 3 has no label.")


@pytest.mark.filterwarnings("default:Two")
def test_warnings_are_one_line_and_printed_once(capsys):
    python_format = warnings.formatwarning
    with short_errors():
        for _ in range(2):
            warnings.warn("Two\nlines.", stacklevel=1)
    printed = capsys.readouterr().err
    assert printed.startswith("⚠ Two")
    assert printed.count("\n") == 1
    assert warnings.formatwarning is python_format
    with pytest.warns(UserWarning, match="later"):
        warnings.warn("later", stacklevel=1)
    assert not capsys.readouterr().err
