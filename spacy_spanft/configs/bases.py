"""A base config for each task, merged from the templates beside this file."""

from pathlib import Path
from typing import Any, NamedTuple

from confection import Config

_FOLDER = Path(__file__).parent


class Task(NamedTuple):
    """What a pipeline is trained for.

    component (str): The component that is trained on top of the encoder.
    title (str): What it predicts.
    templates (tuple[str, ...]): The templates over "common", each over the one before.
    note (str): What else there is to know of it.
    regime (str): Its default in REGIMES.
    """

    component: str
    title: str
    templates: tuple[str, ...]
    note: str = ""
    regime: str = "everything"


REGRESSOR = "text_regressor"
_PAIRS = (
    "The data are two columns of texts in a TSV, CSV or JSONL file, named below as in "
    'GLUE. A trained pipeline takes "one text [SEP] another".'
)
_SCORE = 'The score is in doc.cats["score"].'


def _of_texts(name: str, title: str) -> Task:
    return Task(name, f"Text classification, {title}", (name,))


def _of_tokens(name: str, title: str) -> Task:
    # At the rate of a transformer, a token-level head learns little from few texts.
    note = "Long texts are read in overlapping windows."
    return Task(name, title, (name,), note, "head-first")


TASKS = {
    "textcat": _of_texts("textcat", "one label per text"),
    "textcat_multilabel": _of_texts("textcat_multilabel", "any labels per text"),
    "pair": Task(
        *("textcat", "Text classification, one label per pair of texts"),
        *(("textcat", "pairs", "pair"), _PAIRS),
    ),
    "score": Task(
        *(REGRESSOR, "A score per pair of texts, such as their similarity"),
        *(("text_score", "pairs", "score"), f"{_PAIRS} {_SCORE}"),
    ),
    "text_score": Task(REGRESSOR, "A score per text", ("text_score",), _SCORE),
    "ner": _of_tokens("ner", "Named entities, transition-based"),
    "bilou_ner": _of_tokens("bilou_ner", "Named entities, from a BILUO tag per token"),
    "spancat": _of_tokens("spancat", 'Spans in doc.spans["sc"], which may overlap'),
    "tagger": _of_tokens("tagger", "A tag per token"),
}


def base(task: str) -> Config:
    """Read the config of a task without spans, a language or a transformer."""
    config = _read("common")
    for name in TASKS[task].templates:
        _merge(config, _read(name))
    config["nlp"]["pipeline"] = ["transformer", TASKS[task].component]
    return config


def _read(name: str) -> Config:
    return Config().from_disk(_FOLDER / f"{name}.cfg", interpolate=False)


def _merge(config: Any, updates: Any) -> None:
    """Write settings over those of a config; a block of another function replaces.

    As Config.merge does, but settings keep their order.
    """
    for name, value in updates.items():
        known = config.get(name)
        is_block = isinstance(value, dict) and isinstance(known, dict)
        if is_block and all(known.get(k) == value[k] for k in value if k[0] == "@"):
            _merge(known, value)
        else:
            config[name] = value
