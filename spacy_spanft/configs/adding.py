"""Puts heads over spans or windows, and the segmenter, into a config of one's own."""

import re
from collections.abc import Iterable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

from confection import Config

from ..errors import Errors, SpanftError, check_setting
from ..pipeline.span_segmenter import DEFAULT_CONFIG
from ..util.names import SEGMENTER, SPAN_BLOCKS
from .encoders import CURATED, LISTENERS, check_curated
from .finding import (
    CLASSIFIERS,
    first_of,
    heads_of,
    is_classifier,
    model_of,
    usual_heads,
)
from .reading import check_blocks, interpolated

PREPARE = "spacy-spanft.prepare_training.v1"
PAIR_TOKENIZER = "spacy-spanft.PairTokenizer.v1"
CLS_TEXTCAT = "spacy-spanft.ClsTextCat.v1"
SPAN_TEXTCAT = "spacy-spanft.SpanTextCat.v1"
FIRST_POOLING = "spacy-spanft.FirstPooling.v1"
SPAN_TOK2VEC = "spacy-spanft.SpanTok2Vec.v2"
# What components look at: the spans of a segmenter, or windows over the text alone.
SEGMENTATIONS = ("spans", "none")

_DICTIONARY = "dictionary"
# What a classifier makes of a text, a pair or a label besides its spans.
_OF_TEXTS = (
    *("summary", "pooler", "pair_separator", "class_weights", "label_smoothing"),
)
_POOLING = {"@architectures": "spacy-spanft.CnnPooling.v1", "kernel_size": 3}
_WINDOWS_ALONE = ', windows over the text without spans (segmentation = "none")'
_LISTENER = {"grad_factor": 1.0, "pooling": {"@layers": "reduce_mean.v1"}}


class Added(NamedTuple):
    """A config with spans, and what was changed in it.

    changes (list[str]): What was done, in words.
    """

    config: Config
    changes: list[str]


def add_spans(
    config: Config,
    dictionary: str | Path | None = None,
    components: Sequence[str] = (),
    segmentation: str | None = None,
) -> Added:
    """Give components of a config the spans of a segmenter, or windows over the text.

    A text classifier gets another model, which pools spans. The model of anything else
    stays, and its tok2vec is wrapped, so that tokens know what is around them.

    config (Config): The config, with its variables as they are. It is not changed.
    dictionary (Optional[Union[str, Path]]): The dictionary's file; None takes the
        default one.
    components (Sequence[str]): Their names; none takes all text classifiers, entity
        recognizers and span categorisers.
    segmentation (Optional[str]): "spans" or "none", as the models' own setting; None
        takes spans for texts, and windows for tokens.
    RETURNS (Added): The new config, which differs in the segmenter, the components'
        model blocks, annotating_components and, if it had none, after_init alone.
    """
    is_known = segmentation is None or segmentation in SEGMENTATIONS
    expected = f"null, or one of {', '.join(SEGMENTATIONS)}"
    check_setting("segmentation", segmentation, is_known, expected)
    plain = interpolated(config)
    check_blocks(plain)
    check_curated(plain)
    pipeline = list(plain.get("nlp", {}).get("pipeline", []))
    blocks = plain.get("components", {})
    heads = heads_of(components, pipeline, blocks)
    left = [name for name in heads if _can_change(blocks[name], segmentation)]
    if not left:
        text = "spans" if segmentation == "spans" else "spans or windows"
        names = ", ".join(heads)
        raise SpanftError(Errors.HAS_SPANS.format(what=text, names=names))
    chosen = {n: segmentation or _usual_segmentation(blocks[n]) for n in left}
    new = [name for name in left if span_block(blocks[name]) is None]
    config = _moved(config, [n for n in new if not is_classifier(blocks[n])])
    settings, changes = _what_they_look_at(config, plain, chosen, dictionary)
    for name in usual_heads(pipeline, blocks) if not components else ():
        if name not in heads:
            changes.append(f"{name}: left as it is, its model has no tok2vec.")
    for name in left:
        said = _change(config, plain, name, settings[name])
        changes.append(f"{name}: {said}.")
    changes += _add_callback(config)
    return Added(config, changes)


def _usual_segmentation(component: dict[str, Any]) -> str:
    """Choose what a component looks at if nobody says.

    Entities were found better with windows alone (docs/explanation/results.md); what
    else labels tokens takes the same.
    """
    return "spans" if is_classifier(component) else "none"


def _can_change(component: dict[str, Any], segmentation: str | None) -> bool:
    """Say whether a component looks at nothing yet, or at less than is asked for."""
    block = span_block(component)
    is_bare = block is not None and block.get("segmentation") == "none"
    return block is None or (is_bare and segmentation == "spans")


def _what_they_look_at(
    config: Config,
    plain: Config,
    chosen: dict[str, str],
    dictionary: str | Path | None,
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Make settings of what each component looks at; add a segmenter if one needs it.

    chosen (dict[str, str]): The segmentation of each component.
    RETURNS (tuple[dict[str, dict[str, Any]], list[str]]): The settings of each, and
        what was changed in the config.
    """
    settings: dict[str, dict[str, Any]] = {}
    changes: list[str] = []
    looking = [name for name, one in chosen.items() if one == "spans"]
    if looking:
        segmenter, changes = _add_segmenter(config, plain, looking[0], dictionary)
        key = f"${{components.{segmenter}.spans_key}}"
    elif dictionary is not None:
        raise SpanftError(Errors.UNUSED_DICTIONARY.format(names=", ".join(chosen)))
    for name, segmentation in chosen.items():
        own = {"spans_key": key} if name in looking else {}
        settings[name] = {**own, "segmentation": segmentation}
    return settings, changes


def _change(config: Config, plain: Config, name: str, own: dict[str, Any]) -> str:
    """Let a component look at spans or windows, and say how."""
    block, known = config["components"][name], plain["components"]
    if span_block(known[name]) is not None:
        return _change_segmentation(block, own)
    if is_classifier(known[name]):
        pipeline = list(plain["nlp"]["pipeline"])
        tok2vec = _tok2vec_of(name, block, known, pipeline)
        return _replace_model(block, known[name], tok2vec, own)
    return _wrap_tok2vec(block, known[name], own)


def _change_segmentation(block: dict[str, Any], own: dict[str, Any]) -> str:
    """Let what has windows look at spans, and say so."""
    found: Any = span_block(block)
    found.update(own)
    return f"{found['@architectures']} looks at spans now"


def _replace_model(
    block: dict[str, Any],
    plain: dict[str, Any],
    tok2vec: dict[str, Any],
    own: dict[str, Any],
) -> str:
    """Give a text classifier a model that pools spans, and say so."""
    model = block.get("model", {})
    before = model.get("@architectures", "spaCy's default")
    exclusive = CLASSIFIERS[plain["factory"]]
    block["model"] = _span_model(tok2vec, own, exclusive) | _kept(model)
    return f"{before} became {SPAN_TEXTCAT}{_without_spans(own)}"


def _wrap_tok2vec(
    block: dict[str, Any], plain: dict[str, Any], own: dict[str, Any]
) -> str:
    """Let the tokens of a component know what is around them, and say so."""
    model = block.setdefault("model", model_of(plain))
    model["tok2vec"] = _span_tok2vec(model["tok2vec"], own)
    return f"its tok2vec was put into {SPAN_TOK2VEC}{_without_spans(own)}"


def _without_spans(own: dict[str, Any]) -> str:
    return "" if own["segmentation"] == "spans" else _WINDOWS_ALONE


def _add_callback(config: Config) -> list[str]:
    """Let a config check itself before training, if it does nothing else there."""
    initialize = config.setdefault("initialize", {})
    if initialize.get("after_init"):
        return []
    initialize["after_init"] = {"@callbacks": PREPARE}
    return [f"[initialize.after_init]: {PREPARE}."]


def _moved(config: Config, names: Iterable[str]) -> Config:
    """Copy a config, and make variables follow what moves one block further in."""
    text = config.to_str(interpolate=False)
    for name in names:
        path = f"components.{name}.model.tok2vec"
        text = re.sub(rf"(\$\{{{re.escape(path)})(?=[.:])", r"\1.tok2vec", text)
    return Config().from_str(text, interpolate=False)


def span_block(component: dict[str, Any]) -> dict[str, Any] | None:
    """Find what can look at spans in a component: its model, or its model's tok2vec."""
    model = component.get("model", {})
    parts = (model, model.get("tok2vec", {}))
    found = (one for one in parts if one.get("@architectures") in SPAN_BLOCKS)
    return next(found, None)


def _add_segmenter(
    config: Config, plain: Config, head: str, dictionary: str | Path | None
) -> tuple[str, list[str]]:
    """Put a segmenter in front of the first that needs it, if there is none yet."""
    pipeline = list(plain["nlp"]["pipeline"])
    there = first_of(pipeline, plain["components"], SEGMENTER)
    name = there or _free(SEGMENTER, plain["components"])
    changes = []
    if there is None:
        pipeline.insert(pipeline.index(head), name)
        config["nlp"]["pipeline"] = pipeline
        config["components"][name] = _segmenter_block(plain)
        changes.append(f"{name}: put before {head}.")
    elif pipeline.index(name) > pipeline.index(head):
        pipeline.remove(name)
        pipeline.insert(pipeline.index(head), name)
        config["nlp"]["pipeline"] = pipeline
        changes.append(f"{name}: moved before {head}.")
    training = config.setdefault("training", {})
    annotating = list(plain.get("training", {}).get("annotating_components", []))
    if name not in annotating:
        training["annotating_components"] = [*annotating, name]
        changes.append(f"{name}: one of the annotating_components now.")
    if there is None or dictionary is not None:
        path = None if dictionary is None else str(dictionary)
        initialize = config.setdefault("initialize", {}).setdefault("components", {})
        initialize.setdefault(name, {})["dictionary"] = _path(config, path)
    return name, changes


def _path(config: Config, path: str | None) -> str | None:
    """Put the dictionary among the [paths], if none of that name is there."""
    paths = config.setdefault("paths", {})
    if _DICTIONARY in paths:
        return path
    paths[_DICTIONARY] = path
    return f"${{paths.{_DICTIONARY}}}"


def _segmenter_block(plain: Config) -> dict[str, Any]:
    usual = {key: deepcopy(DEFAULT_CONFIG[key]) for key in ("spans_key", "segmenter")}
    block = {"factory": SEGMENTER, **usual}
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
    encoder = first_of(before, components, *LISTENERS)
    if encoder is None:
        raise SpanftError(Errors.NO_TOK2VEC.format(name=name))
    factory = components[encoder]["factory"]
    block = {"@architectures": LISTENERS[factory], **deepcopy(_LISTENER)}
    if factory == CURATED:  # its listeners ask how wide it is
        block["width"] = f"${{components.{encoder}.model.hidden_width}}"
    return {**block, "upstream": encoder}


def _span_model(
    tok2vec: dict[str, Any], own: dict[str, Any], exclusive: bool
) -> dict[str, Any]:
    return {
        "@architectures": SPAN_TEXTCAT,
        "exclusive_classes": exclusive,
        **own,
        "use_cls": True,
        "summary": "mean",
        "dropout": 0.1,
        "span_pooling": dict(_POOLING),
        "doc_pooling": dict(_POOLING),
        "tok2vec": tok2vec,
    }


def _kept(model: dict[str, Any]) -> dict[str, Any]:
    """Find the settings of our own baseline that mean the same over spans."""
    if model.get("@architectures") != CLS_TEXTCAT:
        return {}
    # What it does not say is what that architecture has by default.
    return {"summary": "cls", **{n: model[n] for n in _OF_TEXTS if n in model}}


def _span_tok2vec(tok2vec: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    return {
        "@architectures": SPAN_TOK2VEC,
        **own,
        "kernel_size": 3,
        "keep_tokens": True,
        # What the listener made of a token's wordpieces stays what is made of them.
        "token_pooling": deepcopy(
            tok2vec.get("pooling", {"@architectures": FIRST_POOLING})
        ),
        "tok2vec": tok2vec,
    }


def _free(name: str, taken: dict[str, Any]) -> str:
    """Find a name that no component has."""
    names = [name, *(f"{name}_{i}" for i in range(2, len(taken) + 3))]
    return next(one for one in names if one not in taken)
