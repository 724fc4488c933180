"""Where a config's data come from: which reader, and which columns."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from confection import Config

from ..errors import SpanftError, listed, shown
from ..training.readers.conll import CONLL_ENDING
from ..training.readers.docbins import is_docbins
from ..training.readers.offsets import has_offsets

DOCBINS = "spacy.Corpus.v1"
_HELD_OUT = "spacy-spanft.HeldOutCorpus.v1"
_SPLITS = {"train": "train", "dev": "validation"}
# A name on the hub, perhaps with a configuration: nyu-mll/glue:cola.
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+(?::[\w.-]+)?")
_FILE_ENDING = re.compile(r"\.(tsv|csv|jsonl?|spacy|conll\w*|iob\w*|txt|gz|zst|bz2)$")
# The columns of a task, as options name them.
COLUMNS = {
    "textcat": ("text", "label"),
    "textcat_multilabel": ("text", "label"),
    "pair": ("text", "text_pair", "label"),
    "score": ("text", "text_pair", "score"),
    "text_score": ("text", "score"),
}


def set_sources(
    config: Config, task: str, files: Mapping[str, str], columns: Mapping[str, str]
) -> None:
    """Set the readers of a config; without dev data, some train data is held out.

    files (Mapping[str, str]): The files or datasets of "train" and "dev", if known.
    columns (Mapping[str, str]): The names of the columns of COLUMNS, if known.
    """
    known = COLUMNS.get(task, ())
    if strange := [name for name in columns if name not in known]:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in strange)
        raise SpanftError(
            f"{options} cannot be set for {task}, whose columns are: {listed(known)}. "
            "Remove it, or name another --pipeline."
        )
    corpora = config["corpora"]
    for block in corpora.values():
        block |= columns
    for part, path in files.items():
        config["paths"][part] = path
        kind = data_format(path)
        if kind == "dataset" and task != "tagger":
            corpora[part] = _dataset_block(config, task, part)
        elif kind == "entities" and not known and task != "tagger":
            corpora[part] |= {"@readers": "spacy-spanft.ConllCorpus.v1"}
            corpora[part] |= _spans_key(config, task)
        elif kind != "docbins" and not known:
            raise SpanftError(
                f"{shown(path)} cannot be read for {task}, which takes spaCy's binary "
                "data (.spacy), CoNLL's columns (.conll or .iob) or character offsets."
            )
    if "train" in files and "dev" not in files:
        whole = dict(corpora["train"])
        if whole["@readers"] == DOCBINS:
            whole["gold_preproc"] = False  # spaCy fills it in only in top-level blocks
        for part in ("train", "dev"):
            block = {"@readers": _HELD_OUT, "part": part, "share": 0.2, "seed": 0}
            corpora[part] = {**block, "corpus": dict(whole)}


def data_format(path: str) -> Literal["dataset", "entities", "docbins", "table"]:
    """Return what is behind a path or a name on the hub; "docbins" is spaCy's own."""
    if is_dataset(path):
        return "dataset"
    if CONLL_ENDING.search(path) or has_offsets(path):
        return "entities"
    return "docbins" if is_docbins(path) else "table"


def is_dataset(path: str) -> bool:
    """Whether a path is a folder without spaCy's files, or a name on the hub."""
    folder = Path(path.partition(":")[0])
    if folder.is_dir():
        files = [file for file in folder.rglob("*") if file.is_file()]
        return bool(files) and not any(file.suffix == ".spacy" for file in files)
    is_name = _HUB_NAME.fullmatch(path) and not _FILE_ENDING.search(path)
    return bool(is_name) and not Path(path).exists()


def _dataset_block(config: Config, task: str, part: str) -> dict[str, Any]:
    name, _, configuration = config["paths"][part].partition(":")
    config["paths"][part] = name
    table = dict(config["corpora"][part])
    block = {"name": table.pop("path"), "config": configuration or None}
    kind = "DatasetCorpus" if task in COLUMNS else "NerDataset"
    reader = {"@readers": f"spacy-spanft.{kind}.v1", "split": _SPLITS[part]}
    return {**table, **reader, **block, **_spans_key(config, task)}


def _spans_key(config: Config, task: str) -> dict[str, Any]:
    if task != "spancat":
        return {}
    return {"spans_key": config["components"]["spancat"]["spans_key"]}
