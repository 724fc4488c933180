"""What a pipeline is to be trained for, and how long its texts are, told from data."""

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from math import ceil, floor
from typing import Any

import spacy
from confection import Config

from ..errors import Errors, SpanftError
from ..errors.shortening import counted
from ..ml.pairs import SEPARATOR
from ..training.readers.columns import SCORE
from ..training.readers.conll import CONLL_ENDING
from ..training.readers.docbins import is_docbins
from ..training.readers.tables import columns_of
from .bases import REGRESSOR, TASKS, base
from .data import Seen, corpus_of, look
from .sources import is_dataset, set_sources

# What reads [CLS] of the first window.
_OF_TEXTS = ("textcat", "textcat_multilabel", REGRESSOR)
# What datasets call the texts of a pair; our configs as the first.
_PAIRS = (
    ("sentence1", "sentence2"),
    ("premise", "hypothesis"),
    ("question1", "question2"),
    ("question", "sentence"),
    ("text", "text_pair"),
)
# What is looked for in the training data.
_WANTED = {
    **dict.fromkeys(("ner", "bilou_ner"), "entities (doc.ents)"),
    **{"spancat": "spans (doc.spans)", "tagger": "tags (token.tag_)"},
    **dict.fromkeys(("score", "text_score"), 'scores (doc.cats["score"])'),
}
# So many Docs tell what is in a file.
_N_DOCS = 1000
# Windows of a classifier whose texts are long, in tokens, and the wordpieces of one.
_LONG = {"window": 384, "stride": 288}
_MAX_LENGTH = 512
# In how many parts their batches are gone through.
_PARTS = 8
# What is trained at least, but for very few texts.
_EPOCHS = 3
_FEWEST_STEPS = 200
_MOST_EPOCHS = 20
# How many texts may be longer than a window.
_SHARE_CUT = 0.05


def guess_columns(path: str, columns: Mapping[str, str]) -> dict[str, str]:
    """Find the column of scores in a table that has such a one, and none of labels.

    path (str): The training data.
    columns (Mapping[str, str]): The names of columns that are known.
    RETURNS (dict[str, str]): The names of columns.
    """
    if {"label", "score"} & columns.keys() or not _is_table(path):
        return dict(columns)
    there = set(columns_of(path))
    is_score = SCORE in there and "label" not in there
    return {**columns, **({"score": SCORE} if is_score else {})}


def guess_task(path: str, columns: Mapping[str, str], lang: str) -> str:
    """Tell what data are for.

    path (str): The training data.
    columns (Mapping[str, str]): The names of columns.
    lang (str): The code of the language.
    RETURNS (str): The name of one of TASKS.
    """
    if _has_pairs(path, columns):
        return "score" if "score" in columns else "pair"
    if CONLL_ENDING.search(path):
        return "bilou_ner"
    if not is_dataset(path) and is_docbins(path):
        return _task_of_docs(path, lang)
    if "score" in columns:
        return "text_score"
    config = base("textcat")
    config["nlp"]["lang"] = lang
    set_sources(config, "textcat", {"train": path, "dev": path}, columns)
    seen = look(config, "textcat", "train")
    return "textcat_multilabel" if seen.n_several else "textcat"


def _is_table(path: str) -> bool:
    return not (CONLL_ENDING.search(path) or is_dataset(path) or is_docbins(path))


def _has_pairs(path: str, columns: Mapping[str, str]) -> bool:
    """Say whether texts come in pairs: a column is given, or has a well-known name."""
    if "text_pair" in columns:
        return True
    is_open = "text" not in columns and _is_table(path)
    return is_open and set(columns_of(path)) >= {*_PAIRS[0]}


def left_out_text(config: Config, path: str) -> str | None:
    """Find the column of a second text in a table of which only one text is read.

    config (Config): The config that reads it.
    path (str): The training data.
    RETURNS (Optional[str]): The column; None if none has a well-known name.
    """
    block = config["corpora"]["train"]
    block = block.get("corpus", block)  # of which a part is held out
    if "text_pair" in block or not _is_table(path):
        return None
    there, text = columns_of(path), block.get("text", "text")
    pairs = (pair for pair in _PAIRS if text in pair and {*pair} <= {*there})
    return next((one for pair in pairs for one in pair if one != text), None)


def score_hint(task: str, seen: Seen, config: Config) -> str | None:
    """Say how to learn a number, where the labels of a classifier are numbers.

    task (str): The name of one of TASKS.
    seen (Seen): The training data.
    config (Config): The config, which names the columns.
    RETURNS (Optional[str]): The hint; None where the labels are not a scale.
    """
    block = config["corpora"]["train"]
    column = block.get("corpus", block).get("label")
    if column is None or task not in ("textcat", "pair") or len(seen.labels) < 3:
        return None
    if not all(re.fullmatch(r"-?\d+(\.\d+)?", label) for label in seen.labels):
        return None
    return f"All labels are numbers. To predict a score instead, add --score {column}."


def check_learnable(seen: Seen, task: str, path: str, lang: str) -> None:
    """Raise for training data that have nothing for a task to learn.

    seen (Seen): What is in them.
    task (str): The name of one of TASKS.
    path (str): The training data.
    lang (str): The code of the language.
    """
    if TASKS[task].component == "textcat" and len(seen.labels) == 1:
        place = {"path": path, "task": task, "label": next(iter(seen.labels))}
        raise SpanftError(Errors.ONE_CLASS.format(**place))
    if seen.labels or seen.scores:
        return
    hint = ""
    if not (CONLL_ENDING.search(path) or is_dataset(path)) and is_docbins(path):
        hint = f" It looks like data for --pipeline {_task_of_docs(path, lang)}."
    wanted = _WANTED.get(task, "labels (doc.cats)")
    place = {"path": path, "task": task, "wanted": wanted, "hint": hint}
    raise SpanftError(Errors.NOTHING_TO_LEARN.format(**place))


def fit_window(config: Config, task: str, seen: Seen) -> str | None:
    """Let a classifier read long texts in longer windows.

    [CLS] of the first window stands for the text.

    config (Config): The config, which is changed.
    task (str): The name of one of TASKS.
    seen (Seen): The training data.
    RETURNS (Optional[str]): What was done, in words.
    """
    model = config["components"]["transformer"]["model"]
    if TASKS[task].component not in _OF_TEXTS or "separator" in model:
        return None
    spans = model.get("get_spans")
    # Our own encoder has windows as long as it can.
    longest = _LONG["window"] if spans is None else spans["stride"]
    n_long = sum(n > longest for n in seen.n_words)
    share = n_long / len(seen.n_words)
    if share <= _SHARE_CUT:
        return None
    if spans is None:
        config["training"]["accumulate_gradient"] = _PARTS
        return (
            f"{share:.0%} of the texts have more than {longest} words. What an encoder "
            f"of {_MAX_LENGTH} wordpieces cannot read at once, it reads in windows, "
            "and [CLS] stands for the first one. A batch is gone through in "
            f"{_PARTS} parts (accumulate_gradient), which takes less memory."
        )
    spans |= _LONG
    model["tokenizer_config"] |= {"model_max_length": _MAX_LENGTH}
    return (
        f"{share:.0%} of the texts are long: the transformer reads {_LONG['window']} "
        f"tokens at a time, which takes more memory."
    )


def fitting_epochs(config: Config, n_texts: int) -> int:
    """Say how many epochs a training should have: 3 of few texts are a few steps.

    Mosbach, Andriushchenko and Klakow (2021, "On the Stability of Fine-tuning BERT")
    train 20 epochs on small data.

    n_texts (int): How many texts there are to train on.
    RETURNS (int): Those of the config, or more.
    """
    n_batches = ceil(n_texts / config["training"]["batcher"]["size"])
    epochs = min(_MOST_EPOCHS, ceil(_FEWEST_STEPS / n_batches))
    return max(epochs, config["training"].get("max_epochs") or _EPOCHS)


def fit_epochs(config: Config, seen: Seen) -> str | None:
    """Let few texts be gone through more often.

    config (Config): The config, which is changed.
    seen (Seen): The training data.
    RETURNS (Optional[str]): What was done, in words.
    """
    n_texts = len(seen.n_words)
    epochs = fitting_epochs(config, n_texts)
    if epochs == config["training"]["max_epochs"]:
        return None
    config["training"]["max_epochs"] = epochs
    texts = counted(n_texts, "training text")
    return f"With only {texts}, the config trains for {epochs} epochs."


def fit_range(config: Config, task: str, seen: Iterable[Seen]) -> str | None:
    """Let a regressor have the range of the scores, if its own does not suit them.

    config (Config): The config, which is changed.
    task (str): The name of one of TASKS.
    seen (Iterable[Seen]): The data.
    RETURNS (Optional[str]): The range, in words; None where no scores are learned.
    """
    if TASKS[task].component != REGRESSOR:
        return None
    block = config["components"][TASKS[task].component]
    scores = [score for one in seen for score in one.scores]
    low, high = min(scores), max(scores)
    if not (block["low"] <= low and block["low"] + 1 < high <= block["high"]):
        block["low"] = float(floor(low))
        block["high"] = float(max(ceil(high), floor(low) + 1))
    scale = f"{block['low']:g} to {block['high']:g}"
    return (
        f"The scores are learned on a scale from {scale} (low and high in the config)."
    )


def _task_of_docs(path: str, lang: str) -> str:
    """Look at what is annotated in spaCy's binary data."""
    corpus: Any = corpus_of({"@readers": "spacy.Corpus.v1", "path": path})
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
    raise SpanftError(Errors.NO_TASK_IN.format(path=path, known=", ".join(TASKS)))
