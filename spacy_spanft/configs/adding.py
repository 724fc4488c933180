"""Adds spans or windows, and the segmenter, to components of any config."""

from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import NamedTuple

from confection import Config

from ..errors import SpanftError
from ..pipeline.span_segmenter import DEFAULT_SEGMENTER, DEFAULT_SPANS_KEY
from ..util import SEGMENTER, SPAN_BLOCKS
from .encoders import Block, listener, model_of, put_encoder
from .templates import CLASSIFIERS, CURATED, LISTENERS, TOKEN_HEADS, interpolated

PREPARE = "spacy-spanft.prepare_training.v1"
PAIR_TOKENIZER = "spacy-spanft.PairTokenizer.v1"
CLS_TEXTCAT = "spacy-spanft.ClsTextCat.v1"
SPAN_TEXTCAT = "spacy-spanft.SpanTextCat.v1"
FIRST_POOLING = "spacy-spanft.FirstPooling.v1"
SPAN_TOK2VEC = "spacy-spanft.SpanTok2Vec.v2"

# The settings of our baseline that mean the same over spans.
_SETTINGS = ("summary", "pooler", "pair_separator", "class_weights", "label_smoothing")
_POOLING = {"@architectures": "spacy-spanft.CnnPooling.v1", "kernel_size": 3}


class Added(NamedTuple):
    """A config with spans, and a sentence for each change."""

    config: Config
    changes: list[str]


def add_spans(
    config: Config,
    dictionary: str | Path | None = None,
    components: Sequence[str] = (),
    segmentation: str | None = None,
    transformer: str | None = None,
) -> Added:
    """Add to components of a config the spans of a segmenter, or windows over the text.

    A text classifier gets a model that pools spans. All others keep their model, whose
    tok2vec is wrapped, so that each token knows its context.

    config (Config): The config, with its variables as they are. It is not changed.
    dictionary (Optional[Union[str, Path]]): The dictionary's file; None takes the
        default one.
    components (Sequence[str]): Their names; none takes all that usually use spans.
    segmentation (Optional[str]): "spans" or "none"; None takes spans for texts, and
        windows for tokens.
    transformer (Optional[str]): The name or folder of an encoder for all components;
        None keeps the transformer or tok2vec that the config has.
    """
    config, plain = config.copy(), interpolated(config)
    pipeline = plain.get("nlp", {}).get("pipeline", [])
    if missing := {*pipeline} - plain.get("components", {}).keys():
        raise SpanftError(f"The pipeline has no [components.{min(missing)}].")
    changes = [] if transformer is None else put_encoder(config, transformer)
    plain = interpolated(config)
    blocks = plain.get("components", {})
    heads = _heads_of(components, plain, may_be_none=bool(changes))
    chosen = {
        # Entities are found better with windows alone (docs/explanation/results.md).
        name: segmentation or ("spans" if _is_classifier(blocks[name]) else "none")
        for name in heads
        if _can_change(blocks[name], segmentation)
    }
    if not chosen and not changes:
        what = "spans" if segmentation == "spans" else "spans or windows"
        raise SpanftError(f"Nothing to add: {', '.join(heads)} already uses {what}.")
    if with_spans := [name for name, value in chosen.items() if value == "spans"]:
        segmenter, more = _add_segmenter(config, plain, with_spans[0], dictionary)
        changes += more
    elif dictionary is not None:
        raise SpanftError(
            f"--dictionary is for spans, and {', '.join(chosen) or 'no component'} "
            f"would {'use windows' if chosen else 'change'}. Add --segmentation spans, "
            "or leave out --dictionary."
        )
    for name, value in chosen.items():
        settings = {"segmentation": value}
        if value == "spans":
            key = f"${{components.{segmenter}.spans_key}}"
            settings = {"spans_key": key, **settings}
        changes.append(f"{name}: {_change(config, plain, name, settings)}.")
    initialize = config.setdefault("initialize", {})
    if not initialize.get("after_init"):
        initialize["after_init"] = {"@callbacks": PREPARE}
        changes.append(f"[initialize.after_init]: {PREPARE}.")
    elif initialize["after_init"].get("@callbacks") != PREPARE:
        changes.append(f"[initialize.after_init] is your own: let it call {PREPARE}.")
    return Added(config, changes)


def _heads_of(names: Sequence[str], plain: Config, *, may_be_none: bool) -> list[str]:
    """Return the named components, or the usual ones, in the order of the pipeline."""
    pipeline = plain.get("nlp", {}).get("pipeline", [])
    blocks = plain.get("components", {})
    for name in names:
        if name not in pipeline:
            there = ", ".join(pipeline)
            raise SpanftError(f"There is no {name!r} in [nlp] pipeline: {there}.")
    # Others with a tok2vec can be named.
    factories = (*CLASSIFIERS, *TOKEN_HEADS)
    usual = [n for n in pipeline if blocks[n].get("factory") in factories]
    heads = [n for n in pipeline if n in (names or usual)]
    can = [_is_classifier(blocks[n]) or "tok2vec" in model_of(blocks[n]) for n in heads]
    if not all(can) or not (heads or may_be_none):
        raise SpanftError(
            f"Not all of these can use spans: {', '.join(names or pipeline) or 'none'}."
            f" Those of {', '.join(factories)} can, and others with a tok2vec that "
            "--component names, if their block has a factory, not a source."
        )
    return heads


def _is_classifier(block: Block) -> bool:
    """Whether a component's model can pool the spans of a text."""
    return block.get("factory") in CLASSIFIERS


def _span_block(component: Block) -> Block | None:
    """Return the block that can use spans: a component's model, or its tok2vec."""
    model = component.get("model", {})
    blocks = (model, model.get("tok2vec", {}))
    return next((b for b in blocks if b.get("@architectures") in SPAN_BLOCKS), None)


def _can_change(component: Block, segmentation: str | None) -> bool:
    """Whether a component uses neither spans nor windows, or less than is asked for."""
    block = _span_block(component)
    is_bare = block is not None and block.get("segmentation") == "none"
    return block is None or (is_bare and segmentation == "spans")


def _change(config: Config, plain: Config, name: str, settings: Block) -> str:
    """Let a component use spans or windows, and return how."""
    component, known = config["components"][name], plain["components"][name]
    windows = ""
    if settings["segmentation"] == "none":
        windows = ', windows over the text without spans (segmentation = "none")'
    if (block := _span_block(component)) is not None:
        block.update(settings)
        return f"{block['@architectures']} uses spans now"
    if _is_classifier(known):
        model = component.get("model", {})
        before = model.get("@architectures", "spaCy's default")
        kept = {}
        if before == CLS_TEXTCAT:  # whose default is another summary
            kept = {"summary": "cls", **{n: model[n] for n in _SETTINGS if n in model}}
        component["model"] = {
            "@architectures": SPAN_TEXTCAT,
            "exclusive_classes": CLASSIFIERS[known["factory"]],
            **settings,
            "use_cls": True,
            "summary": "mean",
            "dropout": 0.1,
            "span_pooling": dict(_POOLING),
            "doc_pooling": dict(_POOLING),
            "tok2vec": model.get("tok2vec") or _listener(name, plain),
            **kept,
        }
        return f"{before} became {SPAN_TEXTCAT}{windows}"
    model = component.setdefault("model", model_of(known))
    inner = model["tok2vec"]
    pooling = inner.get("pooling", {"@architectures": FIRST_POOLING})
    model["tok2vec"] = {
        "@architectures": SPAN_TOK2VEC,
        **settings,
        "kernel_size": 3,
        "keep_tokens": True,
        # Each token keeps the pooling of its wordpieces.
        "token_pooling": deepcopy(pooling),
        "tok2vec": inner,
    }
    return f"its tok2vec was put into {SPAN_TOK2VEC}{windows}"


def _add_segmenter(
    config: Config, plain: Config, head: str, dictionary: str | Path | None
) -> tuple[str, list[str]]:
    """Put a segmenter before the first head that needs it, if there is none yet."""
    pipeline, blocks = list(plain["nlp"]["pipeline"]), plain["components"]
    known = next((n for n in pipeline if blocks[n].get("factory") == SEGMENTER), None)
    name, changes = known or SEGMENTER, []
    if known is None:
        block: Block = {"factory": SEGMENTER, "spans_key": DEFAULT_SPANS_KEY}
        block["segmenter"] = dict(DEFAULT_SEGMENTER)
        if plain["nlp"].get("tokenizer", {}).get("@tokenizers") == PAIR_TOKENIZER:
            block["separator"] = "${nlp.tokenizer.separator}"
        config["components"][name] = block
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
        paths["dictionary"] = path or paths.get("dictionary")
        initialize = config.setdefault("initialize", {}).setdefault("components", {})
        initialize.setdefault(name, {})["dictionary"] = "${paths.dictionary}"
    return name, changes


def _listener(name: str, plain: Config) -> Block:
    """Make a listener to the encoder before a classifier that has no tok2vec."""
    pipeline, blocks = plain["nlp"]["pipeline"], plain["components"]
    before = pipeline[: pipeline.index(name)]
    encoder = next((n for n in before if blocks[n].get("factory") in LISTENERS), None)
    if encoder is None:
        raise SpanftError(
            f"The model of {name!r} has no tok2vec, and no transformer is before it: "
            "there are no vectors to pool. Add one by --transformer NAME."
        )
    factory = blocks[encoder]["factory"]
    block = listener(factory, encoder)
    if factory == CURATED:  # its listeners need its width
        block["width"] = f"${{components.{encoder}.model.hidden_width}}"
    return block
