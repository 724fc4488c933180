"""The data of a task: where it is, how much it is, and how a config reads it."""

import json
import os
import re
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import spacy
from confection import Config
from spacy.tokens import Doc, DocBin

from ...errors import Errors, SpanftError, shown
from ...errors.shortening import meant
from ...training.readers.classification import table_corpus

PARTS = ("train", "dev")
# What a part may be.
ENDINGS = (".spacy", ".tsv", ".csv", ".jsonl")
# Facts about the data of a task.
TASK = "task.json"
TABLE_CORPUS = "spacy-spanft.TableCorpus.v1"
# What it may say beside those that are written for people: "task", "labels" and so on.
_FACTS = ("pipeline", "config", "columns", "metric", "positive_label")
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
# What it may say of the columns of tables.
_COLUMNS = {"text": str, "text_pair": str, "label": str, "labels": dict, "score": str}
# What is that of the file which a config reads elsewhere, and not of the task.
_NOT_COLUMNS = {"@readers", "path", "format", "limit"}


class Data(NamedTuple):
    """The data of a task.

    files (dict[str, Path]): The file of each part, "train" and "dev".
    pipeline (Optional[str]): What task.json says is trained: "textcat", or "ner".
    config (Optional[str]): What it says of configs of one's own: "textcat" for
        textcat_spanft.cfg.
    columns (dict[str, Any]): What it says of the columns of tables.
    metric (Optional[str]): The metric that it says the arms are compared by.
    positive_label (Optional[str]): The label that it says F1 is about.
    """

    files: dict[str, Path]
    pipeline: str | None = None
    config: str | None = None
    columns: dict[str, Any] = {}  # noqa: RUF012 (never written to)
    metric: str | None = None
    positive_label: str | None = None

    @property
    def folder(self) -> Path:
        """Give the folder of the task."""
        return self.files["train"].parent

    @property
    def tests(self) -> list[Path]:
        """Find its test data: test.csv, or test_mismatched.spacy; perhaps none."""
        found = sorted(self.folder.glob("test*.*"))
        tests = [path for path in found if path.suffix in ENDINGS]
        _check_single(tests)
        return tests


def check_data(folder: str | Path) -> None:
    """Raise if a folder is not that of a task."""
    for part in PARTS:
        _file_of(Path(folder), part)


def find_data(folder: str | Path) -> Data:
    """Find the data of a task, without reading it.

    folder (Union[str, Path]): A folder with train and dev data: .spacy files, or tables
        (.tsv, .csv or .jsonl). A task.json in it may say what is trained on it
        ("pipeline"), which configs of one's own are for it ("config"), and what is in
        the columns of tables ("columns").
    """
    folder = Path(folder)
    files = {part: _file_of(folder, part) for part in PARTS}
    facts = _facts_of(folder / TASK)
    return Data(files, **{key: facts[key] for key in _FACTS if key in facts})


def _facts_of(file: Path) -> dict[str, Any]:
    """Read what task.json says of a task, if there is one."""
    try:
        facts = json.loads(file.read_text("utf8")) if file.exists() else {}
    except (ValueError, RecursionError) as error:
        raise SpanftError(Errors.BAD_TASK.format(path=file, reason=error)) from error
    if not isinstance(facts, dict):
        reason = f"it is {shown(facts)}, not an object"
        raise SpanftError(Errors.BAD_TASK.format(path=file, reason=reason))
    if (fault := _fault_of(facts)) is not None:
        raise SpanftError(Errors.BAD_TASK.format(path=file, reason=fault))
    return facts


def _fault_of(facts: dict[str, Any]) -> str | None:
    """Say what is wrong with what a task.json says."""
    for key, value in facts.items():
        if key == "columns":
            if not isinstance(value, dict) or not all(map(_is_column, value.items())):
                known = ", ".join(_COLUMNS)
                return f"its columns are {shown(value)}; known are {known}"
        elif key in _FACTS:
            # A config becomes a part of a path.
            is_path = key != "config" or not re.search(r"[^\w-]", str(value or ""))
            if not isinstance(value, str | None) or not is_path:
                return f"its {key} is {shown(value)}"
        elif key not in _NOTES:
            hint = meant(key, _FACTS)
            return f"it has {shown(key)}.{hint} Known are: {', '.join(_FACTS)}"
    return None


def read_with(config: Config, data: Data) -> dict[str, dict[str, Any]]:
    """Say how a config reads the data of a task, whatever it reads elsewhere.

    config (Config): The config. If it reads tables, their columns are as it says.
    RETURNS (dict[str, dict[str, Any]]): The block of a reader for each part.
    """
    found = {}
    for part, file in data.files.items():
        path = f"${{paths.{part}}}"
        if file.suffix == ".spacy":
            found[part] = {"@readers": "spacy.Corpus.v1", "path": path}
            continue
        own = config.get("corpora", {}).get(part)
        if not isinstance(own, dict) or own.get("@readers") != TABLE_CORPUS:
            own = {}
        columns = {k: v for k, v in own.items() if k not in _NOT_COLUMNS}
        block = {"@readers": TABLE_CORPUS, "path": path}
        found[part] = {**block, **columns, **data.columns}
    return found


def sizes_of(file: Path, reader: dict[str, Any]) -> list[int]:
    """Count the words of each text in a part.

    reader (dict[str, Any]): The block of its reader, its variables filled in.
    RETURNS (list[int]): The numbers of words.
    """
    if file.suffix != ".spacy":
        return _sizes_of_table(file, reader)
    sizes = [len(doc) for doc in docs_of(file)]
    if not sizes:
        raise SpanftError(Errors.NO_ROWS.format(source=repr(str(file))))
    return sizes


def docs_of(file: Path) -> list[Doc]:
    """Read spaCy's binary data."""
    # A Vocab() of its own would know no token in lower case.
    vocab = spacy.blank("xx").vocab
    try:
        return list(DocBin().from_disk(file).get_docs(vocab))
    except Exception as error:  # whatever zlib and msgpack say of a broken file
        raise SpanftError(Errors.BAD_DATA.format(path=file)) from error


def _sizes_of_table(file: Path, reader: dict[str, Any]) -> list[int]:
    nlp = spacy.blank("xx")
    columns = {k: v for k, v in reader.items() if k not in _NOT_COLUMNS}
    texts = [columns.get("text", "text"), columns.get("text_pair")]
    sizes = []
    # One column at a time: a blank pipeline does not know what stands between two.
    for text in texts if texts[1] else texts[:1]:
        alone = {**columns, "text": text, "text_pair": None}
        corpus = table_corpus(file, **alone)
        sizes.append([len(example.predicted) for example in corpus(nlp)])
    return [sum(both) for both in zip(*sizes, strict=True)]


def _file_of(folder: Path, part: str) -> Path:
    if not folder.is_dir():
        text = {"path": str(folder), "cwd": os.getcwd()}
        raise SpanftError(Errors.NO_DATA_DIR.format(**text))
    found = [folder / f"{part}{ending}" for ending in ENDINGS]
    found = [path for path in found if path.is_file()]
    if not found:
        raise SpanftError(Errors.NO_DATA.format(path=folder, part=part))
    _check_single(found)
    return found[0]


def _check_single(paths: list[Path]) -> None:
    """Raise for files of the same data: nobody could tell which of them is meant."""
    for one, other in pairwise(sorted(paths)):
        if one.stem == other.stem:
            names = {"folder": one.parent, "one": one.name, "other": other.name}
            raise SpanftError(Errors.SEVERAL_FILES.format(**names))


def _is_column(column: tuple[str, Any]) -> bool:
    name, value = column
    if isinstance(value, dict):
        return name == "labels" and all(isinstance(v, str) for v in value.values())
    return name in _COLUMNS and (value is None or isinstance(value, _COLUMNS[name]))
