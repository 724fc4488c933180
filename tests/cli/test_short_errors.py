"""How our commands print errors, warnings and texts, and what stops them."""

import contextlib
import os
import signal
import threading
import warnings

import pytest
import spacy

from spacy_spanft import NgramDictionary, Provenance
from spacy_spanft.cli.texts import in_brackets, on_page
from spacy_spanft.cli.util import short_errors
from spacy_spanft.errors import SpanftError, visible
from spacy_spanft.segmenters.writing import write_spans

from ..commands import run, show_warning
from ..made_configs import CONFIGS


def stopped(number, raised):
    with short_errors():
        try:
            signal.raise_signal(number)
        except KeyboardInterrupt:
            raise raised from None


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("raised", [KeyboardInterrupt, ImportError])
def test_signals_stop_a_command(capsys, number, raised):
    """Also where a module that is being imported turns them into something else."""
    handlers = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: 0}
    before = {n: signal.signal(n, handler) for n, handler in handlers.items()}
    try:
        with pytest.raises(SystemExit) as end:
            stopped(number, raised)
        assert {n: signal.getsignal(n) for n in handlers} == handlers
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with short_errors():  # what the user has set otherwise stays
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        for n, handler in before.items():
            signal.signal(n, handler)
    assert end.value.code == 128 + number
    assert capsys.readouterr().err == "✘ Stopped.\n"


def test_the_network_is_not_the_output(capsys):
    with pytest.raises(SystemExit), short_errors():
        raise OSError("We couldn't connect to the hub.")
    assert capsys.readouterr().err == "✘ We couldn't connect to the hub.\n"


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
def test_warnings_are_one_line_and_printed_once(capsys, monkeypatch):
    monkeypatch.setattr(warnings, "showwarning", show_warning)
    python_format = warnings.formatwarning
    with short_errors():
        for _ in range(2):
            warnings.warn("Two\nlines.", stacklevel=1)
            warnings.warn("Two\nlines.", stacklevel=1)
    assert capsys.readouterr().err == "⚠ Two\\nlines.\n"
    assert warnings.formatwarning is python_format


def test_visible():
    assert visible("a\x1bb\x00\x7f\x9b\n") == r"a\x1bb\x00\x7f\x9b\n"
    assert visible("\ud800\u202e\u2028") == r"\ud800\u202e\u2028"
    assert visible("a\n\tb\r", keep="\n\t") == "a\n\tb\\r"
    fine = "übers 中文 🙂 \u200d e\u0301"
    assert visible(fine) == fine


@pytest.mark.parametrize("command", ["info", "top"])
def test_what_dictionaries_hold_is_shown_and_never_obeyed(tmp_path, command):
    file = tmp_path / "d\x1b[2J.tsv.gz"
    origin = Provenance(
        sources=("x\x1b]0;title\x07", "caf\udce9"), tokenizer="t\x9b", made_with="\0"
    )
    counts = {"a\x1b[31m b\x07": 3, "c \u202ed": 2}
    NgramDictionary(counts, provenance=origin).to_disk(file)
    printed = run("spanft", "dictionary", command, file).stdout
    assert r"a\x1b[31m b\x07" in printed
    assert all(c == "\n" or c.isprintable() for c in printed)
    file.write_bytes(b"junk")
    printed = run("spanft", "dictionary", command, file, ok=False).stderr
    assert r"d\x1b[2J.tsv.gz is not an n-gram dictionary" in printed
    assert "\x1b" not in printed


def test_texts_and_labels_are_shown_and_never_obeyed():
    doc = spacy.blank("en")("He \x1b[31m\n<b>lives\x07")
    label = "<img src=x onerror=alert(1)>"
    write_spans(doc, [(0, 2, label)], key="ngrams", writer="me")
    printed = in_brackets(doc)
    assert r"\x1b[" in printed
    assert r"\x07" in printed
    assert all(c == "\n" or c.isprintable() for c in printed)
    page = on_page([doc])
    assert "&lt;img src=x" in page
    assert "<img" not in page
    assert "<b>" not in page


def test_a_misspelled_setting_is_refused():
    """`spacy train` ignores it, and trains with another number."""
    config = CONFIGS / "textcat_baseline.cfg"
    done = run("spanft", "train", config, "--training.max_epoch", 3, ok=False)
    assert "not a known setting. Is 'max_epochs' meant?" in done.stderr
    done = run("spanft", "train", config, "--max_epochs", 3, ok=False)
    assert "not a setting of a config: No such option" in done.stderr
