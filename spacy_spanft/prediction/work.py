"""What is done of a run, kept in a folder until all is."""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spacy.util import get_package_path, is_package

from ..errors import Errors, SpanftError
from ..util.files import write_whole
from ..util.lock import own_folders
from . import json_lines, parquet
from .task import Done, Setup

_BEGUN, _JOINED = "begun.json", "joined"
_FAILED = ".failed.jsonl"


class Work:
    """The parts of an output.

    target (Path): The output.
    folder (Path): Where its parts are.
    failures (Path): Where rows without a prediction are written in the end.
    """

    def __init__(self, target: Path) -> None:
        """Name everything.

        target (Path): The output.
        """
        self.target = target
        self.folder = target.with_name(f"{target.name}.parts")
        self.failures = target.with_name(f"{target.name}{_FAILED}")

    @property
    def is_begun(self) -> bool:
        """Say whether there is something to go on with."""
        return (self.folder / _BEGUN).exists()

    @property
    def has_parts(self) -> bool:
        """Say whether a part is done."""
        return self.is_begun and next(self._parts(), None) is not None

    @contextmanager
    def own(self, facts: Mapping[str, Any], force: bool = False) -> Iterator[None]:
        """Keep the folder to this process, and remove it when nothing is in it.

        facts (Mapping[str, Any]): What the output depends on.
        force (bool): Whether parts that were begun with others are removed, or an
            error.
        """
        with own_folders([self.folder]):
            try:
                self._begin(facts, force)
                yield
            finally:
                # It is done, or was stopped before the first part was.
                if not self.has_parts:
                    shutil.rmtree(self.folder)

    def _begin(self, facts: Mapping[str, Any], force: bool) -> None:
        path = self.folder / _BEGUN
        if self.has_parts:
            other = next(self._others(path, facts), None)
            if other is None:
                return
            if not force:
                told = {"folder": self.folder, "name": other}
                raise SpanftError(Errors.PARTS_OF_OTHERS.format(**told))
        self._remove_parts()
        write_whole(path, json.dumps(facts, indent=1).encode())

    def _others(self, path: Path, facts: Mapping[str, Any]) -> Iterator[str]:
        """Name what was begun with other facts."""
        try:
            before = dict(json.loads(path.read_bytes()))
        except (ValueError, TypeError) as error:
            raise SpanftError(Errors.BAD_WORK.format(path=path)) from error
        return (name for name in facts if facts[name] != before.get(name))

    def has(self, number: int) -> bool:
        """Say whether a part is done."""
        return self._path(number).exists()

    def add(self, done: Done) -> None:
        """Keep a part.

        done (Done): The part.
        """
        if done.failures:  # before what says that all of it is there
            write_whole(self._path(done.number).with_suffix(_FAILED), done.failures)
        write_whole(self._path(done.number), done.data)

    def finish(self) -> int:
        """Put all parts together, and remove them.

        RETURNS (int): How many rows have no prediction.
        """
        joined, parts = self.folder / _JOINED, sorted(self._parts())
        failed = [path.with_suffix(_FAILED) for path in parts]
        json_lines.join(filter(Path.exists, failed), joined)
        with open(joined, "rb") as file:
            n_failures = sum(1 for _ in file)
        if n_failures:
            _put(joined, self.failures)
        else:  # of an output that is now written over
            self.failures.unlink(missing_ok=True)
        kind = parquet if self.target.suffix == ".parquet" else json_lines
        kind.join(parts, joined)
        _put(joined, self.target)
        self._remove_parts()
        (self.folder / _BEGUN).unlink()  # the last: until then it can be gone on with
        return n_failures

    def _remove_parts(self) -> None:
        for path in self.folder.glob(f"{'[0-9]' * 8}.*"):
            path.unlink()

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:08d}{self.target.suffix}"

    def _parts(self) -> Iterator[Path]:
        return self.folder.glob(f"{'[0-9]' * 8}{self.target.suffix}")


def facts_of(setup: Setup) -> dict[str, Any]:
    """Say what the predictions of a run depend on.

    setup (Setup): The run.
    RETURNS (dict[str, Any]): Names and values, as JSON has them.
    """
    source, model = setup.source, Path(setup.model)
    if not model.is_dir() and is_package(setup.model):
        model = get_package_path(setup.model)
    facts = {
        "the pipeline": [setup.model, _state(model)],
        "the input": [source.path, _state(Path(source.path))],
        "--format": source.format,
        "--text": source.columns.text,
        "--text-pair": source.columns.text_pair,
        "--separator": source.columns.separator,
        "--errors": source.errors,
        "--prefix": setup.prefix,
        "--code": setup.code and _state(Path(setup.code)),
    }
    return facts


def _state(path: Path) -> str:
    """Digest how large the files are, and when they were last changed."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    stats = [(str(file), file.stat()) for file in files if file.is_file()]
    found = [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]
    return hashlib.sha256(repr(found).encode()).hexdigest()


def _put(written: Path, target: Path) -> None:
    """Give a file that is whole its name."""
    with open(written, "rb") as file:
        os.fsync(file.fileno())
    os.replace(written, target)
