"""Errors that a user can fix, warnings, and values as their messages show them.

A message stands where it is raised: what was wrong, the value, and what to do. The
command line prints it alone, without a traceback.
"""

import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice
from typing import Any

# Of one value, of the reason of an error, and of a list of values.
_MAX_VALUE, _MAX_REASON, _MAX_LIST, _MAX_LISTED = 200, 500, 450, 10
# What moves the cursor, changes the direction of writing, or cannot be written.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
# What may stay where a text has several lines.
LAYOUT = "\n\t"


class SpanftError(ValueError):
    """Wrong input that the user can fix."""


def check_setting(name: str, value: object, is_right: bool, expected: str) -> None:
    """Raise for a setting that cannot be used, with what it must be: "1 or more"."""
    if not is_right:
        raise SpanftError(f"{name} is {shown(value)}, but must be {expected}.")


def check_number(
    name: str, value: object, is_right: Callable[[float], bool], expected: str
) -> None:
    """Raise for a setting that is not a number, such as "0.1", or a wrong one."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    check_setting(name, value, is_number and is_right(value), expected)  # type: ignore[arg-type]


@contextmanager
def reported(message: str, *errors: type[Exception]) -> Iterator[None]:
    """Raise such errors as a SpanftError: the message, and their own in one line."""
    try:
        yield
    except SpanftError:
        raise
    except errors as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise SpanftError(f"{message}: {_cut(reason, _MAX_REASON)}") from error


def warn(message: str) -> None:
    """Warn of what the user may not have meant."""
    warnings.warn(message, stacklevel=3)


def report(message: str) -> None:
    """Print to the standard error, without characters that move the cursor."""
    print(visible(message, keep="\n"), file=sys.stderr)


def shown(value: Any) -> str:
    """Return the `repr` of a value, cut in the middle to 200 characters."""
    return _cut(repr(value), _MAX_VALUE)


def listed(values: Collection[Any]) -> str:
    """Return the `repr` of the first values, and how many more there are, or "none"."""
    names = _cut(", ".join(map(shown, islice(values, _MAX_LISTED))), _MAX_LIST)
    n_more = len(values) - _MAX_LISTED
    return f"{names} and {n_more:,} more" if n_more > 0 else names or "none"


def counted(n: int, noun: str) -> str:
    """Return a number and its noun: "1 label", or "2,000 labels"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def meant(name: str, known: Collection[str], cutoff: float = 0.6) -> str:
    """Return the question whether a known name was meant, if one is similar."""
    near = get_close_matches(name, known, 1, cutoff)
    return f" Is {near[0]!r} meant?" if near else ""


def visible(text: str, keep: str = "") -> str:
    r"""Return a text with \x1b in the place of ESC, which a terminal would obey."""
    return _HIDDEN.sub(
        lambda match: match[0] if match[0] in keep else ascii(match[0])[1:-1], text
    )


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    n_last = longest // 3
    return f"{text[: longest - n_last - 3]}...{text[len(text) - n_last :]}"
