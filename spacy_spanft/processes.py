"""Processes that begin afresh, and quickly where that is safe."""

import os
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.context import BaseContext

# Importing these takes seconds, and starts nothing that a fork would break: no GPU is
# called, and the libraries that have threads then (OpenBLAS, jemalloc) know of forks.
_LIBRARIES = ["torch", "transformers"]
# thinc asks CuPy for the GPUs as soon as it is imported, and no process that is forked
# off after that could use one.
_OURS = ["spacy", "spacy_transformers", "spacy_spanft.comparison.measure"]


def fresh_pool(n_workers: int = 1) -> ProcessPoolExecutor:
    """Make a pool whose processes have nothing of this one but its environment.

    On Linux they are forked off a server that has imported the libraries and done
    nothing else, which saves the seconds that importing takes; elsewhere each imports
    them anew (macOS has libraries that do not survive a fork).

    n_workers (int): How many processes there are. With one, whatever is submitted runs
        in the same process; for a process each, make a pool each.
    RETURNS (ProcessPoolExecutor): The pool.
    """
    return ProcessPoolExecutor(
        n_workers,
        mp_context=_context(),
        initializer=_take_over,
        initargs=(dict(os.environ),),
    )


def preloaded() -> list[str]:
    """Give the modules that the server may import.

    RETURNS (list[str]): Their names.
    """
    return _LIBRARIES if find_spec("cupy") else [*_LIBRARIES, *_OURS]


def _context() -> BaseContext:
    if not sys.platform.startswith("linux"):
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload(preloaded())  # heard by a server that is to begin
    return context


def _take_over(environment: Mapping[str, str]) -> None:
    """Take over the environment of now: the server has that of when it began."""
    for name in set(os.environ) - set(environment):
        del os.environ[name]
    os.environ.update(environment)
