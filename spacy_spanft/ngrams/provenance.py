"""Where a dictionary comes from."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from importlib.metadata import version
from typing import Any

from ..errors import shown
from ..util.about import __title__, __version__
from .counting.settings import Settings, is_whole
from .counts import LONGEST_COUNT


@dataclass(frozen=True)
class Provenance:
    """Where a dictionary comes from, kept inside its file.

    sources (tuple[str, ...]): The corpora.
    tokenizer (str): What cut them into tokens.
    n_tokens (int): How many tokens they have; the N of PMI.
    max_n (int): The largest n counted.
    min_count (int): How often an n-gram had to occur.
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
    def of_count(
        cls, sources: Iterable[str], settings: Settings, n_tokens: int
    ) -> "Provenance":
        """Describe a count.

        sources (Iterable[str]): The corpora.
        settings (Settings): How they were counted.
        n_tokens (int): How many tokens they have.
        RETURNS (Provenance): The provenance of the counts.
        """
        name = settings.tokenizer
        if not isinstance(name, str):
            name = f"{type(name).__module__}.{type(name).__qualname__}"
        return cls(
            sources=tuple(sources),
            tokenizer=name,
            n_tokens=n_tokens,
            max_n=settings.max_n,
            min_count=settings.min_count,
            made_with=f"{__title__} {__version__}, spacy {version('spacy')}",
        )

    def to_dict(self) -> dict[str, Any]:
        """Turn it into what JSON can say.

        RETURNS (dict[str, Any]): The fields.
        """
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Provenance":
        """Read it from what JSON said. Unknown fields are left out.

        values (dict[str, Any]): The fields.
        RETURNS (Provenance): The provenance.
        """
        known: dict[str, Any] = {
            field.name: values[field.name]
            for field in fields(cls)
            if field.name in values
        }
        for name, value in known.items():
            kind = type(getattr(cls(), name))
            is_known = isinstance(value, list | tuple if kind is tuple else kind)
            if not is_known or (kind is int and not _is_count(value)):
                raise TypeError(f"{name} is {shown(value)}")
        for name in ("sources", "steps"):
            known[name] = tuple(map(str, known.get(name, ())))
        return cls(**known)

    def after(self, step: str) -> "Provenance":
        """Note what was done to the dictionary.

        step (str): What was done.
        RETURNS (Provenance): The provenance of the result.
        """
        return replace(self, steps=(*self.steps, step))

    def merged(self, other: "Provenance") -> "Provenance":
        """Join the provenances of two dictionaries whose counts are added.

        other (Provenance): That of the other dictionary.
        RETURNS (Provenance): The provenance of the result.
        """
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


def _is_count(value: object) -> bool:
    return is_whole(value) and 0 <= value < 10**LONGEST_COUNT  # type: ignore[operator]
