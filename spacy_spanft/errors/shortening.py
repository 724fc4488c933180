"""Values of any size, shown in messages that stay short."""

from collections.abc import Collection
from difflib import get_close_matches
from itertools import islice
from reprlib import Repr
from string import Formatter
from typing import Any, TypeVar

# Of one value, and of text that lists several or comes from another library.
_LONGEST_VALUE = 200
_LONGEST_TEXT = 500
_N_LISTED = 10

ClassT = TypeVar("ClassT", bound=type)


class _ShortRepr(Repr):
    def repr_int(self, x: int, level: int) -> str:
        try:
            return super().repr_int(x, level)
        except ValueError:  # Python writes no number of thousands of digits
            return "a number of thousands of digits"


_REPR = _ShortRepr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = _LONGEST_VALUE


def shown(value: Any) -> str:
    """Show a value as `repr` does, but cut in the middle where that is long.

    value (Any): The value, however large or deep.
    RETURNS (str): 200 characters at most.
    """
    return _cut(_REPR.repr(value), _LONGEST_VALUE)


def listed(values: Collection[Any]) -> str:
    """Show the first values of many, and how many more there are.

    RETURNS (str): Their `repr`, with commas between them; "none" if there are none.
    """
    names = _cut(", ".join(map(shown, islice(values, _N_LISTED))), _LONGEST_TEXT - 50)
    n_more = len(values) - _N_LISTED
    return f"{names} and {n_more:,} more" if n_more > 0 else names or "none"


def counted(n: int, noun: str) -> str:
    """Say how many there are of something.

    noun (str): What it is, in the singular: "label", "more label".
    RETURNS (str): "1 label", or "2,000 labels".
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


class Message(str):
    """A message that shortens whatever its gaps are filled with."""

    __slots__ = ()

    def format(self, *args: object, **gaps: object) -> str:
        """Fill the gaps, as `str.format` does.

        *args (object): What the gaps without names are filled with.
        **gaps (object): What the gaps with names are filled with.
        RETURNS (str): The message.
        """
        return _FORMATTER.vformat(self, args, gaps)


class _ShortFormatter(Formatter):
    def convert_field(self, value: Any, conversion: Any) -> Any:
        if conversion == "r":
            return shown(value)
        return super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> str:
        return _cut(super().format_field(value, format_spec), _LONGEST_TEXT)


_FORMATTER = _ShortFormatter()


def meant(name: str, known: Collection[str]) -> str:
    """Ask whether a name that is known was meant.

    name (str): A name that is not known.
    known (Collection[str]): Those that are.
    RETURNS (str): A question, after a space; nothing if none is near.
    """
    near = get_close_matches(name, known, 1)
    return f" Is {near[0]!r} meant?" if near else ""


def shortened(messages: ClassT) -> ClassT:
    """Make a `Message` of each message in a class.

    messages (type): The class.
    RETURNS (type): The same class.
    """
    for name, text in list(vars(messages).items()):
        if isinstance(text, str) and not name.startswith("_"):
            setattr(messages, name, Message(text))
    return messages


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    n_last = longest // 3
    return f"{text[: longest - n_last - 3]}...{text[len(text) - n_last :]}"
