"""Checks before training of names that are misspelt, which spaCy passes over."""

from difflib import get_close_matches
from typing import Any

from spacy.language import Language

from .errors import Errors, SettingError
from .errors.shortening import listed


def check_initialized(nlp: Language, config: Any) -> None:
    """Raise for a block of [initialize.components] whose component is not there.

    spaCy passes over it, so that a component begins with defaults: a segmenter with
    another dictionary.

    nlp (Language): The pipeline.
    config (Config): Its config, interpolated.
    """
    # Those that are frozen, or sourced, are disabled while others are initialized.
    there = nlp.component_names
    for name in config.get("initialize", {}).get("components") or {}:
        if name not in there:
            place = {"name": name, "hint": _hint(name, there), "there": listed(there)}
            raise SettingError(Errors.NOT_INITIALIZED.format(**place))


def _hint(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, 1)
    return f" Is {near[0]!r} meant?" if near else ""
