"""What all commands share: options, and errors and warnings in one line."""

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
from typing import Annotated, Any, NoReturn

from typer import Option
from typer.core import TyperGroup

from ..errors import SpanftError, visible

# If set, errors are shown with their tracebacks.
TRACEBACK = "SPANFT_TRACEBACK"
_active: list[bool] = []  # not empty while a command runs


class OnBadBytes(Enum):
    """How to handle bytes that are not text."""

    strict = "strict"
    replace = "replace"


class Segmentation(str, Enum):
    """What a model pools or attends to."""

    spans = "spans"
    none = "none"


class EngineName(Enum):
    """Where a command computes."""

    local = "local"
    ray = "ray"


# fmt: off
Engine = Annotated[EngineName, Option(help="Compute on this machine, or on a Ray cluster")]  # noqa: E501
Address = Annotated[str | None, Option(help="The Ray cluster (HOST:PORT); default: start one here", show_default=False)]  # noqa: E501
# fmt: on


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
    if _active:  # a command inside another
        yield
        return
    _active.append(True)
    try:
        with _signals() as received, _short_warnings():
            yield from _checked(received)
    finally:
        _active.clear()


def _checked(received: list[int]) -> Iterator[None]:
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


def read_overrides(args: list[str]) -> dict[str, Any]:
    """Read settings of a config, as `spacy train` does.

    args (list[str]): Such as --training.dropout 0.2.
    RETURNS (dict[str, Any]): The settings, with dots.
    """
    from click import ClickException

    from ..util._compat import parse_overrides

    try:
        return parse_overrides(args)
    except ClickException as error:
        reason = error.format_message()
        raise SpanftError(f"This is not a setting of a config: {reason}") from error


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Raise KeyboardInterrupt for Ctrl-C and SIGTERM, unless the user handles them.

    YIELDS (list[int]): The signals that were received.
    """
    received: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        received.append(number)
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
    print(f"✘ {visible(message, keep=chr(10))}", file=sys.stderr)
    sys.exit(code)
