"""Where a config's data come from, and which task they are for."""

import re
from collections.abc import Iterator, Mapping, Set
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import spacy
from confection import Config
from spacy.language import Language
from spacy.training import Example
from spacy.util import registry

from ..errors import SpanftError, shown
from ..ml.pairs import SEPARATOR
from ..training.gold import SCORE
from ..training.readers.classification import is_docbins
from ..training.readers.entities import CONLL_ENDING, has_offsets
from ..training.readers.rows import DocBins
from ..util.columns import SETTINGS, find_columns
from ..util.tables import format_of
from .summary import summarize
from .templates import base, interpolated

DOCBINS = "spacy.Corpus.v1"
HELD_OUT = "spacy-spanft.HeldOutCorpus.v1"
# A name on the hub, perhaps with a configuration: nyu-mll/glue:cola.
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+(?::[\w.-]+)?")
_FILE_ENDING = re.compile(
    r"\.(tsv|csv|jsonl?|ndjson|parquet|spacy|conll\w*|iob\w*|bio|txt|xlsx?|gz|zst|bz2)$"
)
# The columns of a task, as options name them.
COLUMNS = {
    "textcat": ("text", "label"),
    "textcat_multilabel": ("text", "label"),
    "pair": ("text", "text_pair", "label"),
    "score": ("text", "text_pair", "score"),
    "text_score": ("text", "score"),
}
# Settings of each format that are not columns.
SETTINGS_OF = {
    "table": ("encoding", "errors", "incomplete", "label_separator"),
    "dataset": ("incomplete",),
    "entities": ("encoding", "errors"),
    "docbins": (),
}
_N_DOCS = 1000  # enough to see what is annotated


def set_sources(
    config: Config, task: str, files: Mapping[str, str], columns: Mapping[str, str]
) -> None:
    """Set the readers of a config; without dev data, some train data is held out.

    files (Mapping[str, str]): The files or datasets of "train" and "dev", if known.
    columns (Mapping[str, str]): The names of the columns of COLUMNS, if known, and
        perhaps settings of tables.
    """
    known, corpora = COLUMNS.get(task, ()), config["corpora"]
    formats = {part: data_format(path) for part, path in files.items()}
    kinds = {*formats.values()} or {"table" if known else "docbins"}
    if known:
        kinds = {"table" if kind == "entities" else kind for kind in kinds}
    usable = {x for kind in kinds for x in SETTINGS_OF[kind]}
    if kinds != {"docbins"}:
        usable |= {*known}
    refuse(columns.keys() - usable, ", ".join([task, *files.values()]), usable)
    for block in corpora.values():
        block |= columns
    for part, path in files.items():
        config["paths"][part] = path
        kind = formats[part]
        if kind != "docbins" and (task == "tagger" or (kind == "table" and not known)):
            others = ", CoNLL's columns (.conll or .iob) or character offsets"
            raise SpanftError(
                f"{shown(path)} cannot be read for {task}, which takes spaCy's binary "
                f"data (.spacy){'' if task == 'tagger' else others}."
            )
        if kind == "dataset":
            corpora[part] = _dataset_block(config, task, part)
        elif kind == "entities" and not known:
            corpora[part]["@readers"] = "spacy-spanft.ConllCorpus.v1"
        if kind != "docbins" and task == "spancat":
            corpora[part]["spans_key"] = config["components"]["spancat"]["spans_key"]
    if "train" in files and "dev" not in files:
        whole = dict(corpora["train"])
        if whole["@readers"] == DOCBINS:
            whole["gold_preproc"] = False  # spaCy fills it in only in top-level blocks
        for part in ("train", "dev"):
            block = {"@readers": HELD_OUT, "part": part, "share": 0.2, "seed": 0}
            corpora[part] = {**block, "corpus": dict(whole)}


def refuse(options: Set[str], data: str, usable: Set[str] = frozenset()) -> None:
    """Raise for options, by their names in Python, that are of no use for data."""
    if options:
        wrong, right = (
            ", ".join(f"--{name.replace('_', '-')}" for name in sorted(names))
            for names in (options, usable)
        )
        can = f"; {right} can" if right else ""
        raise SpanftError(f"{wrong} cannot be used with {data}{can}.")


def data_format(path: str) -> Literal["dataset", "entities", "docbins", "table"]:
    """Return what is behind a path or a name on the hub; "docbins" is spaCy's own."""
    folder = Path(path) if Path(path).exists() else Path(path.partition(":")[0])
    is_dataset = bool(_HUB_NAME.fullmatch(path)) and not _FILE_ENDING.search(path)
    is_dataset = is_dataset and not Path(path).exists()
    if folder.is_dir():
        endings = {file.suffix for file in folder.rglob("*") if file.is_file()}
        is_dataset = bool(endings) and ".spacy" not in endings
    if is_dataset:
        return "dataset"
    if CONLL_ENDING.search(path) or has_offsets(path):
        return "entities"
    return "docbins" if is_docbins(path) else "table"


def _dataset_block(config: Config, task: str, part: str) -> dict[str, Any]:
    name, configuration = config["paths"][part], ""
    if not Path(name).exists():
        name, _, configuration = name.partition(":")
    config["paths"][part] = name
    table = dict(config["corpora"][part])
    block = {"name": table.pop("path"), "config": configuration or None}
    kind = "DatasetCorpus" if task in COLUMNS else "NerDataset"
    split = "train" if part == "train" else "validation"
    reader = {"@readers": f"spacy-spanft.{kind}.v1", "split": split}
    return {**table, **reader, **block}


def read_data(config: Config, part: str) -> Iterator[Example]:
    """Read the data of "train", of which nothing is held out here, or of "dev"."""
    plain = interpolated(config)
    block = corpus_block(plain, part)
    if block["@readers"] == DOCBINS:  # which spaCy has not filled in yet
        corpus: Any = DocBins(block["path"])
    else:
        corpus = registry.resolve({"corpus": block})["corpus"]
    yield from corpus(tokenizer_of(plain))


def tokenizer_of(config: Config) -> Language:
    """Make an empty pipeline with the tokenizer of a config without variables."""
    tokenizer = {k: v for k, v in config["nlp"].items() if k == "tokenizer"}
    return spacy.blank(config["nlp"]["lang"], config={"nlp": tokenizer})


def table_columns(config: Mapping[str, Any], part: str = "dev") -> dict[str, str]:
    """Return the columns that a config reads of tables."""
    block = corpus_block(config, part)
    names = {name: block[name] for name in SETTINGS if block.get(name)}
    if "score" in names:  # spaCy fills in the default name of the label
        names.pop("label", None)
    return names


def corpus_block(config: Mapping[str, Any], part: str) -> dict[str, Any]:
    """Return the block that reads the data of which "train" or "dev" may be a part."""
    block = config.get("corpora", {}).get(part) or {}
    return dict(block.get("corpus", block))


def guess_columns(
    path: str,
    columns: Mapping[str, str],
    task: str | None = None,
    usual: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the named columns and settings of data, and of a table the usual ones."""
    if data_format(path) != "table" or (task and task not in COLUMNS):
        return dict(columns)
    settings = {key: columns[key] for key in SETTINGS_OF["table"] if key in columns}
    typed = {key: name for key, name in columns.items() if key not in settings}
    needed = COLUMNS[task] if task else ("either",)
    others = {**({"text_pair": ""} if "text_pair" in needed else {}), **(usual or {})}
    answer: Any = needed[-1]
    how: Any = {x: settings[x] for x in ("encoding", "errors") if x in settings}
    known = find_columns(path, typed, others, answer, **how)
    if "text_pair" in needed and "text_pair" not in known:
        single = "text_score" if answer == "score" else "textcat"
        raise SpanftError(
            f"--pipeline {task} is for pairs of texts. Name the second text of "
            f"{shown(path)} with --text-pair, or use --pipeline {single}."
        )
    return {**known, **settings}


def guess_task(path: str, columns: Mapping[str, str], lang: str) -> str:
    """Return the name of the task that data are for."""
    kind, columns = data_format(path), guess_columns(path, columns)
    if "text_pair" in columns:
        return "score" if "score" in columns else "pair"
    if kind == "entities":
        return "bilou_ner"
    if kind == "docbins":
        return _task_of_docs(path, lang)
    if "score" in columns:
        return "text_score"
    if format_of(path) in ("csv", "tsv") and "label_separator" not in columns:
        return "textcat"  # whose cells hold one label
    task = "textcat_multilabel"
    config = base(task)
    config["nlp"]["lang"] = lang
    set_sources(config, task, {"train": path}, columns)
    summary = summarize(read_data(config, "train"), task, path)
    return task if summary.n_several else "textcat"


def _task_of_docs(path: str, lang: str) -> str:
    """Return the task that the annotations in spaCy's binary data are for."""
    examples = islice(DocBins(path)(spacy.blank(lang)), _N_DOCS)
    docs = [example.reference for example in examples]
    if any(doc.cats for doc in docs):
        is_pair = any(SEPARATOR in doc.text for doc in docs)
        if all(set(doc.cats) <= {SCORE} for doc in docs):
            return "score" if is_pair else "text_score"
        n_labels = {sum(value == 1 for value in doc.cats.values()) for doc in docs}
        if n_labels != {1}:
            return "textcat_multilabel"
        return "pair" if is_pair else "textcat"
    if any(doc.ents for doc in docs):
        return "bilou_ner"
    if any(doc.spans for doc in docs):
        return "spancat"
    if any(doc.has_annotation("TAG") for doc in docs):
        return "tagger"
    raise SpanftError(
        f"{shown(path)} has no annotations to learn. Name the task with --pipeline."
    )
