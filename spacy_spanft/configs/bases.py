"""A base config for each task: what all have in common, and what the task needs."""

import re
from pathlib import Path
from typing import Any, NamedTuple

from confection import Config

_FOLDER = Path(__file__).parent
_COMMON = "common"


class Task(NamedTuple):
    """What a pipeline is trained for.

    component (str): The component that is trained on top of the transformer.
    what (str): What it finds, in words.
    data (str): The ending of its data.
    note (str): What there is to know of it.
    parts (tuple[str, ...]): What its config is made of, beside what is its own.
    regime (str): How it is trained if nobody says: the name of one of REGIMES.
    """

    component: str
    what: str
    data: str = "spacy"
    note: str = ""
    parts: tuple[str, ...] = ()
    regime: str = "everything"


_WINDOWS = "Long texts are read in windows that overlap: nothing is cut off."
_ENTITIES = f"{_WINDOWS} Gradients are clipped."
_PAIRS = (
    "The data are two columns of texts in a TSV, CSV or JSONL file, named below as in "
    'GLUE. A trained pipeline takes "one text [SEP] another".'
)
_HEAD_FIRST = "head-first"
_SCORE = 'The score is in doc.cats["score"].'
REGRESSOR = "text_regressor"
TASKS = {
    "textcat": Task("textcat", "Text classification, one label a text"),
    "textcat_multilabel": Task(
        "textcat_multilabel", "Text classification, any number of labels a text"
    ),
    "pair": Task(
        "textcat",
        "Text classification, one label a pair of texts",
        "tsv",
        _PAIRS,
        ("textcat", "pairs"),
    ),
    "score": Task(
        REGRESSOR,
        "A score for a pair of texts, such as how alike they are",
        "tsv",
        f"{_PAIRS} {_SCORE}",
        ("text_score", "pairs"),
    ),
    "text_score": Task(REGRESSOR, "A score of a text", note=f"{_WINDOWS} {_SCORE}"),
    # At the rate of a transformer, what labels tokens learns little from few texts.
    "ner": Task(
        "ner",
        "Named entities, transition-based",
        note=_ENTITIES,
        regime=_HEAD_FIRST,
    ),
    "bilou_ner": Task(
        "bilou_ner",
        "Named entities by BILUO tags, a linear layer",
        note=_ENTITIES,
        regime=_HEAD_FIRST,
    ),
    "spancat": Task(
        "spancat",
        'Spans of doc.spans["sc"], which may overlap',
        note=_ENTITIES,
        regime=_HEAD_FIRST,
    ),
    "tagger": Task("tagger", "A tag for each token", note=_WINDOWS, regime=_HEAD_FIRST),
}


def base(task: str) -> Config:
    """Read the config of a task without spans.

    task (str): The name of one of TASKS.
    RETURNS (Config): The config, with its variables as they are. It has neither a
        language nor a transformer yet.
    """
    config = _read(_COMMON)
    for name in (*TASKS[task].parts, task):
        _merge(config, _read(name))
    config["nlp"]["pipeline"] = ["transformer", TASKS[task].component]
    return config


def _read(name: str) -> Config:
    text = (_FOLDER / f"{name}.cfg").read_text("utf8")
    return Config().from_str(_with_parents(text), interpolate=False)


def _with_parents(text: str) -> str:
    """Put the sections before a text whose subsections are all that it has."""
    names = re.findall(r"^\[(.+)\]$", text, re.MULTILINE)
    parents = {
        ".".join(parts[:n])
        for name in names
        for parts in [name.split(".")]
        for n in range(1, len(parts))
    }
    missing = sorted(parents - set(names))
    return "".join(f"[{name}]\n\n" for name in missing) + text


def _merge(config: Any, more: Any) -> None:
    """Write settings over those of a config; a block of another function replaces."""
    for name, value in more.items():
        there = config.get(name)
        if isinstance(value, dict) and isinstance(there, dict) and _alike(there, value):
            _merge(there, value)
        else:
            config[name] = value


def _alike(block: Any, other: Any) -> bool:
    """Say whether blocks are settings of the same function, or of none."""
    names = [key for key in other if key.startswith("@")]
    return all(block.get(key) == other[key] for key in names)
