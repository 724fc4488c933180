"""Checks before training of names that are misspelled, which spaCy ignores."""

import sys
from types import FrameType
from typing import Any

from confection import Config
from spacy.language import Language
from spacy.schemas import ConfigSchemaInit, ConfigSchemaNlp, ConfigSchemaTraining
from spacy.training.initialize import init_nlp

from ...errors import Errors, SpanftError
from ...errors.shortening import listed, meant

_SCHEMAS = {
    "nlp": ConfigSchemaNlp,
    "training": ConfigSchemaTraining,
    "initialize": ConfigSchemaInit,
}


def check_names() -> None:
    """Raise for a setting of spaCy's that spaCy does not know, in a training.

    It is dropped when the pipeline is made, and so is in no config any more.
    """
    config = _config_as_given()
    if config is None:
        return
    for section, schema in _SCHEMAS.items():
        known = [*schema.__annotations__]
        for name, value in config.get(section, {}).items():
            if name not in known:
                place = {"place": f"[{section}] {name}", "value": value}
                raise SpanftError(
                    Errors.UNREAD_SETTING.format(
                        **place, hint=meant(name, known), known=", ".join(sorted(known))
                    )
                )


def _config_as_given() -> Config | None:
    """Find the config as `spacy train` got it: no callback is given that."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code is not init_nlp.__code__:
        frame = frame.f_back
    config = None if frame is None else frame.f_locals.get("raw_config")
    return config if isinstance(config, Config) else None


def check_initialized(nlp: Language, config: Any) -> None:
    """Raise for a block of [initialize.components] whose component is not there.

    spaCy ignores it, so that a component begins with defaults: a segmenter with
    another dictionary.

    config (Config): Its config, interpolated.
    """
    # Those that are frozen, or sourced, are disabled while others are initialized.
    there = nlp.component_names
    for name in config.get("initialize", {}).get("components") or {}:
        if name not in there:
            place = {"name": name, "hint": meant(name, there), "there": listed(there)}
            raise SpanftError(Errors.NOT_INITIALIZED.format(**place))
