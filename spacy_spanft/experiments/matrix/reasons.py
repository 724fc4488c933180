"""Why settings are invalid, without what only Python calls so."""

import inspect
import re
from collections.abc import Iterable
from typing import Any

from spacy.util import registry

from ...errors import shown
from ...errors.shortening import meant

_KINDS = {
    "<class 'bool'>": "true or false",
    "<class 'int'>": "a whole number",
    "<class 'float'>": "a number",
    "<class 'str'>": "a text",
}
_CHOICE = re.compile(r"typing\.Literal\[(.*)\]")
_UNEXPECTED = "unexpected argument"


def reasons_of(errors: Iterable[Any]) -> str:
    """Say what is wrong with the blocks of functions.

    errors (Iterable[Any]): What `ConfigValidationError` lists.
    RETURNS (str): Each place with what is wrong there.
    """
    return "; ".join(f"{_place_of(one)}: {_in_words(one['msg'])}" for one in errors)


def reasons_of_types(
    section: str, values: dict[str, Any], errors: Iterable[Any]
) -> str:
    """Say which settings of a section have a wrong type, each once.

    section (str): Its name.
    values (dict[str, Any]): Its settings.
    errors (Iterable[Any]): What `ConfigValidationError` lists of them.
    RETURNS (str): Each place with what is wrong there; nothing for other settings.
    """
    found: dict[str, str] = {}
    for one in errors:
        if (name := one["loc"][0]) in values:
            said = str(one["msg"]).replace(
                "Input should", f"{shown(values[name])} should"
            )
            found.setdefault(f"{section}.{name}", said)
    return "; ".join(map(": ".join, found.items()))


def hint_of(place: str, block: dict[str, Any], errors: Iterable[Any]) -> str:
    """Ask whether another argument of a function was meant.

    place (str): Where in the config the block is.
    block (dict[str, Any]): The block that was checked.
    errors (Iterable[Any]): What `ConfigValidationError` lists of it.
    RETURNS (str): A question, after a space; nothing if none is near.
    """
    for one in errors:
        if str(one["msg"]).startswith(_UNEXPECTED):
            *sections, name = _place_of(one).removeprefix(f"{place}.").split(".")
            inner: Any = block
            for section in sections:
                inner = inner[section]
            function = registry.get(*registry.get_constructor(inner))
            return meant(name, [*inspect.signature(function).parameters])
    return ""


def _place_of(error: Any) -> str:
    return ".".join(map(str, error.get("loc", ())))


def _in_words(message: Any) -> str:
    """Say what a setting takes as people say it who write configs."""
    said = str(message).removeprefix("at root: ")
    value, _, kind = said.rpartition(" is not ")
    if choice := _CHOICE.fullmatch(kind):
        return f"{value} is none of {choice[1]}"
    if "<" in kind or "[" in kind or "." in kind:
        return f"{value} is not {_KINDS.get(kind, 'what it takes')}"
    return said
