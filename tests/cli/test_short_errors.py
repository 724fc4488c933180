"""How our commands print errors, warnings and texts, and what stops them."""

import contextlib
import os
import signal
import threading
import warnings

import pytest
import spacy

from spacy_spanft import NgramDictionary, Provenance
from spacy_spanft.cli.segment import to_html, to_terminal
from spacy_spanft.cli.util import short_errors
from spacy_spanft.errors import SpanftError, visible
from spacy_spanft.segmenters.writing import write_spans

from ..commands import run


def stopped(number, raised):
    """Raise what a command raises that is stopped by a signal."""
    with short_errors():
        try:
            signal.raise_signal(number)
        except KeyboardInterrupt:
            raise raised from None


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.parametrize("raised", [KeyboardInterrupt, ImportError])
def test_signals_stop_a_command(capsys, number, code, raised):
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
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        # What the user has set otherwise stays.
        with short_errors():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err == "✘ Stopped. No file is half written.\n"


def test_errors_of_other_threads_and_tracebacks_on_request(capsys, monkeypatch):
    """In other threads no handler can be set."""

    def command():
        with contextlib.suppress(SystemExit), short_errors():
            raise SpanftError("Row 3.")

    thread = threading.Thread(target=command)
    thread.start()
    thread.join()
    assert capsys.readouterr().err == "✘ Row 3.\n"
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


def test_visible():
    assert visible("a\x1bb\x00\x7f\x9b\n") == r"a\x1bb\x00\x7f\x9b\n"
    assert visible("\ud800\u202e\u2028") == r"\ud800\u202e\u2028"
    assert visible("a\n\tb\r", keep="\n\t") == "a\n\tb\\r"
    fine = "übers 中文 🙂 \u200d e\u0301"
    assert visible(fine) == fine


@pytest.mark.parametrize("command", ["info", "top", "diff", "diff of others"])
def test_what_dictionaries_say_is_shown_and_never_obeyed(tmp_path, command):
    file, other = tmp_path / "d\x1b[2J.tsv.gz", tmp_path / "other.tsv.gz"
    origin = Provenance(
        sources=("x\x1b]0;title\x07", "caf\udce9"), tokenizer="t\x9b", made_with="\0"
    )
    counts = {"a\x1b[31m b\x07": 3, "c \u202ed": 2}
    NgramDictionary(counts, provenance=origin).to_disk(file)
    NgramDictionary({"e f": 1}).to_disk(other)
    args = {"diff": [file, other], "diff of others": [other, file]}.get(command, [file])
    printed = run("spanft", "dictionary", command.split()[0], *args).stdout
    assert r"a\x1b[31m b\x07" in printed
    assert all(c == "\n" or c.isprintable() for c in printed)
    file.write_bytes(b"junk")
    printed = run("spanft", "dictionary", "info", file, ok=False).stderr
    assert r"d\x1b[2J.tsv.gz is not an n-gram dictionary" in printed
    assert "\x1b" not in printed


def test_texts_and_labels_are_shown_and_never_obeyed():
    doc = spacy.blank("en")("He \x1b[31m\n<b>lives\x07")
    label = "<img src=x onerror=alert(1)>"
    write_spans(doc, [(0, 2, label)], key="ngrams", writer="me")
    printed = to_terminal(doc, "ngrams")
    assert r"\x1b[" in printed
    assert r"\x07" in printed
    assert all(c == "\n" or c.isprintable() for c in printed)
    page = to_html([doc], "ngrams")
    assert "&lt;img src=x" in page
    assert "<img" not in page
    assert "<b>" not in page
