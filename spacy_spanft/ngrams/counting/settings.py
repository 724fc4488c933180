"""How to count: the settings, their defaults and their checks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any, Literal, TypeAlias, TypedDict, get_args

from ...errors import DictionaryError, Errors

LARGEST_N = 255

Attr: TypeAlias = Literal["LOWER", "ORTH"]
Tokenizer: TypeAlias = Callable[[str], Any]


class CountSettings(TypedDict, total=False):
    """How to count, alike for every source of text.

    tokenizer (Union[str, Callable]): A language code ("en", the default), "whitespace"
        for text that is tokenized already, or a tokenizer such as nlp.tokenizer.
    attr (str): "LOWER" (the default) folds case, "ORTH" leaves it.
    max_n (int): The largest n (5).
    min_count (int): How often an n-gram must occur to be kept (10).
    n_process (int): How many processes tokenize (1).
    progress (bool): Show progress bars (False).
    """

    tokenizer: str | Tokenizer
    attr: Attr
    max_n: int
    min_count: int
    n_process: int
    progress: bool


@dataclass(frozen=True)
class Settings:
    """The settings with their defaults, checked; see `CountSettings`."""

    tokenizer: str | Tokenizer = "en"
    attr: Attr = "LOWER"
    max_n: int = 5
    min_count: int = 10
    n_process: int = 1
    progress: bool = False

    def __post_init__(self) -> None:
        check_limits(self.max_n, self.min_count)
        if self.attr not in get_args(Attr):
            raise DictionaryError(Errors.BAD_ATTR.format(value=repr(self.attr)))
        if not is_whole(self.n_process) or self.n_process < 1:
            raise DictionaryError(Errors.BAD_PROCESSES.format(value=self.n_process))


def settings_of(given: Mapping[str, Any]) -> Settings:
    """Make settings of what the user has given by name.

    given (Mapping[str, Any]): Settings by name; see `CountSettings`.
    RETURNS (Settings): The settings, checked.
    """
    known = [field.name for field in fields(Settings)]
    for name, value in given.items():
        if name not in known:
            hint = f" Perhaps you mean tokenizer={value!r}." if name == "lang" else ""
            message = Errors.UNKNOWN_SETTING.format(name=name, known=", ".join(known))
            raise DictionaryError(message + hint)
    return Settings(**given)


def check_limits(max_n: int, min_count: int) -> None:
    """Raise for a max_n or a min_count that cannot be.

    max_n (int): The largest n.
    min_count (int): The smallest count.
    """
    if not is_whole(max_n) or not 2 <= max_n <= LARGEST_N:
        raise DictionaryError(Errors.BAD_MAX_N.format(value=max_n))
    if not is_whole(min_count) or min_count < 1:
        raise DictionaryError(Errors.BAD_MIN_COUNT.format(value=min_count))


def is_whole(value: object) -> bool:
    """Say whether a value is a whole number; True and False are none.

    RETURNS (bool): Whether it is one, numpy's included.
    """
    return isinstance(value, Integral) and not isinstance(value, bool)
