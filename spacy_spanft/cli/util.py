"""What all commands share."""

import inspect
import logging
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from types import FrameType
from typing import Any

from ..errors import Errors, SpanftError
from ..errors.visible import LAYOUT, visible

# If set, errors are shown with their tracebacks.
TRACEBACK = "SPANFT_TRACEBACK"


class OnBadBytes(Enum):
    """What to do about bytes that are not text."""

    strict = "strict"
    replace = "replace"


class Segmentation(str, Enum):
    """What a model looks at."""

    spans = "spans"
    none = "none"


@contextmanager
def short_errors() -> Iterator[None]:
    """Print what the user can fix as one message, without a traceback.

    SIGTERM, which is what batch systems and `kill` send, ends a command like Ctrl-C:
    in order, and with one line. Warnings have one line each as well.
    """
    with _signals() as heard, _short_warnings():
        try:
            yield
            sys.stdout.flush()
        except BaseException as error:
            wants_traceback = os.environ.get(TRACEBACK, "0") not in ("", "0")
            if wants_traceback and isinstance(error, Exception):
                raise
            if heard:
                # Who is interrupted while importing may raise whatever they like.
                _fail(Errors.STOPPED, code=128 + heard[0])
            _explain(error)
            raise


def read_overrides(args: list[str]) -> dict[str, Any]:
    """Read settings for configs, as `spacy train` does.

    args (list[str]): Such as --training.dropout 0.2.
    RETURNS (dict[str, Any]): The settings, with dots.
    """
    from click import ClickException

    from ..util._compat import parse_overrides

    try:
        found: dict[str, Any] = parse_overrides(args)
    except ClickException as error:
        reason = error.format_message()
        raise SpanftError(Errors.BAD_OVERRIDES.format(reason=reason)) from error
    return found


def _explain(error: BaseException) -> None:
    """Print an error and exit, if the user can do something about it."""
    if isinstance(error, SpanftError):
        _fail(str(error))
    if isinstance(error, KeyboardInterrupt):
        _fail(Errors.STOPPED, code=130)
    if isinstance(error, BrokenPipeError):
        # Whoever read our output, `head` perhaps, has had enough.
        _to_nowhere()
        sys.exit(1)
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        if error.filename is None:  # only the standard output has no name
            _to_nowhere()
            _fail(Errors.BAD_OUTPUT.format(reason=reason))
        _fail(Errors.BAD_FILE.format(path=error.filename, reason=reason))


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Note down Ctrl-C and SIGTERM, and raise KeyboardInterrupt for both.

    What the user has set otherwise (nohup, or & in a script, ignore Ctrl-C) stays.

    YIELDS (list[int]): The signals that came.
    """
    heard: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        heard.append(number)
        raise KeyboardInterrupt

    defaults = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
    }
    before = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number, default in defaults.items():
                if signal.getsignal(number) is default:
                    before[number] = signal.signal(number, stop)
        yield heard
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _short_warnings() -> Iterator[None]:
    """Print each of our warnings as one message, once, without its line of code."""
    python_format = warnings.formatwarning

    def short(message: Any, category: type[Warning], *args: Any, **more: Any) -> str:
        if category is UserWarning:
            return f"⚠ {visible(str(message))}"
        return python_format(message, category, *args, **more)

    printed: set[str] = set()

    def is_new(record: logging.LogRecord) -> bool:
        message = record.getMessage()
        n_printed = len(printed)
        printed.add(message)
        return len(printed) > n_printed

    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(is_new)
    logger = logging.getLogger("py.warnings")
    with warnings.catch_warnings():
        # Data may be read several times; Python itself forgets what it has printed.
        warnings.simplefilter("always", UserWarning, append=True)
        logging.captureWarnings(True)
        logger.addHandler(handler)
        warnings.formatwarning = short
        try:
            yield
        finally:
            warnings.formatwarning = python_format
            logger.removeHandler(handler)
            logging.captureWarnings(False)


def with_parameters(
    command: Callable[..., None], more: Iterable[inspect.Parameter]
) -> Callable[..., None]:
    """Give a command more parameters for typer to see, in the place of **others.

    more (Iterable[Parameter]): The parameters. Those that it has already are kept.
    RETURNS (Callable): The command.
    """
    signature = inspect.signature(command)
    own = {
        name: one.replace(kind=one.KEYWORD_ONLY)
        for name, one in signature.parameters.items()
        if one.kind != one.VAR_KEYWORD
    }
    for one in more:
        own.setdefault(one.name, one.replace(kind=one.KEYWORD_ONLY))
    parameters = list(own.values())
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def _to_nowhere() -> None:
    """Keep Python from complaining once more when it closes the standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int = 1) -> None:
    # On the error stream: the standard output is for the answer alone.
    print(f"✘ {visible(message, keep=LAYOUT)}", file=sys.stderr)
    sys.exit(code)
