"""Changes of a config, by the names of its settings, which are checked."""

from collections.abc import Collection
from copy import deepcopy
from typing import Any

from confection import Config
from spacy.schemas import ConfigSchemaNlp, ConfigSchemaTraining

from ..errors import SpanftError, meant

# Settings of sections in which spaCy ignores a misspelled one.
_KNOWN: dict[str, Collection[str]] = {
    "paths": (),
    "nlp": ConfigSchemaNlp.__annotations__,
    "training": ConfigSchemaTraining.__annotations__,
}


def change(config: Config, path: str, value: Any, who: str) -> None:
    """Change a setting or a block of a config in place.

    path (str): Where: "training.dropout".
    who (str): Who changes it, for the error.
    """
    *sections, key = path.split(".")
    block: Any = config
    for section in sections:
        if not isinstance(block.get(section), dict):
            hint = meant(section, block)
            raise SpanftError(f"{who} sets {path!r}, but there is no section.{hint}")
        block = block[section]
    known = {*block, *_KNOWN.get(".".join(sections), [key])}
    if not sections or key not in known:
        hint = f"{meant(key, known)} Known: {', '.join(sorted(known))}."
        raise SpanftError(f"{who} sets {path!r}, which is not a known setting.{hint}")
    block[key] = deepcopy(value)
