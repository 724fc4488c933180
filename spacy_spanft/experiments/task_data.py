"""The data of a task: its files, what task.json says of it, how a config reads it."""

import json
import os
from collections.abc import Iterator, Mapping
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

from confection import Config
from spacy.language import Language
from spacy.training import Example
from spacy.util import registry

from ..configs.sources import (
    DOCBINS,
    SETTINGS_OF,
    corpus_block,
    data_format,
    refuse,
    table_columns,
)
from ..configs.templates import CLASSIFIERS, REGRESSOR, TOKEN_HEADS
from ..errors import SpanftError, check_setting, listed, meant, reported, shown, warn
from ..training.readers.classification import table_corpus
from ..training.readers.entities import CONLL_ENDING
from ..training.readers.rows import DocBins
from ..util.columns import SETTINGS, TEXTS, Answer, find_columns
from ..util.tables import format_of

_ENDINGS = (".spacy", ".tsv", ".csv", ".jsonl", ".parquet")
_TABLE_CORPUS = "spacy-spanft.TableCorpus.v1"
_CONLL = "spacy-spanft.ConllCorpus.v1"
_DATASETS = ("spacy-spanft.DatasetCorpus.v1", "spacy-spanft.NerDataset.v1")
_OURS = (_TABLE_CORPUS, DOCBINS, _CONLL, *_DATASETS)
# Arguments of a config's reader that belong to its own file.
_NOT_COLUMNS = ("@readers", "path", "format", "limit")


class Data(NamedTuple):
    """The data of a task, and what task.json says of it."""

    files: dict[str, Path]  # of "train" and "dev"
    tests: list[Path]  # test.csv, test_mismatched.spacy; perhaps none
    pipeline: str | None = None  # to train
    columns: dict[str, Any] = {}  # noqa: RUF012 (arguments of TableCorpus.v1)
    metric: str | None = None  # that the arms are compared by
    positive_label: str | None = None

    @property
    def folder(self) -> Path:
        """The folder of the task."""
        return self.files["train"].parent

    @property
    def name(self) -> str:
        """The name of the task, which is that of its folder."""
        return self.folder.resolve().name


def find_data(folder: str | Path) -> Data:
    """Return the data of a task, without reading it.

    folder (Union[str, Path]): A folder with train and dev data. A task.json in it may
        have the other fields of `Data`.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise SpanftError(f"There is no folder {str(folder)!r} in {str(Path.cwd())!r}.")
    files: dict[str, Path] = {}
    for path in sorted(folder.glob("*.*")):
        is_data = path.stem in ("train", "dev") or path.stem.startswith("test")
        if not is_data or path.suffix not in _ENDINGS:
            continue
        if other := files.get(path.stem):
            raise SpanftError(
                f"Both {other.name} and {path.name} are in '{folder}'. Remove one."
            )
        files[path.stem] = path
    for split in ("train", "dev"):
        if split not in files:
            raise SpanftError(
                f"There is no {split}.spacy, {split}.csv or the like in the folder "
                f"{str(folder)!r}. A task needs train and dev data."
            )
    facts = _facts_of(folder / "task.json")
    needed = {split: files.pop(split) for split in ("train", "dev")}
    return Data(needed, list(files.values()), **facts)


def _facts_of(path: Path) -> dict[str, Any]:
    """Return what a task.json says, if there is one; other keys are for people."""
    with reported(f"{path} is not JSON", ValueError):
        facts = json.loads(path.read_text("utf-8-sig")) if path.exists() else {}
    columns = facts.get("columns", {}) if isinstance(facts, dict) else None
    if not isinstance(columns, dict):
        raise SpanftError(f"{path} or its columns are no JSON object in braces.")
    known, arguments = Data._field_defaults, signature(table_corpus).parameters
    for key in facts.keys() - known:  # perhaps one is misspelled
        if hint := meant(key.lower(), known, 0.8):
            raise SpanftError(f"{path} has the unknown key {key!r}.{hint}")
    for key in columns.keys() - arguments:
        hint = meant(key, arguments)
        raise SpanftError(f"{path} has the unknown key {key!r} in its columns.{hint}")
    facts = {key: facts[key] for key in known if facts.get(key)}
    names = {key: columns[key] for key in SETTINGS if key in columns}
    for key, value in (facts | names).items():
        is_right = key == "columns" or value is None or isinstance(value, str)
        check_setting(f"{key!r} in {path}", value, is_right, "a text in quotes")
    return facts


def readers_of(config: Config, data: Data) -> dict[str, dict[str, Any]]:
    """Return the blocks that read the data of a task; a config's columns are kept."""
    readers = {}
    for split, file in data.files.items():
        reader = {"@readers": DOCBINS, "path": f"${{paths.{split}}}"}
        if file.suffix != ".spacy":
            block = corpus_block(config, split)
            if block.get("@readers") == _TABLE_CORPUS:
                reader |= {k: v for k, v in block.items() if k not in _NOT_COLUMNS}
            reader |= {"@readers": _TABLE_CORPUS, **data.columns}
        readers[split] = reader
    return readers


def read_examples(
    nlp: Language,
    data: str,
    config: Config | None = None,
    split: str = "dev",
    columns: Mapping[str, str] | None = None,
) -> Iterator[Example]:
    """Read test data of any format, tables as the pipeline's own corpus reads them.

    config (Optional[Config]): The config of a pipeline that is not trained yet.
    split (str): The corpus: "train", or "dev" for test data, too.
    """
    check_data(data)
    block = corpus_of((config or nlp.config).interpolate(), data, split, columns)
    corpus = DocBins(data) if block is None else registry.resolve({"x": block})["x"]
    labels: dict[str, set[str]] = {"textcat": set(), "textcat_multilabel": set()}
    for name in nlp.pipe_names:
        labels.get(nlp.get_pipe_meta(name).factory, set()).update(nlp.pipe_labels[name])
    known, others, example = labels["textcat"], labels["textcat_multilabel"], None
    # A table with labels has all of a text. spaCy's scorer leaves out those of none.
    table = block if block and block["@readers"] == _TABLE_CORPUS else {}
    wrong = dict.fromkeys(others if table.get("label") else (), 0.0)
    for example in corpus(nlp):
        cats = example.reference.cats
        if known and not any(cats.get(label) for label in known):
            # spaCy's scorer would take the first label that is known for the right one.
            example.reference.cats = {x: cats[x] for x in cats if x not in known}
        if wrong:
            example.reference.cats = wrong | cats
        others -= example.reference.cats.keys()
        yield example
    if example is None:
        raise SpanftError(f"There are no rows in {data!r}.")
    if others and example.reference.cats:
        names = listed(sorted(others))
        warn(
            f"{shown(data)} says nothing of these labels, which do not count: {names}."
        )


def corpus_of(
    config: Mapping[str, Any],
    data: str,
    split: str = "dev",
    columns: Mapping[str, str] | None = None,
) -> dict[str, Any] | None:
    """Return the block that reads data for a pipeline; None for spaCy's binary data.

    Columns that are neither named nor those of the pipeline's own tables are found.
    """
    kind, typed = data_format(data), dict(columns or {})
    if kind == "docbins":
        refuse(typed.keys(), shown(data))
        return None
    block = corpus_block(config, split)
    reader = block.get("@readers", DOCBINS)
    if reader not in _OURS:
        refuse(typed.keys(), f"the reader {reader}")
        return {**block, "path": data}
    block = {k: v for k, v in block.items() if k != "limit"}  # of the dev data
    factories = {c.get("factory"): c for c in config["components"].values()}
    has_entities = kind == "entities" and factories.keys() & {*TOKEN_HEADS}
    classifies = factories.keys() & CLASSIFIERS.keys() or reader == _TABLE_CORPUS
    if has_entities or not classifies:
        if kind == "table" and not CONLL_ENDING.search(data) and reader != _CONLL:
            raise SpanftError(
                f"{shown(data)} cannot be read for this pipeline, which predicts no "
                "labels of texts: name .spacy, CoNLL's columns (.conll or .iob) or "
                "JSONL with character offsets."
            )
        key = factories.get("spancat", {}).get("spans_key")
        own = block if reader == _CONLL else {"spans_key": key}
        usable = {*SETTINGS_OF["entities"]}
        refuse(typed.keys() - usable, shown(data), usable)
        return {**own, **typed, "@readers": _CONLL, "path": data}
    if kind == "dataset" or CONLL_ENDING.search(data):
        raise SpanftError(
            f"{shown(data)} cannot be read for this pipeline, which classifies or "
            "scores texts: name .spacy or a table."
        )
    own = block if reader == _TABLE_CORPUS else {"@readers": _TABLE_CORPUS}
    if format_of(data):  # another one than that of the training file, perhaps
        own = {k: v for k, v in own.items() if k != "format"}
    settings = SETTINGS_OF["table"]
    own = {**own, **{k: typed.pop(k) for k in settings if k in typed}}
    usual = table_columns(config, split)
    answer: Answer = "label"
    if "score" in usual or REGRESSOR in factories:
        answer = "score"
    elif own.get("label", "") is None:
        answer = "nothing"
    refuse(typed.keys() - {*TEXTS, answer}, "this pipeline", {answer} - {"nothing"})
    how = {k: own[k] for k in ("format", "header", "errors", "encoding") if own.get(k)}
    return {**own, **find_columns(data, typed, usual, answer, **how), "path": data}


def check_data(data: str) -> None:
    """Raise for test data that does not exist."""
    if not data or not os.path.exists(data):
        raise SpanftError(f"There is no file {shown(data)}.")
