"""What commands share: errors and warnings in one line, and settings of a config."""

import errno
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from typer.core import TyperGroup

from ..errors import SpanftError, report, reported, visible

# If set, errors are shown with their tracebacks.
TRACEBACK = "SPANFT_TRACEBACK"
_COLUMN = 10  # of the longest name, "experiment" or "dictionary"
_DEFAULTS: dict[signal.Signals, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
}


class CommandGroup(TyperGroup):
    """Commands in panels, whose errors are printed in one line."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands of each panel; spaCy's help is plain, without Rich."""
        panels: dict[str, list[tuple[str, str]]] = {}
        limit = formatter.width - _COLUMN - 4
        for name, command in self.commands.items():
            panel = str(command.rich_help_panel)  # type: ignore[attr-defined]
            about = command.get_short_help_str(limit)
            panels.setdefault(panel, []).append((f"{name:{_COLUMN}}", about))
        for panel in sorted(panels, key="More".__eq__):  # which is last
            with formatter.section(panel):
                formatter.write_dl(panels[panel])

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with short_errors():
            return super().invoke(ctx)


@contextmanager
def short_errors() -> Iterator[None]:
    """Print errors that the user can fix, warnings and a stop in one line each."""
    if not sys.stdout.isatty() and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")  # of a file, as those that we read
    with _signals() as received, _short_warnings():
        try:
            yield
            sys.stdout.flush()
        except BaseException as error:
            if os.environ.get(TRACEBACK) and isinstance(error, Exception):
                raise
            if received or isinstance(error, KeyboardInterrupt):
                # An import that is interrupted may raise anything.
                code = 128 + (received or [signal.SIGINT])[0]
                _fail("Stopped.", code)
            if isinstance(error, SpanftError):
                _fail(str(error))
            if isinstance(error, OSError) and error.errno != errno.EPIPE:
                _fail_for_file(error)
            raise  # to click, which ends where the reader of the output has ended


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Raise KeyboardInterrupt for Ctrl-C and for SIGTERM, which batch systems send.

    A signal that the user handles, or ignores as `nohup` does, stays as it is.
    """
    received: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        received.append(number)
        raise KeyboardInterrupt

    is_main = threading.current_thread() is threading.main_thread()
    numbers = [n for n, x in _DEFAULTS.items() if is_main and signal.getsignal(n) is x]
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
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

    warnings.formatwarning = short
    try:
        yield
    finally:
        warnings.formatwarning = python_format


def _fail_for_file(error: OSError) -> NoReturn:
    if error.filename is not None:
        reason = error.strerror or error
        _fail(f"{error.filename}: {reason}. If it existed before, it is unchanged.")
    if error.errno == errno.ENOSPC:  # of the output, which Python would flush again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _fail(f"The output cannot be written: {error.strerror}.")
    _fail(str(error))  # what Hugging Face raises without the network


def _fail(message: str, code: int = 1) -> NoReturn:
    report(f"✘ {message}")
    sys.exit(code)


def given(**options: str | None) -> dict[str, str]:
    """Return the options that the user named."""
    return {name: value for name, value in options.items() if value is not None}


def report_guess(columns: Mapping[str, str], typed: Mapping[str, str]) -> None:
    """Print the columns that are read, if any of them is a guess."""
    from ..util.columns import guess_of

    if guess := guess_of(columns, typed):
        report(f"ℹ {guess}")


def report_texts(
    paths: Sequence[str | Path], column: str | None, quiet: bool = False, **how: Any
) -> None:
    """Check the column of texts that is read of tables, and print a guess."""
    from ..util.columns import find_columns
    from ..util.tables import format_of

    tables = [path for path in paths if format_of(path)]
    if column is not None and paths and not tables:
        raise SpanftError(f"--column is {column!r}, but {paths[0]} is no table.")
    typed = given(text=column)
    for path in tables:
        columns = find_columns(path, typed, option="column", **how)
        if not quiet:
            report_guess(columns, typed)


def read_overrides(args: list[str]) -> dict[str, Any]:
    """Read settings of a config, such as --training.dropout 0.2, as `spacy train`."""
    from click import ClickException

    from ..util._compat import spacy_cli

    with reported("This is not a setting of a config", ClickException):
        return dict(spacy_cli().parse_config_overrides(args))
