"""What spaCy's commands do not catch, or warn of, said in one line.

`spacy train` reads data and builds models through us, but knows nothing of our
errors: they would end in a traceback of thirty frames. Warnings would be shown with
the line of code that they come from.
"""

import os
import sys
import warnings
from types import CodeType, FrameType, TracebackType
from typing import TextIO

from ..errors.visible import LAYOUT, visible
from ..util._compat import setup_of_command_line
from ..util.messages import message_of

# Shows every error with its traceback, for whoever looks for its cause.
TRACEBACK = "SPANFT_TRACEBACK"
_PACKAGE = __name__.partition(".")[0]
_WARNERS = ("warnings", "_py_warnings")


def watch_command() -> None:
    """Take over errors that nobody catches, if spaCy's command line is running.

    And our own warnings. It imports us while it sets itself up; whoever else imports us
    keeps their hooks.
    """
    if _is_called(setup_of_command_line().__code__) and sys.excepthook is not _hook:
        global _previous, _show_warning
        _previous, _show_warning = sys.excepthook, warnings.showwarning
        sys.excepthook, warnings.showwarning = _hook, _warning_hook


def wants_traceback() -> bool:
    """Say whether the user wants to see errors whole.

    RETURNS (bool): Whether SPANFT_TRACEBACK is set, and not to 0.
    """
    return os.environ.get(TRACEBACK, "0") not in ("", "0")


def _hook(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    message = None if wants_traceback() else message_of(error, trace)
    if message is None:
        _previous(kind, error, trace)
    else:
        print(f"✘ {visible(message, keep=LAYOUT)}", file=sys.stderr)


def _warning_hook(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    # The place that a warning names is a caller of whoever warns, perhaps in spaCy.
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") in _WARNERS:
        frame = frame.f_back
    origin = "" if frame is None else str(frame.f_globals.get("__name__"))
    if origin.split(".")[0] != _PACKAGE or file is not None or wants_traceback():
        _show_warning(message, category, filename, lineno, file, line)
    else:
        print(f"⚠ {visible(str(message), keep=LAYOUT)}", file=sys.stderr)


_previous = sys.excepthook
_show_warning = warnings.showwarning


def _is_called(code: CodeType) -> bool:
    """Say whether a function is under way further up."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None
