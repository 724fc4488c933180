"""Finds the components of a config that can look at spans."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from spacy import blank
from spacy.util import registry

from ..errors import Errors, SpanftError
from .encoders import LISTENERS

# The factories whose models can pool spans, and whether a text has one label there.
CLASSIFIERS = {"textcat": True, "textcat_multilabel": False, "text_regressor": False}
# Those that are changed if nobody says which; others with a tok2vec can be named.
TOKEN_HEADS = ("ner", "beam_ner", "bilou_ner", "spancat", "spancat_singlelabel")


def heads_of(
    names: Sequence[str], pipeline: list[str], blocks: dict[str, Any]
) -> list[str]:
    """Find the components that are to be changed, in the order of the pipeline.

    names (Sequence[str]): Their names; none takes the usual ones.
    pipeline (list[str]): The names of all components.
    blocks (dict[str, Any]): Their blocks.
    RETURNS (list[str]): The names.
    """
    there = ", ".join(pipeline) or "nothing"
    for name in names:
        if name not in pipeline:
            raise SpanftError(Errors.NO_SUCH_COMPONENT.format(name=name, there=there))
        if not (is_classifier(blocks[name]) or "tok2vec" in model_of(blocks[name])):
            raise SpanftError(_no_head([name], blocks))
    if names:
        return [name for name in pipeline if name in names]
    usual = usual_heads(pipeline, blocks)
    if not usual:
        raise SpanftError(_no_head(pipeline, blocks))
    rich = [name for name in usual if _has_vectors(name, blocks, pipeline)]
    return rich or usual


def usual_heads(pipeline: list[str], blocks: dict[str, Any]) -> list[str]:
    """Find the components that are changed if nobody says which."""
    factories = (*CLASSIFIERS, *TOKEN_HEADS)
    return [n for n in pipeline if blocks.get(n, {}).get("factory") in factories]


def _has_vectors(name: str, blocks: dict[str, Any], pipeline: list[str]) -> bool:
    before = pipeline[: pipeline.index(name)]
    is_behind = first_of(before, blocks, *LISTENERS) is not None
    return "tok2vec" in model_of(blocks[name]) or (
        is_classifier(blocks[name]) and is_behind
    )


def is_classifier(block: dict[str, Any]) -> bool:
    """Say whether a component's model can pool the spans of a text."""
    return block.get("factory") in CLASSIFIERS


def model_of(block: dict[str, Any]) -> dict[str, Any]:
    """Get a component's model block, or the one it would have."""
    model: dict[str, Any] = block.get("model") or _default_model(block)
    return model


def _default_model(block: dict[str, Any]) -> dict[str, Any]:
    nlp = blank("en")  # which registers spaCy's own factories
    factory = block.get("factory", "")
    if not nlp.has_factory(factory):
        return {}
    registry.get("factories", factory)  # imports those of other packages
    default: Any = nlp.get_factory_meta(factory).default_config
    return deepcopy(dict(default.get("model", {})))


def _no_head(pipeline: list[str], components: dict[str, Any]) -> str:
    """Say why there is nothing that could get spans."""
    own = {n: components.get(n, {}) for n in pipeline}
    sourced = [n for n, block in own.items() if "source" in block]
    could = any("tok2vec" in model_of(own[n]) for n in own if n not in sourced)
    if sourced and not could:
        return Errors.SOURCED.format(names=", ".join(sourced))
    if not pipeline:
        return Errors.NO_PIPELINE
    nlp = blank("en")
    named = {block["factory"] for block in own.values() if "factory" in block}
    if unknown := sorted(name for name in named if not nlp.has_factory(name)):
        return Errors.UNKNOWN_FACTORIES.format(names=", ".join(unknown))
    there = ", ".join(pipeline)
    factories = ", ".join((*CLASSIFIERS, *TOKEN_HEADS))
    return Errors.NO_HEAD.format(there=there, factories=factories)


def first_of(
    pipeline: list[str], components: dict[str, Any], *factories: str
) -> str | None:
    """Find the first component that one of the factories makes."""
    return next(
        (n for n in pipeline if components.get(n, {}).get("factory") in factories), None
    )
