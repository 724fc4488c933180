"""Whether a run would be the same again."""

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from confection import Config

# What a config calls the folders that it reads.
_NAMES = {"path", "name", "transformer", "dictionary", "vectors", "source"}


def fingerprint(config: Config) -> str:
    """Digest a config, and all files and folders that it names.

    RETURNS (str): The digest: another one if anything changed.
    """
    plain = config.interpolate()
    found = hashlib.sha256(plain.to_str().encode())
    for path in sorted(set(_paths(plain))):
        found.update(_digest(str(path), _state(path)))
    return found.hexdigest()


def _paths(value: Any, name: str = "") -> Iterator[Path]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _paths(one, key)
    elif isinstance(value, str):
        path = Path(value)
        # A short word such as "en" is not a path, even if there is such a folder.
        is_named = name in _NAMES or "/" in value or "\\" in value
        try:
            if path.is_file() or (is_named and path.is_dir()):
                yield path
        except (OSError, ValueError):
            return  # a long text, or one with a null character


def _state(path: Path) -> tuple[tuple[str, int, int], ...]:
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    stats = [(str(f.relative_to(path)), f.stat()) for f in files if f.is_file()]
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


@cache
def _digest(path: str, state: tuple[tuple[str, int, int], ...]) -> bytes:
    """Digest what is in the files, and their names, but not when they were made."""
    found = hashlib.sha256()
    for name, size, _ in state:
        found.update(f"{name} {size} ".encode())
        with open(Path(path) / name if name != "." else path, "rb") as file:
            while block := file.read(2**20):
                found.update(block)
    return found.digest()
