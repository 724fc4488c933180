"""Puts the segmenter and the span architecture into a config of the user's own."""

import configparser
from collections.abc import Iterable
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

from confection import Config
from spacy.util import load_config

from .errors import ConfigError, Errors
from .files import read_whole
from .span_segmenter import DEFAULT_CONFIG

SEGMENTER = "span_segmenter"
PAIR_TOKENIZER = "spacy-spanft.PairTokenizer.v1"
SPAN_TEXTCAT = "spacy-spanft.SpanTextCat.v1"
# The factories whose models can pool spans, and whether a text has one label there.
CLASSIFIERS = {"textcat": True, "textcat_multilabel": False, "text_regressor": False}

_POOLING = {"@architectures": "spacy-spanft.CnnPooling.v1", "kernel_size": 3}
_LISTENER = {
    "@architectures": "spacy-transformers.TransformerListener.v1",
    "grad_factor": 1.0,
    "pooling": {"@layers": "reduce_mean.v1"},
}


class Added(NamedTuple):
    """A config with spans, and what was changed in it.

    config (Config): The config.
    changes (list[str]): What was done, in words.
    """

    config: Config
    changes: list[str]


def read_config(path: str | Path) -> Config:
    """Read a config without filling in its variables.

    path (Union[str, Path]): The file.
    RETURNS (Config): The config.
    """
    read_whole(path)  # says plainly what is wrong with the path
    try:
        return load_config(path, interpolate=False)
    except (ValueError, OSError, configparser.Error) as error:
        raise ConfigError(
            Errors.NOT_A_CONFIG.format(path=str(path), reason=str(error).strip())
        ) from error


def add_spans(config: Config, dictionary: str | Path | None = None) -> Added:
    """Give each text classifier of a config the spans of a segmenter.

    config (Config): The config, with its variables as they are. It is not changed.
    dictionary (Optional[Union[str, Path]]): The dictionary's file; None takes the
        default one.
    RETURNS (Added): The new config, which differs in the segmenter, the classifiers'
        model blocks and annotating_components alone.
    """
    config = config.copy()
    plain = _interpolated(config)
    pipeline = list(plain.get("nlp", {}).get("pipeline", []))
    components = plain.get("components", {})
    heads = [n for n in pipeline if components.get(n, {}).get("factory") in CLASSIFIERS]
    if not heads:
        raise ConfigError(_no_head(pipeline, components))
    left = [n for n in heads if not _has_spans(components[n])]
    if not left:
        raise ConfigError(Errors.HAS_SPANS.format(names=", ".join(heads)))
    segmenter, changes = _add_segmenter(config, plain, left[0], dictionary)
    for name in left:
        block = config["components"][name]
        before = block.get("model", {}).get("@architectures", "spaCy's default")
        factory = components[name]["factory"]
        tok2vec = _tok2vec_of(name, block, components, pipeline)
        block["model"] = _span_model(tok2vec, segmenter, CLASSIFIERS[factory])
        changes.append(f"{name}: {before} became {SPAN_TEXTCAT}.")
    return Added(config, changes)


def _interpolated(config: Config) -> Config:
    try:
        return config.interpolate()
    except ValueError as error:
        reason = str(error).strip()
        raise ConfigError(Errors.BAD_VARIABLES.format(reason=reason)) from error


def _no_head(pipeline: list[str], components: dict[str, Any]) -> str:
    """Say why there is nothing that could get spans."""
    for name in pipeline:
        source = components.get(name, {}).get("source")
        if source is not None:
            return Errors.SOURCED.format(name=name, source=source)
    there = ", ".join(pipeline) or "nothing"
    return Errors.NO_HEAD.format(there=there, factories=" or ".join(CLASSIFIERS))


def _has_spans(block: dict[str, Any]) -> bool:
    return block.get("model", {}).get("@architectures") == SPAN_TEXTCAT


def _add_segmenter(
    config: Config, plain: Config, head: str, dictionary: str | Path | None
) -> tuple[str, list[str]]:
    """Put a segmenter in front of the first classifier, if there is none yet."""
    pipeline = list(plain["nlp"]["pipeline"])
    there = _first(pipeline, plain["components"], SEGMENTER)
    name = there or _free(SEGMENTER, plain["components"])
    changes = []
    if there is None:
        pipeline.insert(pipeline.index(head), name)
        config["nlp"]["pipeline"] = pipeline
        config["components"][name] = _segmenter_block(plain)
        changes.append(f"{name}: put before {head}.")
    training = config.setdefault("training", {})
    annotating = list(plain.get("training", {}).get("annotating_components", []))
    if name not in annotating:
        training["annotating_components"] = [*annotating, name]
        changes.append(f"{name}: one of the annotating_components now.")
    if there is None or dictionary is not None:
        initialize = config.setdefault("initialize", {}).setdefault("components", {})
        path = None if dictionary is None else str(dictionary)
        initialize.setdefault(name, {})["dictionary"] = path
    return name, changes


def _segmenter_block(plain: Config) -> dict[str, Any]:
    block = {"factory": SEGMENTER, **deepcopy(DEFAULT_CONFIG)}
    if plain["nlp"].get("tokenizer", {}).get("@tokenizers") == PAIR_TOKENIZER:
        block["separator"] = "${nlp.tokenizer.separator}"
    return block


def _tok2vec_of(
    name: str, block: dict[str, Any], components: dict[str, Any], pipeline: list[str]
) -> dict[str, Any]:
    """Find what the classifier got its vectors from, or the transformer."""
    tok2vec: dict[str, Any] | None = block.get("model", {}).get("tok2vec")
    if tok2vec is not None:
        return tok2vec
    before = pipeline[: pipeline.index(name)]
    transformer = _first(before, components, "transformer")
    if transformer is None:
        raise ConfigError(Errors.NO_TOK2VEC.format(name=name))
    return {**deepcopy(_LISTENER), "upstream": transformer}


def _span_model(
    tok2vec: dict[str, Any], segmenter: str, exclusive: bool
) -> dict[str, Any]:
    return {
        "@architectures": SPAN_TEXTCAT,
        "exclusive_classes": exclusive,
        "spans_key": f"${{components.{segmenter}.spans_key}}",
        "segmentation": "spans",
        "use_cls": True,
        "dropout": 0.1,
        "max_pieces": None,
        "max_rows": None,
        "nO": None,
        "span_pooling": dict(_POOLING),
        "doc_pooling": dict(_POOLING),
        "tok2vec": tok2vec,
    }


def _first(
    pipeline: Iterable[str], components: dict[str, Any], factory: str
) -> str | None:
    """Find the first component that a factory makes."""
    return next(
        (n for n in pipeline if components.get(n, {}).get("factory") == factory), None
    )


def _free(name: str, taken: dict[str, Any]) -> str:
    """Find a name that no component has."""
    names = [name, *(f"{name}_{i}" for i in range(2, len(taken) + 3))]
    return next(one for one in names if one not in taken)
