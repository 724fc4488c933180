"""How n-grams are counted, and where a dictionary comes from."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from numbers import Integral
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from ..errors import SpanftError, check_setting

LARGEST_N = 255

Attr: TypeAlias = Literal["LOWER", "ORTH"]
Engine: TypeAlias = Literal["local", "ray"]
Tokenizer: TypeAlias = Callable[[str], Any]


@dataclass(frozen=True)
class Settings:
    """How to count, alike for every source of text.

    tokenizer (Union[str, Callable]): A language code, "whitespace" for text that is
        tokenized already, or a tokenizer such as nlp.tokenizer.
    attr (str): "LOWER" folds case, "ORTH" keeps it.
    max_n (int): The largest n.
    min_count (int): How often an n-gram must occur to be kept.
    n_process (int): The number of processes that tokenize.
    progress (bool): Show progress bars.

    With memory, work or engine "ray", the text waits on disk, in thrice its size:

    memory (Optional[int]): The bytes that counting should use at most.
    engine (str): "local", or "ray" for n_process workers on a Ray cluster.
    address (Optional[str]): The Ray cluster (HOST:PORT); None for that in $RAY_ADDRESS,
        or a new one on this machine.
    work (Optional[Union[str, Path]]): A folder for temporary files, which all machines
        of a cluster can see; None for the system's.
    """

    tokenizer: str | Tokenizer = "en"
    attr: Attr = "LOWER"
    max_n: int = 5
    min_count: int = 10
    n_process: int = 1
    progress: bool = False
    memory: int | None = None
    engine: Engine = "local"
    address: str | None = None
    work: str | Path | None = None

    @property
    def is_bounded(self) -> bool:
        """Whether the text waits on disk."""
        return self.engine == "ray" or self.memory is not None or self.work is not None

    def __post_init__(self) -> None:
        check_limits(self.max_n, self.min_count)
        check_attr(self.attr)
        check_setting("n_process", self.n_process, self.n_process >= 1, "1 or more")
        if self.address is not None and self.engine != "ray":
            raise SpanftError(f"{self.address!r} needs engine='ray' (--engine ray).")


def check_attr(attr: object) -> None:
    """Raise for an attribute other than "LOWER" and "ORTH"."""
    check_setting("attr", attr, attr in get_args(Attr), "'LOWER' or 'ORTH'")


def check_limits(max_n: int, min_count: int) -> None:
    """Raise for a largest n or a smallest count that is out of range."""
    is_n = isinstance(max_n, Integral) and 2 <= max_n <= LARGEST_N
    check_setting("max_n", max_n, is_n, f"a whole number from 2 to {LARGEST_N}")
    is_count = isinstance(min_count, Integral) and min_count >= 1
    check_setting("min_count", min_count, is_count, "a whole number of 1 or more")


@dataclass(frozen=True)
class Provenance:
    """Where a dictionary comes from, kept inside its file.

    n_tokens (int): How many tokens the sources have; the N of PMI.
    made_with (str): The versions of the packages that counted.
    steps (tuple[str, ...]): What was done since: cut, filtered, merged.
    """

    sources: tuple[str, ...] = ()
    tokenizer: str = ""
    n_tokens: int = 0
    max_n: int = 0
    min_count: int = 0
    made_with: str = ""
    steps: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Provenance":
        """Read the fields from what JSON held. Unknown ones are left out."""
        known = {f.name: values[f.name] for f in fields(cls) if f.name in values}
        for name in ("sources", "steps"):
            known[name] = tuple(map(str, known.get(name, ())))
        for name in ("n_tokens", "max_n", "min_count"):
            known[name] = int(known.get(name, 0))
        return cls(**known)

    def merged(self, other: "Provenance") -> "Provenance":
        """Return the provenance of two dictionaries whose counts are added."""
        tokenizers = dict.fromkeys(filter(None, (self.tokenizer, other.tokenizer)))
        return Provenance(
            sources=(*self.sources, *other.sources),
            tokenizer=", ".join(tokenizers),
            n_tokens=self.n_tokens + other.n_tokens,
            max_n=max(self.max_n, other.max_n),
            min_count=max(self.min_count, other.min_count),
            made_with=self.made_with or other.made_with,
            steps=(*self.steps, *other.steps, "merged"),
        )
