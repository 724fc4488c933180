"""The parts of a config: the template of a task, and the regime.

Configs that users name are read and changed here, too.
"""

import configparser
from collections.abc import Callable, Collection
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

from confection import Config
from spacy.schemas import ConfigSchemaNlp, ConfigSchemaTraining
from spacy.util import load_config

from ..errors import SpanftError, meant, reported
from ..training.schedules import FREEZE
from ..util.files import check_exists

REGRESSOR = "text_regressor"
# The components that read whole texts and can pool spans, and whether their labels
# exclude each other.
CLASSIFIERS = {"textcat": True, "textcat_multilabel": False, REGRESSOR: False}
# The factories of components that find entities or spans.
TOKEN_HEADS = ("ner", "beam_ner", "bilou_ner", "spancat", "spancat_singlelabel")
CURATED = "curated_transformer"
# The factories of components that share an encoder, and the listeners to each.
LISTENERS = {
    "spanft_encoder": "spacy-spanft.EncoderListener.v1",
    "transformer": "spacy-transformers.TransformerListener.v1",
    CURATED: "spacy-curated-transformers.LastTransformerLayerListener.v1",
}
_HEAD_RATE = 1e-3
_FROZEN_SHARE = 0.1
# Settings of sections in which spaCy ignores a misspelled one.
_KNOWN: dict[str, Collection[str]] = {
    "paths": (),
    "system": ("seed", "gpu_allocator"),
    "nlp": ConfigSchemaNlp.__annotations__,
    "training": ConfigSchemaTraining.__annotations__,
}


class Task(NamedTuple):
    """What a pipeline is trained for.

    templates (tuple[str, ...]): The .cfg files over common.cfg, each over the one
        before, where the component is the "head".
    regime (str): Its default in REGIMES.
    """

    component: str
    title: str
    templates: tuple[str, ...]
    note: str = ""
    regime: str = "everything"


_PAIRS = (
    "The data are two columns of texts in a table, named below as in "
    'GLUE. A trained pipeline takes "one text [SEP] another".'
)
_SCORE = 'The score is in doc.cats["score"].'


# At the rate of a transformer, a token-level head learns little from few texts.
_OF_TOKENS = ("Long texts are read in overlapping windows.", "head-first")
TASKS = {
    "textcat": Task(
        "textcat", "Text classification, one label per text", ("texts", "textcat")
    ),
    "textcat_multilabel": Task(
        "textcat_multilabel",
        "Text classification, any labels per text",
        ("texts", "textcat_multilabel"),
    ),
    "pair": Task(
        "textcat",
        "Text classification, one label per pair of texts",
        ("texts", "textcat", "pairs", "pair"),
        _PAIRS,
    ),
    "score": Task(
        REGRESSOR,
        "A score per pair of texts, such as their similarity",
        ("texts", "text_score", "pairs", "score"),
        f"{_PAIRS} {_SCORE}",
    ),
    "text_score": Task(REGRESSOR, "A score per text", ("texts", "text_score"), _SCORE),
    **{
        name: Task(name, title, (name, "tokens"), *_OF_TOKENS)
        for name, title in (
            ("ner", "Named entities, transition-based"),
            ("bilou_ner", "Named entities, from a BILUO tag per token"),
            ("spancat", 'Spans in doc.spans["sc"], which may overlap'),
            ("tagger", "A tag per token"),
        )
    },
}


def base(task: str) -> Config:
    """Read the config of a task without spans, a language or a transformer."""
    config = Config()
    for name in ("common", *TASKS[task].templates):
        path = Path(__file__).parent / f"{name}.cfg"
        _merge(config, Config().from_disk(path, interpolate=False))
    component = TASKS[task].component
    config["components"][component] = config["components"].pop("head")
    config["nlp"]["pipeline"] = ["transformer", component]
    corpora = config["corpora"]
    corpora["dev"] = {**corpora["train"], "path": "${paths.dev}"}
    return config


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


def _grouped(config: Config) -> None:
    """Train the head at its own rate; learn_rate stays the transformer's."""
    training = config["training"]
    training["before_update"] = {"@callbacks": "spacy-spanft.group_parameters.v1"}
    optimizer = training["optimizer"]
    optimizer["@optimizers"] = "spacy-spanft.GroupedAdam.v1"
    optimizer |= {"layer_decay": 1.0, "decay_biases_and_norms": False}
    optimizer["head_rate"] = {**optimizer["learn_rate"], "initial_rate": _HEAD_RATE}


def _head_first(config: Config) -> None:
    """Freeze the transformer at the beginning (Wang et al., 2019)."""
    _grouped(config)
    training = config["training"]
    training["before_update"] = {
        "@callbacks": FREEZE,
        "until_share": "${training.optimizer.learn_rate.start_share}",
    }
    training["optimizer"]["learn_rate"]["start_share"] = _FROZEN_SHARE


# By the names of --regime: what changes a config of `base`.
REGIMES: dict[str, Callable[[Config], None]] = {
    "everything": lambda config: None,  # it learns at one rate
    "grouped": _grouped,
    "head-first": _head_first,
}


def read_config(path: str | Path) -> Config:
    """Read a config without filling in its variables."""
    check_exists(path)
    kinds = ValueError, OSError, configparser.Error
    with reported(f"{str(path)!r} is not a spaCy config", *kinds):
        return load_config(path, interpolate=False)


def interpolated(config: Config) -> Config:
    """Return a copy of a config with its variables filled in."""
    with reported("The config has an unknown variable", ValueError):
        return config.interpolate()


def change(config: Config, path: str, value: Any, who: str) -> None:
    """Change a setting or a block; path is "training.dropout", who is for the error."""
    *sections, key = path.split(".")
    block: Any = config
    for section in sections:
        if not isinstance(block.get(section), dict):
            hint = meant(section, block)
            raise SpanftError(f"{who} sets {path!r}, but there is no section.{hint}")
        block = block[section]
    known = {*block, *_KNOWN.get(".".join(sections), [key] if sections else [])}
    if key not in known or not sections:
        hint = f"{meant(key, known)} Known: {', '.join(sorted(known))}."
        raise SpanftError(f"{who} sets {path!r}, which is not a known setting.{hint}")
    block[key] = deepcopy(value)
