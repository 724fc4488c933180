"""How to count n-grams: the settings and their defaults."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, TypeAlias, TypedDict, get_args

from ...errors import SpanftError, check_setting

LARGEST_N = 255

Attr: TypeAlias = Literal["LOWER", "ORTH"]
Tokenizer: TypeAlias = Callable[[str], Any]


class CountSettings(TypedDict, total=False):
    """How to count, alike for every source of text.

    tokenizer (Union[str, Callable]): A language code ("en", the default), "whitespace"
        for text that is tokenized already, or a tokenizer such as nlp.tokenizer.
    attr (str): "LOWER" (the default) folds case, "ORTH" keeps it.
    max_n (int): The largest n (5).
    min_count (int): How often an n-gram must occur to be kept (10).
    n_process (int): The number of processes that tokenize (1).
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
        check_attr(self.attr)
        check_setting("n_process", self.n_process, self.n_process >= 1, "1 or more")


def check_attr(attr: object) -> None:
    """Raise for an attribute other than "LOWER" and "ORTH"."""
    if attr not in get_args(Attr):
        raise SpanftError(f"attr is {attr!r}, but it must be 'LOWER' or 'ORTH'.")


def check_limits(max_n: int, min_count: int) -> None:
    """Raise for a largest n or a smallest count that is out of range."""
    is_n = isinstance(max_n, Integral) and 2 <= max_n <= LARGEST_N
    check_setting("max_n", max_n, is_n, f"a whole number from 2 to {LARGEST_N}")
    is_count = isinstance(min_count, Integral) and min_count >= 1
    check_setting("min_count", min_count, is_count, "a whole number of 1 or more")
