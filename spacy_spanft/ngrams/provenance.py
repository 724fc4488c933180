"""Where a dictionary comes from, in its file and for people to read."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from importlib.metadata import version
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..util import __title__, __version__
from .counting.settings import Settings

if TYPE_CHECKING:
    from .dictionary import NgramDictionary


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
        """Describe a count of corpora."""
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
        """Return the fields, as JSON can hold them."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Provenance":
        """Read the fields from what JSON held. Unknown ones are left out."""
        known = {f.name: values[f.name] for f in fields(cls) if f.name in values}
        for name in ("sources", "steps"):
            known[name] = tuple(map(str, known.get(name, ())))
        for name in ("n_tokens", "max_n", "min_count"):
            known[name] = int(known.get(name, 0))
        return cls(**known)

    def after(self, step: str) -> "Provenance":
        """Return the provenance after another step."""
        return replace(self, steps=(*self.steps, step))

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


def facts_of(dictionary: "NgramDictionary") -> list[tuple[str, str]]:
    """Return where a dictionary comes from and its sizes, as rows of a table."""
    origin = dictionary.provenance
    return [
        ("n-grams", f"{len(dictionary):,}"),
        *((f"  of {n} words", f"{size:,}") for n, size in dictionary.sizes().items()),
        ("source", ", ".join(origin.sources) or "unknown"),
        ("tokens counted", f"{origin.n_tokens:,}"),
        ("tokenizer", origin.tokenizer or "unknown"),
        ("case", "folded" if dictionary.attr == "LOWER" else "kept"),
        ("largest n", str(origin.max_n)),
        ("smallest count", str(origin.min_count)),
        ("made with", origin.made_with or "unknown"),
        *(("then", step) for step in origin.steps),
        ("most frequent", ", ".join(islice(dictionary, 5)) or "(none)"),
    ]
