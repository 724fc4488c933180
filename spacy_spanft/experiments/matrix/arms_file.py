"""Reads a file of arms without trusting its size, nor that of its aliases."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import srsly
from srsly.ruamel_yaml import SafeLoader, YAMLError, compose
from srsly.ruamel_yaml.nodes import CollectionNode, MappingNode, Node

from ...errors import Errors, SpanftError
from ...util.files import read_whole

# A config of that many settings is none that anybody wrote.
MAX_VALUES = 10_000


def read_arms_file(path: str | Path) -> dict[Any, Any]:
    """Read what a YAML file has under `arms:`.

    path (Union[str, Path]): The file.
    RETURNS (dict[Any, Any]): The settings of each arm, none of them checked.
    """
    try:
        text = read_whole(path).decode("utf8")
        # Before anything is built: an alias in a list of aliases repeats what it is
        # of, and a few lines of them would fill the memory.
        if _n_values(compose(text, Loader=SafeLoader), {}) > MAX_VALUES:
            raise bad_arms(path, f"it has more than {MAX_VALUES:,} values")
        found = srsly.yaml_loads(text)
    except (UnicodeDecodeError, YAMLError, ValueError) as error:
        if isinstance(error, SpanftError):
            raise
        raise bad_arms(path, _reason(error)) from error
    except RecursionError as error:
        raise bad_arms(path, "its values are nested too deeply") from error
    arms = found.get("arms") if isinstance(found, dict) else None
    if not isinstance(arms, dict) or not arms:
        raise bad_arms(path, "it has no list of arms under `arms:`")
    return arms


def bad_arms(path: str | Path, reason: str) -> SpanftError:
    """Make the error that says what is wrong with a file of arms.

    path (Union[str, Path]): The file.
    reason (str): What is wrong.
    """
    return SpanftError(Errors.BAD_ARMS.format(path=path, reason=reason))


def _reason(error: Exception) -> str:
    """Say what the parser found, and where, without its notes for programmers."""
    # srsly puts it into a ValueError. Not all that have a problem have a base class.
    found = error if isinstance(error, YAMLError) else error.__context__
    problem = getattr(found, "problem", None)
    mark = getattr(found, "problem_mark", None)
    if problem is None or mark is None:
        return " ".join(str(error).split()).rstrip(".")
    return f"line {mark.line + 1}, column {mark.column + 1}: {problem}"


def _n_values(node: Node | None, known: dict[int, float]) -> float:
    """Count the values in a node, those of an alias each time that it is used."""
    if not isinstance(node, CollectionNode):
        return 1
    if id(node) not in known:
        known[id(node)] = float("inf")  # what it is for an alias of itself
        known[id(node)] = 1 + sum(_n_values(part, known) for part in _parts(node))
    return known[id(node)]


def _parts(node: CollectionNode) -> Iterator[Node]:
    for part in node.value:
        if isinstance(node, MappingNode):
            yield from part
        else:
            yield part
