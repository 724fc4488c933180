"""The folder of a run: whether it is done, and still the same run."""

import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal

from confection import Config

State = Literal["done", "changed", "new"]

# Facts, written last; scores during the training; the pipeline; all output.
RESULT, SCORES, MODEL, LOG = "run.json", "log.jsonl", "model", "log.txt"
# Settings whose values may be folders.
_FOLDERS = {"path", "name", "transformer", "dictionary", "vectors", "source"}


def state_of(folder: Path, fingerprint: str) -> State:
    """Return whether a run is done, perhaps with other settings or files."""
    try:
        facts = json.loads((folder / RESULT).read_text("utf8"))
        is_same = facts["fingerprint"] == fingerprint
    except (OSError, ValueError, TypeError, KeyError):
        return "new"
    if not (folder / MODEL).is_dir():
        return "new"
    return "done" if is_same else "changed"


def fingerprint(config: Config) -> str:
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
    stats = [(str(f.relative_to(path)), f.stat()) for f in files if f.is_file()]
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


@cache
def _digest(path: str, stats: tuple[tuple[str, int, int], ...]) -> bytes:
    """Digest the names and contents of files; `stats` tells when they change."""
    digest = hashlib.sha256()
    for name, size, _ in stats:
        digest.update(f"{name} {size} ".encode())
        with open(Path(path) / name if name != "." else path, "rb") as file:
            while block := file.read(2**20):
                digest.update(block)
    return digest.digest()
