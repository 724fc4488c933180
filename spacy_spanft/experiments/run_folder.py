"""The folders of runs: whether a run is done, and still the same run.

A run is TASK/ARM/SEED with run.json, which is written last, log.txt, and the pipeline
in model/. A run that failed is TASK/ARM/SEED.failed.
"""

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import srsly
from confection import Config

# Facts, written last; the pipeline; all output.
RESULT, MODEL, LOG = "run.json", "model", "log.txt"
# Settings whose values may be folders.
_FOLDERS = {"path", "name", "transformer", "dictionary", "vectors", "source"}


class Training(NamedTuple):
    """A finished training run, and how many seconds it took."""

    arm: str
    seed: int
    seconds: float


def last_error(log: Path) -> str:
    """Return the last line of a log, which of a failed run is the error."""
    try:
        lines = log.read_text("utf8", errors="replace").split("\n")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def is_done(folder: Path, fingerprint: str) -> bool:
    """Whether a run is done, with these settings and files."""
    try:
        is_same = srsly.read_json(folder / RESULT)["fingerprint"] == fingerprint
    except (OSError, ValueError, TypeError, KeyError):
        return False
    return is_same and (folder / MODEL).is_dir()


def fingerprint_of(config: Config) -> str:
    """Return a digest of a config, and of all files and folders that it names."""
    plain = config.interpolate()
    digest = hashlib.sha256(plain.to_str().encode())
    for path in sorted(set(_paths(plain))):
        digest.update(_digest(str(path), _stats(path)))
    return digest.hexdigest()


def _paths(value: Any, name: str = "") -> Iterator[Path]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _paths(inner, key)
    elif isinstance(value, str):
        path = Path(value)
        # A word such as "en" does not name a folder, even if there is one.
        may_be_folder = name in _FOLDERS or "/" in value or "\\" in value
        try:
            if path.is_file() or (may_be_folder and path.is_dir()):
                yield path
        except (OSError, ValueError):  # too long, or with a null character
            return


def _stats(path: Path) -> tuple[tuple[str, int, int], ...]:
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    stats = [(str(f), f.stat()) for f in files if f.is_file()]
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


@cache
def _digest(path: str, stats: tuple[tuple[str, int, int], ...]) -> bytes:
    """Digest the names and contents of files; `stats` tells when they change."""
    digest = hashlib.sha256()
    for name, size, _ in stats:
        digest.update(f"{Path(name).relative_to(path)} {size} ".encode())
        with open(name, "rb") as file:
            while block := file.read(2**20):
                digest.update(block)
    return digest.digest()
