"""What the server that forks off processes begins with; imported by it alone.

It is to end with the process that started it, but would only look for that one after
it has imported the libraries, for seconds.
"""

import importlib
import os
import signal
from contextlib import suppress
from types import FrameType
from typing import Any

from .processes import preloaded

_SECONDS = 0.2
_PARENT = os.getppid()


def _check(number: int, frame: FrameType | None) -> None:
    if os.getppid() != _PARENT:
        os._exit(1)


def _import_all() -> None:
    # Ctrl-C is heard by all processes of a terminal; the first one ends the others.
    handlers: dict[int, Any] = {signal.SIGINT: signal.SIG_IGN, signal.SIGALRM: _check}
    before = {number: signal.signal(number, new) for number, new in handlers.items()}
    signal.siginterrupt(signal.SIGALRM, False)
    signal.setitimer(signal.ITIMER_REAL, _SECONDS, _SECONDS)
    for name in preloaded():
        with suppress(ImportError):
            importlib.import_module(name)
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number, old in before.items():
        signal.signal(number, old)


_import_all()
