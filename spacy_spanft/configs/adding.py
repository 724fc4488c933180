"""Adds spans or windows, and the segmenter, to components of any config."""

import re
from collections.abc import Iterable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

from confection import Config

from ..errors import SpanftError
from ..pipeline.span_segmenter import DEFAULT_CONFIG
from ..util import SEGMENTER
from .encoders import CURATED, LISTENERS
from .heads import (
    CLASSIFIERS,
    Blocks,
    first_of,
    heads_of,
    is_classifier,
    model_of,
    span_block,
)
from .reading import check_blocks, interpolated

PREPARE = "spacy-spanft.prepare_training.v1"
PAIR_TOKENIZER = "spacy-spanft.PairTokenizer.v1"
CLS_TEXTCAT = "spacy-spanft.ClsTextCat.v1"
SPAN_TEXTCAT = "spacy-spanft.SpanTextCat.v1"
FIRST_POOLING = "spacy-spanft.FirstPooling.v1"
SPAN_TOK2VEC = "spacy-spanft.SpanTok2Vec.v2"

# The settings of our baseline that mean the same over spans.
_OF_TEXTS = ("summary", "pooler", "pair_separator", "class_weights", "label_smoothing")
_POOLING = {"@architectures": "spacy-spanft.CnnPooling.v1", "kernel_size": 3}
_LISTENER = {"grad_factor": 1.0, "pooling": {"@layers": "reduce_mean.v1"}}


class Added(NamedTuple):
    """A config with spans, and a sentence for each change."""

    config: Config
    changes: list[str]


def add_spans(
    config: Config,
    dictionary: str | Path | None = None,
    components: Sequence[str] = (),
    segmentation: str | None = None,
) -> Added:
    """Add to components of a config the spans of a segmenter, or windows over the text.

    A text classifier gets a model that pools spans. All others keep their model, whose
    tok2vec is wrapped, so that each token knows its context.

    config (Config): The config, with its variables as they are. It is not changed.
    dictionary (Optional[Union[str, Path]]): The dictionary's file; None takes the
        default one.
    components (Sequence[str]): Their names; none takes all text classifiers, entity
        recognizers and span categorizers.
    segmentation (Optional[str]): "spans" or "none"; None takes spans for texts, and
        windows for tokens.
    RETURNS (Added): The new config, which differs in the segmenter, the components'
        model blocks, annotating_components and, if it had none, after_init alone.
    """
    plain = interpolated(config)
    check_blocks(plain)
    pipeline = list(plain.get("nlp", {}).get("pipeline", []))
    blocks = plain.get("components", {})
    heads = heads_of(components, pipeline, blocks)
    chosen = {
        # Entities are found better with windows alone (docs/explanation/results.md).
        name: segmentation or ("spans" if is_classifier(blocks[name]) else "none")
        for name in heads
        if _can_change(blocks[name], segmentation)
    }
    if not chosen:
        what = "spans" if segmentation == "spans" else "spans or windows"
        raise SpanftError(f"Nothing to add: {', '.join(heads)} already uses {what}.")
    wrapped = [
        n for n in chosen if not (span_block(blocks[n]) or is_classifier(blocks[n]))
    ]
    config = _with_moved_variables(config, wrapped)
    settings = {name: {"segmentation": value} for name, value in chosen.items()}
    with_spans = [name for name, value in chosen.items() if value == "spans"]
    changes: list[str] = []
    if with_spans:
        segmenter, changes = _add_segmenter(config, plain, with_spans[0], dictionary)
        key = f"${{components.{segmenter}.spans_key}}"
        for name in with_spans:
            settings[name] = {"spans_key": key, **settings[name]}
    elif dictionary is not None:
        raise SpanftError(
            f"--dictionary is for spans, and {', '.join(chosen)} would use windows. "
            "Add --segmentation spans, or leave out --dictionary."
        )
    for name in chosen:
        change = _change(config, plain, name, settings[name])
        changes.append(f"{name}: {change}.")
    initialize = config.setdefault("initialize", {})
    if not initialize.get("after_init"):
        initialize["after_init"] = {"@callbacks": PREPARE}
        changes.append(f"[initialize.after_init]: {PREPARE}.")
    return Added(config, changes)


def _can_change(component: dict[str, Any], segmentation: str | None) -> bool:
    """Whether a component uses neither spans nor windows, or less than is asked for."""
    block = span_block(component)
    is_bare = block is not None and block.get("segmentation") == "none"
    return block is None or (is_bare and segmentation == "spans")


def _with_moved_variables(config: Config, names: Iterable[str]) -> Config:
    """Copy a config, with variables that follow each tok2vec one block further in."""
    text = config.to_str(interpolate=False)
    for name in names:
        path = f"components.{name}.model.tok2vec"
        text = re.sub(rf"(\$\{{{re.escape(path)})(?=[.:])", r"\1.tok2vec", text)
    return Config().from_str(text, interpolate=False)


def _change(config: Config, plain: Config, name: str, settings: dict[str, Any]) -> str:
    """Let a component use spans or windows, and return how."""
    component, known = config["components"][name], plain["components"][name]
    windows = ""
    if settings["segmentation"] == "none":
        windows = ', windows over the text without spans (segmentation = "none")'
    if (block := span_block(component)) is not None:
        block.update(settings)
        return f"{block['@architectures']} uses spans now"
    if is_classifier(known):
        model = component.get("model", {})
        before = model.get("@architectures", "spaCy's default")
        tok2vec = model.get("tok2vec") or _listener(name, plain)
        exclusive = CLASSIFIERS[known["factory"]]
        component["model"] = {
            **_span_model(tok2vec, settings, exclusive),
            **_kept(model),
        }
        return f"{before} became {SPAN_TEXTCAT}{windows}"
    model = component.setdefault("model", model_of(known))
    model["tok2vec"] = _span_tok2vec(model["tok2vec"], settings)
    return f"its tok2vec was put into {SPAN_TOK2VEC}{windows}"


def _add_segmenter(
    config: Config, plain: Config, head: str, dictionary: str | Path | None
) -> tuple[str, list[str]]:
    """Put a segmenter before the first head that needs it, if there is none yet."""
    pipeline = list(plain["nlp"]["pipeline"])
    blocks: Blocks = plain["components"]
    known = first_of(pipeline, blocks, SEGMENTER)
    name = known or _unused_name(SEGMENTER, blocks)
    changes = []
    if known is None:
        config["components"][name] = _segmenter_block(plain)
        changes.append(f"{name}: put before {head}.")
    elif pipeline.index(name) > pipeline.index(head):
        pipeline.remove(name)
        changes.append(f"{name}: moved before {head}.")
    if changes:
        pipeline.insert(pipeline.index(head), name)
        config["nlp"]["pipeline"] = pipeline
    annotating = list(plain.get("training", {}).get("annotating_components", []))
    if name not in annotating:
        training = config.setdefault("training", {})
        training["annotating_components"] = [*annotating, name]
        changes.append(f"{name}: now one of the annotating_components.")
    if known is None or dictionary is not None:
        path = None if dictionary is None else str(dictionary)
        paths = config.setdefault("paths", {})
        if "dictionary" not in paths:
            paths["dictionary"] = path
            path = "${paths.dictionary}"
        initialize = config.setdefault("initialize", {}).setdefault("components", {})
        initialize.setdefault(name, {})["dictionary"] = path
    return name, changes


def _segmenter_block(plain: Config) -> dict[str, Any]:
    settings = {k: deepcopy(DEFAULT_CONFIG[k]) for k in ("spans_key", "segmenter")}
    block = {"factory": SEGMENTER, **settings}
    if plain["nlp"].get("tokenizer", {}).get("@tokenizers") == PAIR_TOKENIZER:
        block["separator"] = "${nlp.tokenizer.separator}"
    return block


def _unused_name(name: str, taken: Iterable[str]) -> str:
    names = [name, *(f"{name}_{i}" for i in range(2, len([*taken]) + 3))]
    return next(free for free in names if free not in taken)


def _listener(name: str, plain: Config) -> dict[str, Any]:
    """Make a listener to the encoder before a classifier that has no tok2vec."""
    pipeline, blocks = plain["nlp"]["pipeline"], plain["components"]
    encoder = first_of(pipeline[: pipeline.index(name)], blocks, *LISTENERS)
    if encoder is None:
        raise SpanftError(
            f"The model of {name!r} has no tok2vec, and no transformer precedes it in "
            "[nlp] pipeline, so there are no vectors to pool. Add one of them; sourced "
            "components are not inspected."
        )
    factory = blocks[encoder]["factory"]
    block = {"@architectures": LISTENERS[factory], **deepcopy(_LISTENER)}
    if factory == CURATED:  # its listeners need its width
        block["width"] = f"${{components.{encoder}.model.hidden_width}}"
    return {**block, "upstream": encoder}


def _span_model(
    tok2vec: dict[str, Any], settings: dict[str, Any], exclusive: bool
) -> dict[str, Any]:
    return {
        "@architectures": SPAN_TEXTCAT,
        "exclusive_classes": exclusive,
        **settings,
        "use_cls": True,
        "summary": "mean",
        "dropout": 0.1,
        "span_pooling": dict(_POOLING),
        "doc_pooling": dict(_POOLING),
        "tok2vec": tok2vec,
    }


def _kept(model: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of our own baseline that mean the same over spans."""
    if model.get("@architectures") != CLS_TEXTCAT:
        return {}
    # A summary that is not set is that architecture's default.
    return {"summary": "cls", **{n: model[n] for n in _OF_TEXTS if n in model}}


def _span_tok2vec(tok2vec: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    # Each token keeps the pooling of its wordpieces.
    pooling = tok2vec.get("pooling", {"@architectures": FIRST_POOLING})
    return {
        "@architectures": SPAN_TOK2VEC,
        **settings,
        "kernel_size": 3,
        "keep_tokens": True,
        "token_pooling": deepcopy(pooling),
        "tok2vec": tok2vec,
    }
