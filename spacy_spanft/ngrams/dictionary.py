"""The n-gram dictionary: counting it, looking up, cutting, ranking, saving."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import cache
from importlib import resources
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from typing_extensions import Self

from ..errors import SpanftError, check_setting, reported, warn
from ..util import __title__, __version__
from ..util.files import check_exists, write_whole
from ..util.text_files import UTF8, ErrorHandling, checked_files
from .counts import Ranking, check_counts, folded, in_order, pmi, words_in
from .format import pack, unpack
from .provenance import LARGEST_N, Attr, Provenance, Settings, check_attr, check_limits
from .text import blocks_from_texts, blocks_of, texts_from_dataset

DEFAULT_FILES = {"en": "en_wiki2015.tsv.gz"}


class NgramDictionary(Mapping[str, int]):
    """N-grams of two words or more with their counts, most frequent first.

    A mapping that never changes: what cuts, filters or merges returns another one.
    An n-gram is a string with single spaces between its words; where case is folded
    (attr "LOWER"), it is folded in what is looked up as well.
    """

    def __init__(
        self,
        ngrams: Mapping[str, int],
        *,
        words: Mapping[str, int] | None = None,
        attr: Attr = "LOWER",
        provenance: Provenance | None = None,
    ) -> None:
        """Make a dictionary of known counts.

        words (Optional[Mapping[str, int]]): The single words with theirs, for PMI.
        attr (str): "LOWER" if case is folded, "ORTH" if not.
        provenance (Optional[Provenance]): Where the counts come from.
        """
        words = {} if words is None else words
        check_counts(ngrams, words)
        check_attr(attr)
        if attr == "LOWER":
            ngrams, words = folded(ngrams), folded(words)
        self.attr: Attr = attr
        self.provenance = provenance or Provenance()
        self._counts = in_order(ngrams)
        self._words = words_in(self._counts, in_order(words))
        self._packed: bytes | None = None

    @classmethod
    def _trusted(
        cls,
        counts: dict[str, int],
        words: dict[str, int],
        attr: Attr,
        provenance: Provenance,
    ) -> Self:
        """Make a dictionary of counts in order and the words in them, unchecked."""
        self = cls({}, attr=attr, provenance=provenance)
        self._counts, self._words = counts, words
        return self

    # Counting

    @classmethod
    def from_files(
        cls,
        paths: str | Path | Iterable[str | Path],
        *,
        column: str | None = None,
        errors: ErrorHandling = "strict",
        encoding: str = UTF8,
        **settings: Any,
    ) -> Self:
        """Count the n-grams of files: text, CSV, TSV, JSONL or Parquet, by their names.

        All but Parquet may be compressed (.gz, .bz2, .zst).

        paths (Union[str, Path, Iterable]): The files; "-" is the standard input.
        column (Optional[str]): The column of tables that holds the text; None takes
            "text", or the only one that can be meant.
        errors (str): "strict" raises for invalid UTF-8 and for null in the column,
            "replace" puts U+FFFD in place of the one and skips the other.
        **settings: How to count; see `Settings`.
        """
        files = checked_files([paths] if isinstance(paths, str | Path) else paths)
        blocks = blocks_of(files, column=column, errors=errors, encoding=encoding)
        return cls.from_blocks(blocks, files, **settings)

    @classmethod
    def from_texts(
        cls, texts: Iterable[str], *, source: str = "texts", **settings: Any
    ) -> Self:
        """Count the n-grams of texts. An n-gram never crosses a line.

        source (str): What the provenance calls them.
        **settings: How to count; see `Settings`.
        """
        return cls.from_blocks(blocks_from_texts(texts), [source], **settings)

    @classmethod
    def from_dataset(
        cls,
        name: str,
        config: str | None = None,
        *,
        split: str = "train",
        column: str = "text",
        streaming: bool = True,
        **settings: Any,
    ) -> Self:
        """Count the n-grams of a `datasets` dataset.

        name (str): Its name on the hub ("wikitext"), or a local folder.
        config (Optional[str]): Its configuration ("wikitext-103-raw-v1").
        streaming (bool): Read while downloading, without keeping a copy.
        **settings: How to count; see `Settings`.
        """
        texts = texts_from_dataset(name, config, split, column, streaming)
        source = "/".join(filter(None, (name, config, split)))
        return cls.from_texts(texts, source=source, **settings)

    @classmethod
    def from_blocks(
        cls, blocks: Iterable[bytes], sources: Iterable[str], **settings: Any
    ) -> Self:
        """Count the n-grams of blocks of lines; see `text`."""
        chosen, names = Settings(**settings), tuple(sources)
        # Arrow is heavy, and only counting needs it.
        from .counting.count import count_blocks

        ngrams, words, n_tokens = count_blocks(blocks, chosen)
        if not n_tokens:
            raise SpanftError(f"There is no text in {', '.join(names)}.")
        if not ngrams:
            least = f"{chosen.min_count:,} times in {n_tokens:,} tokens"
            warn(f"No n-gram occurs {least}: the dictionary is empty.")
        tokenizer = chosen.tokenizer
        if not isinstance(tokenizer, str):
            kind = type(tokenizer)
            tokenizer = f"{kind.__module__}.{kind.__qualname__}"
        origin = Provenance(
            sources=names,
            tokenizer=tokenizer,
            n_tokens=n_tokens,
            max_n=chosen.max_n,
            min_count=chosen.min_count,
            made_with=f"{__title__} {__version__}, spacy {version('spacy')}",
        )
        return cls._trusted(ngrams, words, chosen.attr, origin)

    # Looking up

    def __getitem__(self, ngram: str) -> int:
        return self._counts[self._fold(ngram)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._counts)

    def __len__(self) -> int:
        return len(self._counts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NgramDictionary):
            return NotImplemented
        return self._content() == other._content()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        sources = ", ".join(self.provenance.sources) or "counts given"
        return f"<NgramDictionary: {len(self):,} n-grams, {self.attr}, from {sources}>"

    def _fold(self, ngram: Any) -> Any:
        is_folded = self.attr == "LOWER" and isinstance(ngram, str)
        return ngram.lower() if is_folded else ngram

    @property
    def words(self) -> Mapping[str, int]:
        """The single words in the n-grams with their counts, if they are known."""
        return MappingProxyType(self._words)

    @property
    def max_n(self) -> int:
        """The number of words in the longest n-gram, 0 if there are none."""
        return max(self.sizes(), default=0)

    def sizes(self) -> dict[int, int]:
        """Return how many n-grams there are of each length, the shortest first."""
        sizes = Counter(ngram.count(" ") + 1 for ngram in self._counts)
        return dict(sorted(sizes.items()))

    # Ranking and cutting

    def pmi(self, ngram: str) -> float:
        """Pointwise mutual information of an n-gram's words, in bits.

        For more than two words, it is measured against the n-gram's best segmentation
        into shorter pieces (Levine et al., 2021).
        """
        n_tokens = self.provenance.n_tokens
        return pmi(self._fold(ngram), self._counts, self._words, n_tokens)

    def ranked(self, by: Ranking = "count") -> list[tuple[str, float]]:
        """Return the n-grams with their counts or PMI, best and most frequent first."""
        check_setting("by", by, by in get_args(Ranking), "'count' or 'pmi'")
        if by == "count":
            return list(self._counts.items())
        return sorted(((g, self.pmi(g)) for g in self), key=lambda item: -item[1])

    def top(self, k: int, by: Ranking = "count") -> Self:
        """Keep the k best n-grams, by "count" or "pmi"."""
        check_setting("k", k, k >= 0, "0 or more")
        best = {ngram for ngram, _ in self.ranked(by)[:k]}
        return self._cut(best, f"top {k} by {by}")

    def filter(self, min_count: int = 1, max_n: int | None = None) -> Self:
        """Keep the n-grams that occur min_count times or more, of up to max_n words."""
        check_limits(LARGEST_N if max_n is None else max_n, min_count)
        kept = {
            ngram
            for ngram, count in self._counts.items()
            if count >= min_count and (max_n is None or ngram.count(" ") < max_n)
        }
        return self._cut(kept, f"filtered to min_count {min_count}, max_n {max_n}")

    def _cut(self, kept: set[str], step: str) -> Self:
        counts = {ngram: n for ngram, n in self._counts.items() if ngram in kept}
        words = words_in(counts, self._words)
        origin = self.provenance
        origin = replace(origin, steps=(*origin.steps, step))
        return self._trusted(counts, words, self.attr, origin)

    def merge(self, other: "NgramDictionary") -> Self:
        """Add the counts of another dictionary; what it cut as too rare counts as 0."""
        if self.attr != other.attr:
            raise SpanftError(
                f"One dictionary is over {self.attr!r}, the other over {other.attr!r}. "
                "Count both with the same attr."
            )
        return self._trusted(
            in_order(Counter(self._counts) + Counter(other)),
            in_order(Counter(self._words) + Counter(other.words)),
            self.attr,
            self.provenance.merged(other.provenance),
        )

    # Serialization

    def _content(self) -> tuple[dict[str, Any], dict[str, int], dict[str, int]]:
        header = {"attr": self.attr, "provenance": asdict(self.provenance)}
        return header, self._counts, self._words

    def to_bytes(self) -> bytes:
        """Return the dictionary's file; equal dictionaries give equal bytes."""
        if self._packed is None:  # a training saves it again and again
            self._packed = pack(*self._content())
        return self._packed

    @classmethod
    def from_bytes(cls, data: bytes, *, name: str = "The data") -> Self:
        """Read a dictionary, by name in errors. Nothing in the data is executed."""
        header, ngrams, words = unpack(data, name)
        if any(a < b for a, b in pairwise(ngrams.values())):  # not written by us
            ngrams = in_order(ngrams)
        with reported(f"The header of {name} is wrong", ValueError, TypeError):
            provenance = Provenance.from_dict(header.get("provenance", {}))
            return cls._trusted(ngrams, words, header.get("attr", "LOWER"), provenance)

    def to_disk(self, path: str | Path) -> None:
        """Save the dictionary to one file, by convention ending in .tsv.gz."""
        write_whole(path, self.to_bytes())

    @classmethod
    def from_disk(cls, path: str | Path) -> Self:
        """Read a dictionary from its file."""
        check_exists(path)
        return cls.from_bytes(Path(path).read_bytes(), name=str(path))


@cache
def default_dictionary(lang: str = "en") -> NgramDictionary:
    """Read the dictionary that comes with the package, once.

    That of "en" has the 100,000 most frequent n-grams of Wikipedia of 2015.
    """
    if lang not in DEFAULT_FILES:
        raise SpanftError(
            f"There is no default dictionary for {lang!r}. Build one with: python -m "
            f"spacy spanft dictionary build TEXT -o FILE --lang {lang}"
        )
    file = resources.files(__package__) / "data" / DEFAULT_FILES[lang]
    return NgramDictionary.from_bytes(file.read_bytes(), name=file.name)


def read_dictionary(
    path: str | Path, top_k: int | None = None, min_count: int = 1
) -> NgramDictionary:
    """Read a dictionary in a config's [initialize] block.

    path (Union[str, Path]): The file.
    top_k (Optional[int]): Keep only the k most frequent n-grams.
    min_count (int): Keep only the n-grams that occur this often.
    """
    dictionary = NgramDictionary.from_disk(path)
    if min_count != 1:
        dictionary = dictionary.filter(min_count)
    return dictionary if top_k is None else dictionary.top(top_k)
