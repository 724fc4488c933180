"""Where a config's data come from: by which reader, from which columns."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from confection import Config

from ..errors import Errors, SpanftError
from ..errors.shortening import listed
from ..training.readers.conll import CONLL_ENDING
from ..training.readers.docbins import is_docbins

DOCBINS = "spacy.Corpus.v1"
_CONLL = "spacy-spanft.ConllCorpus.v1"
_DATASETS = {True: "spacy-spanft.DatasetCorpus.v1", False: "spacy-spanft.NerDataset.v1"}
_HELD_OUT = "spacy-spanft.HeldOutCorpus.v1"
# The splits of a dataset that are the parts.
_SPLITS = {"train": "train", "dev": "validation"}
# A name on the hub, and perhaps a configuration: nyu-mll/glue:cola.
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+(?::[\w.-]+)?")
_FILE_ENDING = re.compile(r"\.(tsv|csv|jsonl?|spacy|conll\w*|iob\w*|txt|gz|zst|bz2)$")
# The columns that a task has, as options name them.
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
    """Let a config read data; without dev data, a part of the other is held out.

    config (Config): The config, which is changed.
    task (str): The name of one of TASKS.
    files (Mapping[str, str]): The files of "train" and "dev", if there are; or datasets
        of `datasets`: folders, or NAME or NAME:CONFIG on the hub.
    columns (Mapping[str, str]): The names of columns: of "text", "text_pair", "label"
        or "score".
    """
    known = COLUMNS.get(task, ())
    if strange := [name for name in columns if name not in known]:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in strange)
        there = {"task": task, "columns": listed(known)}
        raise SpanftError(Errors.NO_SUCH_COLUMNS.format(options=options, **there))
    corpora = config["corpora"]
    for block in corpora.values():
        block |= columns
    for part, path in files.items():
        config["paths"][part] = path
        if is_dataset(path):
            corpora[part] = _dataset_block(config, task, part)
        elif not known and not is_docbins(path):
            corpora[part] = _conll_block(config, task, part)
    if "train" in files and "dev" not in files:
        whole = dict(corpora["train"])
        if whole["@readers"] == DOCBINS:
            whole["gold_preproc"] = False  # which spaCy fills in at the top alone
        for part in ("train", "dev"):
            block = {"@readers": _HELD_OUT, "part": part, "share": 0.2, "seed": 0}
            corpora[part] = {**block, "corpus": dict(whole)}


def is_dataset(path: str) -> bool:
    """Say whether somebody means a dataset of `datasets`, and no file.

    path (str): A path, or the name of a dataset.
    RETURNS (bool): Whether it is a folder with other files than spaCy's, or a name.
    """
    folder = Path(path.partition(":")[0])
    if folder.is_dir():
        files = [file for file in folder.rglob("*") if file.is_file()]
        return bool(files) and not any(file.suffix == ".spacy" for file in files)
    is_name = _HUB_NAME.fullmatch(path) and not _FILE_ENDING.search(path)
    return bool(is_name) and not Path(path).exists()


def _dataset_block(config: Config, task: str, part: str) -> dict[str, Any]:
    name, _, configuration = config["paths"][part].partition(":")
    config["paths"][part] = name
    own = dict(config["corpora"][part])
    is_text = task in COLUMNS
    if task == "tagger":
        raise SpanftError(Errors.NO_READER_FOR.format(path=name, task=task))
    block = {
        "@readers": _DATASETS[is_text],
        "name": own.pop("path"),
        "config": configuration or None,
        "split": _SPLITS[part],
    }
    if not is_text:
        return block | _spans_key(config, task)
    own.pop("@readers")
    return block | own


def _conll_block(config: Config, task: str, part: str) -> dict[str, Any]:
    path = config["paths"][part]
    if not CONLL_ENDING.search(path):
        raise SpanftError(Errors.NO_READER_FOR.format(path=path, task=task))
    block = {"@readers": _CONLL, "path": config["corpora"][part]["path"]}
    return block | _spans_key(config, task)


def _spans_key(config: Config, task: str) -> dict[str, Any]:
    if task != "spancat":
        return {}
    return {"spans_key": config["components"]["spancat"]["spans_key"]}
