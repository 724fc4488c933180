"""Whether all functions that a config names are there, without building anything."""

from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from confection import Config
from spacy.language import Language

from ...errors import Errors, SpanftError, shown
from ...util.languages import blank
from ..hook import registry

_OURS = __package__.partition(".")[0]


def check_names(config: Config, who: str) -> None:
    """Raise for the name of a function or of a factory that nobody registered.

    config (Config): The config, its variables filled in.
    who (str): Whose it is, for the error.
    """
    nlp = blank_of(config["nlp"]["lang"])
    for place, kind, name in _names(config):
        is_factory = kind == "factories" and isinstance(name, str)
        if not (nlp.has_factory(name) if is_factory else _is_known(kind, name)):
            text = {"who": who, "place": place, "name": shown(name)}
            known = ", ".join(_ours(kind)) or "none of that kind"
            raise SpanftError(Errors.NOT_REGISTERED.format(**text, known=known))


@cache
def blank_of(lang: str) -> Language:
    """Make an empty pipeline, once.

    lang (str): The language.
    RETURNS (Language): The pipeline.
    """
    # A pipeline, even an empty one, makes the factories known, and with them what the
    # packages that they are of have registered.
    return blank(lang)


def _names(config: Config) -> Iterator[tuple[str, str, Any]]:
    """Find all names of functions: where they are, of which registry, and the name."""
    for name, block in config["components"].items():
        if isinstance(block, dict) and block.get("factory") is not None:
            yield f"components.{name}.factory", "factories", block["factory"]
    left: list[tuple[str, Any]] = list(config.items())
    while left:
        place, block = left.pop()
        for key, value in block.items() if isinstance(block, dict) else ():
            if key.startswith("@"):
                yield f"{place}.{key}", key[1:], value
            else:
                left.append((f"{place}.{key}", value))


def _is_known(kind: str, name: Any) -> bool:
    return isinstance(name, str) and bool(registry.has(kind, name))


def _ours(kind: str) -> list[str]:
    """Give the names that this package has in a registry of spaCy's or of thinc's."""
    groups = [entry_points(group=f"{package}_{kind}") for package in ("spacy", "thinc")]
    found = [entry for group in groups for entry in group]
    return sorted(e.name for e in found if e.value.split(".")[0] == _OURS)
