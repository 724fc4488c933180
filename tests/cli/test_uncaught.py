"""What spaCy's own commands do not catch, and what stops ours."""

import contextlib
import os
import re
import signal
import sys
import threading
import warnings
import zlib

import pytest
import spacy
import thinc.util
from confection import Config
from spacy.cli import _util
from spacy.cli.train import train
from spacy.tokens import DocBin
from spacy.training import Corpus, Example
from spacy.util import registry
from thinc.api import require_gpu

from spacy_spanft.cli import uncaught
from spacy_spanft.cli.util import short_errors
from spacy_spanft.errors import ReaderError
from spacy_spanft.errors.codes import CODES
from spacy_spanft.training.checks.labels import warn_no_labels

from .. import interpreter
from ..tiny import save_bert, transformer_config


@pytest.fixture
def hook(monkeypatch):
    """The hook of a command of spaCy, and what the one before was called with."""
    called = []
    monkeypatch.setattr(sys, "excepthook", lambda *args: called.append(args))
    monkeypatch.setattr(warnings, "showwarning", lambda *args: called.append(args))
    monkeypatch.setattr(_util.registry.cli, "get_all", uncaught.watch_command)
    monkeypatch.setattr(_util, "get_command", lambda app: lambda prog_name: None)
    _util.setup_cli()
    return sys.excepthook, called


def caught(function):
    """What sys.excepthook would be called with."""
    try:
        function()
    except BaseException:
        return sys.exc_info()
    raise AssertionError("It raised nothing.")


def mendable():
    raise ReaderError("Row 3 of 'a.tsv' has no label.")


def interrupted():
    raise KeyboardInterrupt


def test_what_the_user_can_mend_is_one_line(hook, capsys):
    ours, previous = hook
    ours(*caught(mendable))
    assert capsys.readouterr().err == "✘ Row 3 of 'a.tsv' has no label.\n"
    ours(*caught(interrupted))
    assert capsys.readouterr().err.startswith("✘ Stopped")
    assert not previous


def test_all_else_goes_to_the_hook_before(hook, monkeypatch):
    ours, previous = hook
    for error in (caught(lambda: 1 / 0), caught(lambda: os.stat("nowhere"))):
        ours(*error)
        assert previous.pop() == error
    monkeypatch.setenv("SPANFT_TRACEBACK", "1")
    ours(*caught(mendable))
    assert previous.pop()[0] is ReaderError


def test_only_the_command_line_has_our_hook(monkeypatch):
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    uncaught.watch_command()
    assert sys.excepthook is sys.__excepthook__


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda path: "no/such/encoder", "Name a folder with a config.json, or a mod"),
        (str, "It needs a config.json, weights and a tokenizer"),
    ],
)
def test_encoders_that_cannot_be_loaded(hook, tmp_path, capsys, make, expected):
    loader = pytest.importorskip("spacy_transformers.layers.transformer_model")
    huggingface_from_pretrained = loader.huggingface_from_pretrained
    name = make(tmp_path)
    ours, previous = hook
    ours(*caught(lambda: huggingface_from_pretrained(name, {}, {})))
    said = capsys.readouterr().err
    assert all(part in said for part in (repr(name), expected, "--paths.transformer"))
    assert said.count("\n") == 1
    assert not previous


def test_a_docbin_that_cannot_be_read_is_named(hook, tmp_path, capsys):
    """Whoever reads it: here spaCy's own corpus, of a folder of which one is broken."""
    nlp = spacy.blank("en")
    DocBin(docs=[nlp("a")]).to_disk(tmp_path / "a.spacy")
    ours, _ = hook
    for data in (b"text", DocBin().to_bytes()[:-4], zlib.compress(b"text")):
        (tmp_path / "b.spacy").write_bytes(data)
        ours(*caught(lambda: list(Corpus(tmp_path)(nlp))))
        said = capsys.readouterr().err
        assert f"'{tmp_path / 'b.spacy'}' cannot be read as spaCy's binary" in said
        assert said.count("\n") == 1
    (tmp_path / "b.spacy").unlink()
    ours(*caught(lambda: list(Corpus(tmp_path / "b.spacy")(nlp))))
    assert "binary" not in capsys.readouterr().err


def one_label():
    nlp = spacy.blank("en")
    textcat = nlp.add_pipe("textcat")
    doc = nlp.make_doc("a")
    doc.cats = {"A": 1.0}
    textcat.initialize(lambda: [Example(nlp.make_doc("a"), doc)], nlp=nlp)


def one_of_spacys_numbers():
    spacy.blank("en").add_pipe("nonsense")


def key_error_of_spacy():
    raise KeyError("[E900] Could not run the full pipeline.")


def unknown_architecture():
    registry.get("architectures", "nonsense.v1")


def unknown_function():
    registry.resolve({"x": {"@optimizers": "nonsense.v1"}})


def section_that_comes_twice():
    Config().from_str("[nlp]\na = 1\n\n[nlp]\na = 2\n")


def missing_cupy():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thinc.util, "has_cupy", False)
        patch.setattr(thinc.util.platform, "system", lambda: "Linux")
        require_gpu(0)


@pytest.mark.parametrize(
    ("mistake", "expected"),
    [
        (one_label, r"'textcat' chooses between two labels .* or none: 'A'\. "),
        (one_of_spacys_numbers, r"\[E002\] Can't find factory for 'nonsense'"),
        (key_error_of_spacy, r"\[E900\] Could not run"),
        (unknown_architecture, r"\[E893\] Could not find function 'nonsense.v1'"),
        (unknown_function, r".*nonsense\.v1"),
        (section_that_comes_twice, r"The config cannot be read: .*'nlp' already"),
        (missing_cupy, r"GPU 0 was asked for, .* CuPy is not installed"),
    ],
)
def test_what_spacy_and_others_say_is_shortened(hook, capsys, mistake, expected):
    ours, previous = hook
    ours(*caught(mistake))
    said = capsys.readouterr().err
    assert re.match(rf"✘ (\[SF\d+\] )?{expected}", said)
    assert said.count("\n") == 1
    assert len(said) < 500
    assert not previous


def test_an_output_that_is_a_file(hook, tmp_path, capsys):
    ours, previous = hook
    (tmp_path / "file").touch()
    output = tmp_path / "file" / "output"
    ours(*caught(lambda: train(__file__, output)))
    assert (
        capsys.readouterr().err
        == f"✘ [{CODES['UNUSABLE_PATH']}] {output}: Not a directory.\n"
    )
    assert not previous


def test_warnings_of_ours_are_one_line(hook, capsys, monkeypatch):
    nlp = spacy.blank("en")
    nlp.add_pipe("ner", name="names")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warn_no_labels(nlp)
        said = capsys.readouterr().err
        assert said.startswith("⚠ 'names' learns nothing: ")
        assert said.count("\n") == 1
        _, previous = hook
        assert not previous
        warnings.warn("of somebody else", stacklevel=1)
        assert str(previous.pop()[0]) == "of somebody else"
        monkeypatch.setenv("SPANFT_TRACEBACK", "1")
        warn_no_labels(nlp)
        assert len(previous) == 1


COMMAND = """
import sys
from spacy.cli._util import app, setup_cli

@app.command("fail")
def fail():
    from spacy_spanft.errors import ReaderError
    raise ReaderError("Row 3 has no label.")

sys.argv = ["spacy", "fail"]
setup_cli()
"""


def test_a_command_of_spacy():
    """The whole way: the plug-in is found, the hook is set, the error is short."""
    done = interpreter.run("-c", COMMAND)
    assert done.returncode == 1
    assert done.stderr == "✘ Row 3 has no label.\n"


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
            raise ReaderError("Row 3.")

    thread = threading.Thread(target=command)
    thread.start()
    thread.join()
    assert capsys.readouterr().err == "✘ Row 3.\n"


def test_tracebacks_for_who_wants_them(monkeypatch):
    monkeypatch.setenv("SPANFT_TRACEBACK", "1")
    with pytest.raises(ReaderError, match="no label"), short_errors():
        mendable()


def test_a_text_that_is_longer_than_the_encoder(hook, capsys, tmp_path):
    ours, _ = hook
    config = transformer_config(save_bert(tmp_path / "bert"))["model"]
    config["tokenizer_config"] = {"use_fast": True, "model_max_length": 200}
    nlp = spacy.blank("en")
    transformer = nlp.add_pipe("transformer", config={"model": config})
    transformer.model.initialize()
    text = "new york " * 60
    ours(*caught(lambda: nlp(text)))
    assert re.fullmatch(
        r"✘ \[SF\d+\] A text has 1\d\d wordpieces, and the encoder has 64 positions\. "
        r"Set .*\n",
        capsys.readouterr().err,
    )
    with pytest.raises(SystemExit), short_errors():
        nlp(text)
    assert '"model_max_length": 64}' in capsys.readouterr().err
