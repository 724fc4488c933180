"""Checks before training of settings that spaCy accepts and that cannot be meant."""

import json
import warnings
from collections.abc import Iterator
from typing import Any

from confection import Config
from spacy.language import Language

from ...errors import Errors, SpanftError, Warnings
from ...errors.shortening import meant
from ...pipeline.span_segmenter import DEFAULT_SPANS_KEY
from ...util.names import SEGMENTER

# Whether exactly one label is right for what a factory learns.
_EXCLUSIVE = {"textcat": True, "textcat_multilabel": False}
_OURS = "spacy-spanft."
# What spaCy's own default config refers to.
_DEFAULT_PATHS = {"vectors", "init_tok2vec"}


def check_classifiers(nlp: Language, config: Any) -> None:
    """Raise for a text classifier whose model learns another thing than it does.

    config (Config): Its config, interpolated.
    """
    for name in nlp.pipe_names:
        factory = nlp.get_pipe_meta(name).factory
        model = config.get("components", {}).get(name, {}).get("model", {})
        if not str(model.get("@architectures")).startswith(_OURS):
            continue
        expected = _EXCLUSIVE.get(factory)
        found = model.get("exclusive_classes")
        if expected is not None and found is not None and expected != found:
            other = next(f for f, is_one in _EXCLUSIVE.items() if is_one == found)
            place = {"name": name, "factory": factory, "other": other}
            raise SpanftError(
                Errors.EXCLUSIVE_OR_NOT.format(
                    **place, found=_written(found), expected=_written(expected)
                )
            )


def check_spans(nlp: Language, config: Any) -> None:
    """Raise for spans that the component that reads them would not get.

    config (Config): Its config, interpolated.
    """
    # Those that are frozen, or sourced, are disabled while others are initialized.
    names, blocks = nlp.component_names, config.get("components", {})
    for name in names:
        for key in sorted(set(_keys_read(blocks.get(name, {})))):
            writers = [
                other
                for other in names
                if blocks.get(other, {}).get("factory") == SEGMENTER
                and blocks[other].get("spans_key", DEFAULT_SPANS_KEY) == key
            ]
            if writers:  # else something writes it that only it itself knows
                _check_writers(name, key, writers, names, config)


def _check_writers(
    name: str, key: str, writers: list[str], names: list[str], config: Any
) -> None:
    place = {"name": name, "key": key}
    before = [other for other in writers if names.index(other) < names.index(name)]
    if not before:
        writer = writers[0]
        order = [other for other in names if other != writer]
        order.insert(order.index(name), writer)
        place |= {"writer": writer, "pipeline": json.dumps(order)}
        raise SpanftError(Errors.SPANS_AFTER.format(**place))
    training = config.get("training", {})
    annotating = training.get("annotating_components") or []
    is_trained = name not in (training.get("frozen_components") or [])
    if is_trained and not {*before} & {*annotating}:
        place |= {
            "writer": before[0],
            "annotating": json.dumps([*annotating, before[0]]),
        }
        raise SpanftError(Errors.NOT_ANNOTATING.format(**place))


def _keys_read(block: Any) -> Iterator[str]:
    """Find the keys of spans that the models of ours in a block read."""
    if not isinstance(block, dict):
        return
    made = str(block.get("@architectures") or block.get("@misc"))
    if made.startswith(_OURS) and block.get("segmentation") != "none":
        yield from filter(None, [block.get("spans_key")])
    for inner in block.values():
        yield from _keys_read(inner)


def _written(value: bool) -> str:
    return str(value).lower()


def warn_unused_paths(config: Config) -> None:
    """Warn of a setting in [paths] that no other setting refers to: a misspelled one.

    config (Config): The pipeline's config, not interpolated.
    """
    paths = config.get("paths", {})
    text = config.to_str(interpolate=False)
    used = [name for name in paths if f"${{paths.{name}}}" in text]
    # One that was interpolated has no references left but those of spaCy's defaults.
    if "${paths}" in text or not {*used} - _DEFAULT_PATHS:
        return
    for name, value in paths.items():
        if name in used or value is None:
            continue
        place = {"name": name, "value": str(value), "used": ", ".join(used) or "none"}
        place["hint"] = meant(name, used)
        warnings.warn(Warnings.UNUSED_PATH.format(**place), stacklevel=2)
