"""What all commands share."""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

from ..errors import Errors, SpanftError


class OnBadBytes(Enum):
    """What to do about bytes that are no text."""

    strict = "strict"
    replace = "replace"


@contextmanager
def short_errors() -> Iterator[None]:
    """Print what the user can mend as one message, without a traceback."""
    try:
        yield
        sys.stdout.flush()
    except SpanftError as error:
        _fail(str(error))
    except BrokenPipeError:
        # Whoever read our output, `head` perhaps, has had enough.
        _to_nowhere()
        sys.exit(1)
    except OSError as error:
        reason = error.strerror or str(error)
        if error.filename is None:  # only the standard output has no name
            _to_nowhere()
            _fail(Errors.BAD_OUTPUT.format(reason=reason))
        _fail(Errors.BAD_FILE.format(path=error.filename, reason=reason))
    except KeyboardInterrupt:
        _fail(Errors.STOPPED, code=130)


@contextmanager
def short_warnings() -> Iterator[None]:
    """Print warnings as one message each, without the line of code they come from."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: print(
            f"⚠ {message}", file=sys.stderr
        )
        yield


def check_folder(path: Path | None) -> None:
    """Raise before anything is computed if it cannot be written to a folder.

    path (Optional[Path]): The folder.
    """
    if path is not None and path.exists() and not path.is_dir():
        raise SpanftError(Errors.OUTPUT_IS_FILE.format(path=str(path)))


def _to_nowhere() -> None:
    """Keep Python from complaining once more when it closes the standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int = 1) -> None:
    # On the error stream: the standard output is for the answer alone.
    print(f"✘ {message}", file=sys.stderr)
    sys.exit(code)
