"""What commands share: one-line errors, texts to read, and settings of a config."""

import logging
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from typer.core import TyperGroup

from ..errors import SpanftError, visible
from .options import OnBadBytes

if TYPE_CHECKING:
    from spacy.language import Language

# If set, errors are shown with their tracebacks.
TRACEBACK = "SPANFT_TRACEBACK"
_NO_TEXTS = "There is no text. Give it as arguments, with --file, or on standard input."
_DEFAULTS = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
}


class CommandGroup(TyperGroup):
    """Commands whose errors are printed in one line."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with short_errors():
            return super().invoke(ctx)


@contextmanager
def short_errors() -> Iterator[None]:
    """Print errors that the user can fix, and warnings, in one line each.

    SIGTERM, which batch systems and `kill` send, ends a command like Ctrl-C: in order,
    and with one line.
    """
    with _signals() as received, _short_warnings():
        try:
            yield
            sys.stdout.flush()
        except BaseException as error:
            wants_traceback = os.environ.get(TRACEBACK, "0") not in ("", "0")
            if wants_traceback and isinstance(error, Exception):
                raise
            if received or isinstance(error, KeyboardInterrupt):
                # An import that is interrupted may raise anything.
                code = 128 + (received or [signal.SIGINT])[0]
                _fail("Stopped. No file is half written.", code)
            if isinstance(error, SpanftError):
                _fail(str(error))
            if isinstance(error, OSError):
                _fail_for_file(error)
            raise


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Raise KeyboardInterrupt for Ctrl-C and SIGTERM, unless the user handles them.

    YIELDS (list[int]): The signals that were received.
    """
    received: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        received.append(number)
        raise KeyboardInterrupt

    before: dict[signal.Signals, Any] = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number, default in _DEFAULTS.items():
                if signal.getsignal(number) is default:
                    before[number] = signal.signal(number, stop)
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _short_warnings() -> Iterator[None]:
    """Print each warning once, without the line of code that it comes from."""
    python_format = warnings.formatwarning
    printed: set[str] = set()

    def short(message: Any, category: type[Warning], *args: Any, **more: Any) -> str:
        if category is not UserWarning:
            return python_format(message, category, *args, **more)
        line = f"⚠ {visible(str(message))}\n"
        is_new = line not in printed
        printed.add(line)
        return line if is_new else ""

    handler = logging.StreamHandler(sys.stderr)
    handler.terminator = ""
    logger = logging.getLogger("py.warnings")
    logger.addHandler(handler)
    logging.captureWarnings(True)
    warnings.formatwarning = short
    try:
        yield
    finally:
        warnings.formatwarning = python_format
        logging.captureWarnings(False)
        logger.removeHandler(handler)


def _fail_for_file(error: OSError) -> NoReturn:
    if error.filename is None:  # the standard output
        # Python would complain again when it closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # its reader, such as `head`, has ended
            sys.exit(1)
        _fail(f"The output cannot be written: {error.strerror}.")
    reason = error.strerror or error
    _fail(f"{error.filename}: {reason}. If it existed before, it is unchanged.")


def _fail(message: str, code: int = 1) -> NoReturn:
    report(f"✘ {message}")
    sys.exit(code)


def report(message: str) -> None:
    """Print a message to the standard error, without characters that move the cursor.

    message (str): The message, which may have several lines.
    """
    print(visible(message, keep="\n"), file=sys.stderr)


def read_overrides(args: list[str]) -> dict[str, Any]:
    """Read settings of a config, such as --training.dropout 0.2, as `spacy train`."""
    from click import ClickException

    from ..util._compat import parse_overrides

    try:
        return parse_overrides(args)
    except ClickException as error:
        reason = error.format_message()
        raise SpanftError(f"This is not a setting of a config: {reason}") from error


def read_texts(
    texts: list[str] | None, file: str | None, errors: OnBadBytes
) -> Iterator[str]:
    """Read texts, one per line where they are in a file.

    texts (Optional[list[str]]): Texts from the command line.
    file (Optional[str]): A file in their place; without either, the standard input.
    errors (str): "strict" raises for bytes that are not text, "replace" replaces them.
    RETURNS (Iterator[str]): The texts, of which there is at least one.
    """
    from ..training.readers.rows import FORMATS

    if texts and file:
        raise SpanftError("Pass texts or --file, not both.")
    if texts:
        return iter(texts)
    if file is None and sys.stdin.isatty():
        raise SpanftError(_NO_TEXTS)
    if file is not None and FORMATS.keys() & {*PurePath(file.lower()).suffixes}:
        raise SpanftError(
            f"{file!r} is a table, but --file takes one text per line. Write its "
            "column of texts to a text file."
        )
    return _lines(file, errors)


def _lines(file: str | None, errors: OnBadBytes) -> Iterator[str]:
    from ..training.readers.rows import lines_of

    is_empty = True
    for line in lines_of(file or "-", errors):
        if line.strip():
            is_empty = False
            yield line.rstrip("\r\n")
    if is_empty:
        where = f"There is no text in {file!r}: it is empty, or all white space."
        raise SpanftError(where if file else _NO_TEXTS)


def short_enough(nlp: "Language", texts: Iterable[str]) -> Iterator[str]:
    """Pass texts on, and raise for one that is longer than the pipeline takes."""
    from ..training.readers.rows import check_length

    for number, text in enumerate(texts, 1):
        check_length(nlp, text, f"Text {number:,}")
        yield text
