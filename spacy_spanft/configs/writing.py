"""How a config is written: each block right before its own subsections."""

import re
from collections.abc import Iterator
from typing import Any

from confection import Config
from spacy.util import CONFIG_SECTION_ORDER


def to_text(config: Config) -> str:
    """Write a config, with its variables as they are.

    Config.to_str puts all sections of a level before those of the next one, so that the
    parts of a model stand far from it.

    RETURNS (str): Its text.
    """
    text = config.to_str(interpolate=False)
    found = re.split(r"\n+(?=^\[)", text, flags=re.MULTILINE)
    sections = {section.split("]")[0][1:]: section for section in found}
    return "\n\n".join(sections[name] for name in _names(config)) + "\n"


def _names(config: Config) -> Iterator[str]:
    places = {name: i for i, name in enumerate(CONFIG_SECTION_ORDER)}
    for name in sorted(config, key=lambda name: places.get(name, len(places))):
        yield from _inside(name, config[name])


def _inside(name: str, block: Any) -> Iterator[str]:
    yield name
    for key, value in block.items():
        if hasattr(value, "items"):
            yield from _inside(f"{name}.{key}", value)
