"""Finds the components of a config that can use spans."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from spacy import blank
from spacy.util import registry

from ..errors import SpanftError
from ..util import SPAN_BLOCKS

# The factories whose models can pool spans, and whether their labels are exclusive.
CLASSIFIERS = {"textcat": True, "textcat_multilabel": False, "text_regressor": False}
# These are changed by default; other components with a tok2vec can be named.
TOKEN_HEADS = ("ner", "beam_ner", "bilou_ner", "spancat", "spancat_singlelabel")

Blocks = dict[str, dict[str, Any]]


def heads_of(names: Sequence[str], pipeline: list[str], blocks: Blocks) -> list[str]:
    """Return the named components, or the usual ones, in the order of the pipeline."""
    for name in names:
        if name not in pipeline:
            there = ", ".join(pipeline)
            raise SpanftError(f"There is no {name!r} in [nlp] pipeline: {there}.")
        if not (is_classifier(blocks[name]) or "tok2vec" in model_of(blocks[name])):
            raise _no_head([name])
    if names:
        return [name for name in pipeline if name in names]
    factories = (*CLASSIFIERS, *TOKEN_HEADS)
    usual = [n for n in pipeline if blocks[n].get("factory") in factories]
    if not usual:
        raise _no_head(pipeline)
    return usual


def is_classifier(block: dict[str, Any]) -> bool:
    """Whether a component's model can pool the spans of a text."""
    return block.get("factory") in CLASSIFIERS


def model_of(block: dict[str, Any]) -> dict[str, Any]:
    """Return a component's model block, or the default one of its factory."""
    if block.get("model"):
        model: dict[str, Any] = block["model"]
        return model
    nlp = blank("en")  # which registers spaCy's own factories
    factory = block.get("factory", "")
    if not nlp.has_factory(factory):
        return {}
    registry.get("factories", factory)  # imports those of other packages
    default: Any = nlp.get_factory_meta(factory).default_config
    return deepcopy(dict(default.get("model", {})))


def span_block(component: dict[str, Any]) -> dict[str, Any] | None:
    """Return the block that can use spans: a component's model, or its tok2vec."""
    model = component.get("model", {})
    blocks = (model, model.get("tok2vec", {}))
    return next((b for b in blocks if b.get("@architectures") in SPAN_BLOCKS), None)


def first_of(pipeline: list[str], blocks: Blocks, *factories: str) -> str | None:
    """Return the first component that one of the factories makes."""
    return next((n for n in pipeline if blocks[n].get("factory") in factories), None)


def _no_head(pipeline: list[str]) -> SpanftError:
    factories = ", ".join((*CLASSIFIERS, *TOKEN_HEADS))
    return SpanftError(
        f"Nothing in the pipeline can use spans: {', '.join(pipeline) or 'empty'}. It "
        f"takes a component of {factories}, or, named by --component, another with a "
        "tok2vec; its block must have a factory, not a source."
    )
