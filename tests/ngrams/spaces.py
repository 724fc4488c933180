"""A tokenizer that is none of spaCy's, in a file that workers import in a moment."""

import os
import signal
from types import SimpleNamespace


class Spaces:
    """Splits whole lines, and is the end of a worker once if it is deadly."""

    def __init__(self, deadly=None):
        self.deadly = deadly

    def __call__(self, text):
        if self.deadly is not None and not self.deadly.exists():
            self.deadly.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return [SimpleNamespace(text=word) for word in text.split()]
