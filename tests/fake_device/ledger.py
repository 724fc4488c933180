"""What goes from the host to the device and back, and in which module of ours."""

import sys
from collections import Counter
from contextlib import contextmanager

UPLOAD, DOWNLOAD, WAIT = "upload", "download", "wait"
# Whose transfers are not ours, though we may have called them.
_OTHERS = ("/spacy_transformers/", "/thinc/optimizers", "/thinc/shims/")
_entries: list[tuple[str, str, str]] = []


def note(kind, why):
    """Write down a transfer.

    kind (str): An upload; a download, for which the host waits; or a wait alone.
    why (str): What needs it.
    """
    _entries.append((kind, _owner(), why))


@contextmanager
def watched():
    """Give what is transferred in a block: a Counter of (kind, module, why)."""
    found = Counter()
    begin = len(_entries)
    yield found
    found.update(_entries[begin:])
    del _entries[begin:]


def ours(found):
    """Count the uploads and the downloads, waits included, that are due to our code.

    found (Counter): What was transferred.
    RETURNS (tuple[int, int]): Both numbers.
    """
    own = [(kind, n) for (kind, owner, _), n in found.items() if owner]
    uploads = sum(n for kind, n in own if kind == UPLOAD)
    return uploads, sum(n for _, n in own) - uploads


def _owner():
    """Name the innermost module of this package that is at work; "" for others."""
    frame = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename.replace("\\", "/")
        if any(other in file for other in _OTHERS):
            return ""
        if "/spacy_spanft/" in file:
            return file.rpartition("/spacy_spanft/")[2]
        frame = frame.f_back
    return ""
