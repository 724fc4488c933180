"""What all commands share."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import Errors, SpanftError


@contextmanager
def short_errors() -> Iterator[None]:
    """Print what the user can mend as one message, without a traceback."""
    try:
        yield
        sys.stdout.flush()
    except SpanftError as error:
        _fail(str(error))
    except BrokenPipeError:
        # Whoever read our output, `head` perhaps, has had enough. Python would
        # complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        if error.filename is None:
            raise
        reason = error.strerror or str(error)
        _fail(Errors.BAD_FILE.format(path=error.filename, reason=reason))
    except KeyboardInterrupt:
        _fail("Stopped. Nothing was written.", code=130)


def _fail(message: str, code: int = 1) -> None:
    # On the error stream: the standard output is for the answer alone.
    print(f"✘ {message}", file=sys.stderr)
    sys.exit(code)
