"""What the server that forks off processes begins with; imported by it alone.

It is to end with the process that started it, and at once. By itself it would only look
for that one after it has imported the libraries, for seconds.
"""

import atexit
import ctypes
import importlib
import os
import select
import signal
import sys
from contextlib import suppress
from types import FrameType

from .processes import preloaded

# See prctl(2): the signal that a process gets when the one that started it ends.
_PR_SET_PDEATHSIG = 1


def _import_all() -> None:
    # Ctrl-C is heard by all processes of a terminal; the first one ends the others.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    set_signal = getattr(ctypes.CDLL(None), "prctl", lambda *_: None)
    set_signal(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if _is_alone():
        os._exit(1)
    for name in preloaded():
        with suppress(ImportError):
            importlib.import_module(name)
    with suppress(ImportError):
        from transformers import MODEL_MAPPING

        # Three hundred modules, imported as soon as a process makes its first encoder.
        MODEL_MAPPING.keys()
    # From here on it looks for itself, and right: the signal would come when a thread
    # ends, too, if that is what started it.
    set_signal(_PR_SET_PDEATHSIG, 0)
    signal.signal(signal.SIGINT, before)
    # Nor does it clean up after libraries that it has not used: that takes seconds,
    # too. What is forked off ends otherwise, and never comes here.
    atexit.register(os._exit, 0)


def _is_alone() -> bool:
    """Say whether nobody has the other end of the pipe that the server looks at."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and "alive_r" not in frame.f_locals:
        frame = frame.f_back
    if frame is None:
        return False
    return bool(select.select([frame.f_locals["alive_r"]], [], [], 0)[0])


_import_all()
