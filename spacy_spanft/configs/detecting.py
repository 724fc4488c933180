"""Detects from the training data what a pipeline is to be trained for."""

from collections.abc import Mapping
from itertools import islice

import spacy

from ..errors import SpanftError, shown
from ..ml.pairs import SEPARATOR
from ..training.readers.columns import SCORE
from ..training.readers.tables import columns_of
from .bases import TASKS, base
from .sources import DOCBINS, data_format, set_sources
from .summary import corpus_of, summarize

# The columns of a pair of texts, as GLUE and our configs name them.
_PAIR = ("sentence1", "sentence2")
_N_DOCS = 1000  # enough to see what is annotated


def guess_columns(path: str, columns: Mapping[str, str]) -> dict[str, str]:
    """Return known columns, and that of scores, if a table has one and no labels."""
    if "label" in columns or "score" in columns or data_format(path) != "table":
        return dict(columns)
    names = columns_of(path)
    is_score = SCORE in names and "label" not in names
    return {**columns, "score": SCORE} if is_score else dict(columns)


def guess_task(path: str, columns: Mapping[str, str], lang: str) -> str:
    """Return the name of the task that data are for.

    path (str): The training data.
    columns (Mapping[str, str]): The names of columns that are known.
    lang (str): The code of the language.
    """
    kind = data_format(path)
    is_open = kind == "table" and "text" not in columns
    if "text_pair" in columns or (is_open and {*_PAIR} <= {*columns_of(path)}):
        return "score" if "score" in columns else "pair"
    if kind == "entities":
        return "bilou_ner"
    if kind == "docbins":
        return _task_of_docs(path, lang)
    if "score" in columns:
        return "text_score"
    config = base("textcat")
    config["nlp"]["lang"] = lang
    set_sources(config, "textcat", {"train": path, "dev": path}, columns)
    summary = summarize(config, "textcat", "train")
    return "textcat_multilabel" if summary.n_several else "textcat"


def _task_of_docs(path: str, lang: str) -> str:
    """Return the task that the annotations in spaCy's binary data are for."""
    corpus = corpus_of({"@readers": DOCBINS, "path": path})
    examples = islice(corpus(spacy.blank(lang)), _N_DOCS)
    docs = [example.reference for example in examples]
    if any(doc.cats for doc in docs):
        if all(set(doc.cats) <= {SCORE} for doc in docs):
            is_pair = any(SEPARATOR in doc.text for doc in docs)
            return "score" if is_pair else "text_score"
        n_labels = {sum(value == 1 for value in doc.cats.values()) for doc in docs}
        return "textcat" if n_labels == {1} else "textcat_multilabel"
    if any(doc.ents for doc in docs):
        return "bilou_ner"
    if any(doc.spans for doc in docs):
        return "spancat"
    if any(doc.has_annotation("TAG") for doc in docs):
        return "tagger"
    raise SpanftError(
        f"{shown(path)} has no annotations to learn. Name the task with --pipeline: "
        f"{', '.join(TASKS)}."
    )
