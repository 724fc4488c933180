"""Describes the command line: every command with its arguments and options.

They are read from the functions' signatures and not from typer's commands, whose
classes differ between its versions.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin

from typer.models import ArgumentInfo, OptionInfo

from .docstrings import in_cell, to_markdown

# Defaults that differ from machine to machine.
_DEPENDS = {"n_process": "the number of CPU cores"}
_TYPES = {str: "text", int: "integer", float: "number", Path: "path"}


class Parameter(NamedTuple):
    """An argument or an option of a command.

    name (str): Its name in the function.
    names (list[str]): How it is written, such as ["--output", "-o"].
    is_option (bool): Whether it is an option.
    type (str): What it takes.
    several (bool): Whether it can be given more than once.
    default (str): What it is if it is not given, in Markdown.
    help (str): What it means.
    """

    name: str
    names: list[str]
    is_option: bool
    type: str
    several: bool
    default: str
    help: str


class Command(NamedTuple):
    """A command.

    name (str): Its name, such as "dictionary top".
    help (str): What it does.
    parameters (list[Parameter]): Its arguments and options.
    """

    name: str
    help: str
    parameters: list[Parameter]


def commands() -> list[Command]:
    """Find all commands.

    RETURNS (list[Command]): The commands.
    """
    from spacy_spanft.cli import spanft

    return [
        Command(name, inspect.getdoc(function) or "", list(_parameters(function)))
        for name, function in _functions(spanft, "")
    ]


def commands_page() -> str:
    """Write the sections of all commands.

    RETURNS (str): Markdown.
    """
    return "\n\n".join(_section(command) for command in commands())


def _functions(app: Any, before: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    for command in app.registered_commands:
        if command.callback is not None:
            name = command.name or command.callback.__name__
            yield f"{before} {name}".strip(), command.callback
    for group in app.registered_groups:
        name = group.name if isinstance(group.name, str) else None
        name = name or group.typer_instance.info.name
        yield from _functions(group.typer_instance, f"{before} {name}".strip())


def _parameters(function: Callable[..., Any]) -> Iterator[Parameter]:
    # Not get_type_hints: in Python 3.10 it hides the notes of what may be None.
    hints = inspect.get_annotations(function, eval_str=True)
    for name, parameter in inspect.signature(function).parameters.items():
        kind, *notes = get_args(hints[name]) or (hints[name],)
        infos = [n for n in notes if isinstance(n, ArgumentInfo | OptionInfo)]
        if infos:
            yield _parameter(name, kind, infos[0], parameter.default)


def _parameter(name: str, kind: Any, info: Any, default: Any) -> Parameter:
    is_option = isinstance(info, OptionInfo)
    # Inside Annotated, typer takes the first name for a default, as here for a name.
    told_names = (info.default, *(info.param_decls or ()))
    names = [one for one in told_names if isinstance(one, str)]
    if not names:
        names = [f"--{name.replace('_', '-')}"] if is_option else [name.upper()]
    plain = [inner for inner in get_args(kind) if inner is not NoneType]
    if type(None) in get_args(kind):  # Optional: there is one other type
        kind = plain[0]
    several = get_origin(kind) is list
    if several:
        (kind,) = get_args(kind)
    told = _DEPENDS.get(name) or _default(default, names)
    return Parameter(
        name, names, is_option, _type(kind), several, told, info.help or ""
    )


def _type(kind: Any) -> str:
    if kind is bool:
        return "flag"
    if get_origin(kind) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(kind))
    return _TYPES.get(kind, getattr(kind, "__name__", str(kind)))


def _default(value: Any, names: list[str]) -> str:
    if value is inspect.Parameter.empty:
        return "required"
    if isinstance(value, bool):
        # --sbo/--no-sbo: what it is; a flag alone is not set.
        on, _, off = names[0].partition("/")
        return f"`{on if value else off}`" if off else ""
    if value is None:
        return ""
    return f"`{value}`"


def _section(command: Command) -> str:
    anchor = re.sub(r"\W+", "-", command.name)
    about = to_markdown(command.help)
    usage = f"```text\npython -m spacy spanft {_usage(command)}\n```"
    parts = [f"(command-{anchor})=", f"## `spanft {command.name}`", about, usage]
    for heading, is_option in (("Argument", False), ("Option", True)):
        some = [one for one in command.parameters if one.is_option == is_option]
        if some:
            parts.append(_table(heading, some))
    return "\n\n".join(part for part in parts if part)


def _usage(command: Command) -> str:
    words = [command.name]
    for one in command.parameters:
        is_required = one.default == "required"
        if one.is_option and is_required:
            words.append(f"{one.names[0]} {one.name.upper()}")
        elif not one.is_option:
            word = one.name.upper() + "..." * one.several
            words.append(word if is_required else f"[{word}]")
    return " ".join([*words, "[OPTIONS]"])


def _table(heading: str, parameters: list[Parameter]) -> str:
    rows = [f"| {heading} | Type | Default | Meaning |", "|---|---|---|---|"]
    for one in parameters:
        names = ", ".join(f"`{name}`" for name in one.names)
        kind = f"{one.type}, repeatable" if one.several else one.type
        cells = (names, kind, one.default, in_cell(to_markdown(one.help)))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)
