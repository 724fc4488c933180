"""The data of a task: its files, what task.json says of it, how a config reads it."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import spacy
from confection import Config
from spacy.tokens import Doc, DocBin
from spacy.util import registry

from ...errors import SpanftError, meant, shown
from ...util.files import read_whole

TASK = "task.json"
_SPLITS = ("train", "dev")
_ENDINGS = (".spacy", ".tsv", ".csv", ".jsonl")
_TABLE_CORPUS = "spacy-spanft.TableCorpus.v1"
_FACTS = ("pipeline", "config", "columns", "metric", "positive_label")
# Keys of task.json for people.
_NOTES = (
    "task",
    "kind",
    "labels",
    "lang",
    "transformer",
    "counts",
    "left_out",
    "source",
)
# Arguments of a config's reader that belong to its own file.
_NOT_COLUMNS = ("@readers", "path", "format", "limit")


class Data(NamedTuple):
    """The data of a task, and what task.json says of it.

    files (dict[str, Path]): The files of "train" and "dev".
    pipeline (Optional[str]): The pipeline to train: "textcat".
    config (Optional[str]): The name of your own configs: "textcat" for
        textcat_spanft.cfg.
    columns (dict[str, Any]): The columns of tables, as arguments of TableCorpus.v1.
    metric (Optional[str]): The metric that the arms are compared by.
    positive_label (Optional[str]): The positive label of F1.
    """

    files: dict[str, Path]
    pipeline: str | None = None
    config: str | None = None
    columns: dict[str, Any] = {}  # noqa: RUF012 (never written to)
    metric: str | None = None
    positive_label: str | None = None

    @property
    def folder(self) -> Path:
        """The folder of the task."""
        return self.files["train"].parent

    @property
    def tests(self) -> list[Path]:
        """The test sets: test.csv, test_mismatched.spacy; perhaps none."""
        files = sorted(self.folder.glob("test*.*"))
        tests = [path for path in files if path.suffix in _ENDINGS]
        _check_stems(tests)
        return tests


def find_data(folder: str | Path) -> Data:
    """Return the data of a task, without reading it.

    folder (Union[str, Path]): A folder with train and dev data: .spacy files, or tables
        (.tsv, .csv or .jsonl). A task.json in it may have the other fields of `Data`.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise SpanftError(f"There is no folder {str(folder)!r} in {str(Path.cwd())!r}.")
    files = {}
    for split in _SPLITS:
        paths = [folder / f"{split}{ending}" for ending in _ENDINGS]
        paths = [path for path in paths if path.is_file()]
        if not paths:
            raise SpanftError(
                f"There is no {split}.spacy, {split}.tsv, {split}.csv or {split}.jsonl "
                f"in the folder {str(folder)!r}. A task needs train and dev data."
            )
        _check_stems(paths)
        files[split] = paths[0]
    facts = _read_facts(folder / TASK) if (folder / TASK).exists() else {}
    return Data(files, **{key: facts[key] for key in _FACTS if key in facts})


def _read_facts(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(read_whole(path))
    except ValueError as error:
        raise SpanftError(f"{path} is not JSON: {error}") from error
    if not isinstance(facts, dict):
        raise SpanftError(f"{path} is {shown(facts)}, not an object.")
    for key in facts:
        if key not in _FACTS + _NOTES:
            hint = f"{meant(key, _FACTS)} Known: {', '.join(_FACTS)}."
            raise SpanftError(f"{path} has the unknown key {shown(key)}.{hint}")
    return facts


def _check_stems(paths: list[Path]) -> None:
    for path, other in pairwise(sorted(paths)):
        if path.stem == other.stem:
            raise SpanftError(
                f"Both {path.name} and {other.name} are in '{path.parent}'. Remove one."
            )


def readers_of(config: Config, data: Data) -> dict[str, dict[str, Any]]:
    """Return the blocks that read the data of a task, for each split.

    config (Config): The config. The columns of its own tables are kept.
    """
    readers = {}
    for split, file in data.files.items():
        reader = {"@readers": "spacy.Corpus.v1", "path": f"${{paths.{split}}}"}
        if file.suffix != ".spacy":
            own = config.get("corpora", {}).get(split)
            if isinstance(own, dict) and own.get("@readers") == _TABLE_CORPUS:
                reader |= {k: v for k, v in own.items() if k not in _NOT_COLUMNS}
            reader |= {"@readers": _TABLE_CORPUS, **data.columns}
        readers[split] = reader
    return readers


def read_docs(reader: dict[str, Any]) -> Iterator[Doc]:
    """Read texts, the two of a pair separately.

    reader (dict[str, Any]): The block of a reader, interpolated.
    """
    nlp = spacy.blank("xx")
    if reader["@readers"] != _TABLE_CORPUS:
        try:
            yield from DocBin().from_disk(reader["path"]).get_docs(nlp.vocab)
        except Exception as error:  # of zlib or msgpack
            message = f"{reader['path']} is damaged, or not written by DocBin.to_disk."
            raise SpanftError(message) from error
        return
    for column in (reader.get("text", "text"), reader.get("text_pair")):
        if column is not None:
            block = {**reader, "text": column, "text_pair": None}
            corpus = registry.resolve({"corpus": block})["corpus"]
            yield from (example.reference for example in corpus(nlp))
