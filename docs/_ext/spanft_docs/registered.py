"""Describes what the package registers: every setting, its type and its default."""

import inspect
import json
import re
from collections.abc import Callable, Container, Iterable
from importlib.metadata import EntryPoint, distribution
from typing import Any, NamedTuple

from confection import Config
from spacy.language import Language

from .docstrings import Docstring, in_cell, parse, to_markdown

FACTORIES = "spacy_factories"
_MODULES = re.compile(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])")
_OPENING = re.compile(r"^Build `[^`]+`(: |, )")
# Where settings are described that a docstring leaves out.
_ALIKE = re.compile(r"settings\s+are\s+those\s+of\s+`([^`]+)`")
_LONGEST_DEFAULT = 60  # in a table; what is longer stands below it, as a block
# What spaCy gives to a factory and to `initialize`, and no config.
_GIVEN = {"self", "nlp", "name", "get_examples"}
_REQUIRED = inspect.Parameter.empty


class Setting(NamedTuple):
    """A setting of something registered.

    name (str): Its name.
    type (str): Its type.
    default (Any): What it is if a config does not say; `Parameter.empty` if it must.
    meaning (str): What the docstring says.
    """

    name: str
    type: str
    default: Any
    meaning: str


class Registered(NamedTuple):
    """Something that a config can name.

    group (str): The group of its entry point.
    name (str): Its name.
    doc (Docstring): What its docstring says.
    settings (list[Setting]): What can be set.
    initialize (list[Setting]): For a component: what [initialize.components] takes.
    """

    group: str
    name: str
    doc: Docstring
    settings: list[Setting]
    initialize: list[Setting]


def registered(group: str | None = None) -> list[Registered]:
    """Read what the installed package registers.

    group (Optional[str]): A group of entry points; None takes all but commands.
    RETURNS (list[Registered]): What is registered, by group and name.
    """
    points: Iterable[EntryPoint] = distribution("spacy-spanft").entry_points
    return [
        _describe(point)
        for point in points
        if point.group != "spacy_cli" and group in (None, point.group)
    ]


def registry_page(group: str) -> str:
    """Write the sections of one registry.

    group (str): The group of entry points.
    RETURNS (str): Markdown.
    """
    found = registered(group)
    if not found:
        raise ValueError(f"Nothing is registered in {group!r}.")
    return "\n\n".join(_section(one) for one in found)


def _describe(point: EntryPoint) -> Registered:
    function: Any = point.load()
    doc = parse(inspect.getdoc(function))
    if point.group != FACTORIES:
        return Registered(point.group, point.name, doc, _settings(function, doc), [])
    defaults = Language.get_factory_meta(point.name).default_config
    settings = [
        setting._replace(default=defaults.get(setting.name, setting.default))
        for setting in _settings(function, doc, leave_out=_GIVEN)
    ]
    more = parse(inspect.getdoc(function.initialize))
    initialize = _settings(function.initialize, more, leave_out=_GIVEN)
    return Registered(point.group, point.name, doc, settings, initialize)


def _settings(
    function: Callable[..., Any], doc: Docstring, leave_out: Container[str] = ()
) -> list[Setting]:
    parameters = inspect.signature(function).parameters.values()
    other = _alike(doc)
    return [
        Setting(
            one.name,
            type_name(one.annotation),
            one.default,
            doc.meaning(one.name) or other.meaning(one.name),
        )
        for one in parameters
        if one.name not in leave_out and one.kind is not one.VAR_KEYWORD
    ]


def _alike(doc: Docstring) -> Docstring:
    """Return the docstring that describes the settings which this one leaves out."""
    name = _ALIKE.search(doc.text)
    points: Iterable[EntryPoint] = distribution("spacy-spanft").entry_points
    functions = [p.load() for p in points if name and p.name == name[1]]
    return parse(inspect.getdoc(functions[0]) if functions else "")


def type_name(annotation: Any) -> str:
    """Write a type without the modules that its parts come from.

    annotation (Any): The annotation.
    RETURNS (str): Its name.
    """
    is_class = isinstance(annotation, type) and not hasattr(annotation, "__args__")
    name = annotation.__name__ if is_class else str(annotation)
    return _MODULES.sub("", name).replace("NoneType", "None")


def _section(one: Registered) -> str:
    anchor = re.sub(r"[^a-z0-9]+", "-", one.name.removeprefix("spacy-spanft.").lower())
    text = to_markdown(_OPENING.sub("", one.doc.text))
    parts = [
        f"(registered-{anchor})=",
        f"### `{one.name}`",
        text[:1].upper() + text[1:],
    ]
    parts += _table(one.settings, "Setting")
    blocks = {s.name: s.default for s in one.settings if _is_long(s.default)}
    if blocks:
        block = Config({"components": {one.name: blocks}}).to_str(interpolate=False)
        block = block.replace(f"[components]\n\n[components.{one.name}]\n\n", "")
        parts += ["The defaults that are blocks:", f"```ini\n{block.strip()}\n```"]
    if one.initialize:
        parts.append(f"In `[initialize.components.{one.name}]`:")
        parts += _table(one.initialize, "Setting")
    if one.doc.result is not None and one.group != FACTORIES:
        result = one.doc.result
        parts.append(f"Returns `{result.type}`: {to_markdown(result.meaning)}")
    return "\n\n".join(parts)


def _table(settings: list[Setting], heading: str) -> list[str]:
    if not settings:
        return ["It has no settings."]
    rows = [f"| {heading} | Type | Default | Meaning |", "|---|---|---|---|"]
    for setting in settings:
        cells = (
            f"`{setting.name}`",
            f"`{in_cell(setting.type)}`",
            _default(setting.default),
            in_cell(to_markdown(setting.meaning)),
        )
        rows.append(f"| {' | '.join(cells)} |")
    return ["\n".join(rows)]


def _default(value: Any) -> str:
    """Write a default as a config has it."""
    if value is _REQUIRED:
        return "required"
    return "see below" if _is_long(value) else f"`{in_cell(_in_config(value))}`"


def _is_long(value: Any) -> bool:
    return isinstance(value, dict) and len(_in_config(value)) > _LONGEST_DEFAULT


def _in_config(value: Any) -> str:
    return json.dumps(value)
