"""What spaCy's commands do not catch, said in one line where the user can mend it.

`spacy train` reads data and builds models through us, but knows nothing of our
errors: they would end in a traceback of thirty frames.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import shorten
from types import CodeType, FrameType, TracebackType

from ..errors import Errors, SpanftError
from ..errors.visible import LAYOUT, visible

# Shows every error with its traceback, for whoever looks for its cause.
TRACEBACK = "SPANFT_TRACEBACK"
_LONGEST = 300
# Whatever loads an encoder goes through this function of spacy-transformers.
_LOADER = ("spacy_transformers.layers.transformer_model", "huggingface_from_pretrained")


def watch_command() -> None:
    """Take over errors that nobody catches, if spaCy's command line is running.

    It imports us while it sets itself up; whoever else imports us keeps their hook.
    """
    from spacy.cli._util import setup_cli

    if _is_called(setup_cli.__code__) and sys.excepthook is not _hook:
        global _previous
        _previous = sys.excepthook
        sys.excepthook = _hook


def wants_traceback() -> bool:
    """Say whether the user wants to see errors whole.

    RETURNS (bool): Whether SPANFT_TRACEBACK is set, and not to 0.
    """
    return os.environ.get(TRACEBACK, "0") not in ("", "0")


def message_of(error: BaseException, trace: TracebackType | None) -> str | None:
    """Say in one line what the user can do about an error.

    error (BaseException): The error.
    trace (Optional[TracebackType]): Where it was raised.
    RETURNS (Optional[str]): The message; None if the traceback says it better.
    """
    if isinstance(error, KeyboardInterrupt):
        return Errors.STOPPED
    if isinstance(error, SpanftError):
        return str(error)
    if isinstance(error, OSError | ValueError):
        for frame in _frames(trace):
            place = (frame.f_globals.get("__name__"), frame.f_code.co_name)
            if place == _LOADER:
                return _no_encoder(str(frame.f_locals.get("source")), error)
    return None


def _no_encoder(name: str, error: BaseException) -> str:
    # A path was made absolute: what stands in the config is not known any more.
    reason = shorten(str(error), _LONGEST)
    message = Errors.NOT_AN_ENCODER if Path(name).is_dir() else Errors.NO_SUCH_ENCODER
    return message.format(name=name, reason=reason)


def _hook(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    message = None if wants_traceback() else message_of(error, trace)
    if message is None:
        _previous(kind, error, trace)
    else:
        print(f"✘ {visible(message, keep=LAYOUT)}", file=sys.stderr)


_previous = sys.excepthook


def _is_called(code: CodeType) -> bool:
    """Say whether a function is under way further up."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None


def _frames(trace: TracebackType | None) -> Iterator[FrameType]:
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next
