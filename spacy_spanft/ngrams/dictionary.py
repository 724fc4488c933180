"""The n-gram dictionary: n-grams with their counts, and what one does with them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import get_args

from typing_extensions import Self

from ..errors import DictionaryError, Errors, shown, without_code
from ..util.files import read_whole, write_whole
from .counting.settings import (
    LARGEST_N,
    Attr,
    check_limits,
    is_whole,
)
from .counts import (
    NgramDiff,
    added,
    check,
    check_mapping,
    check_word,
    folded,
    in_order,
    is_in_order,
    words_in,
)
from .format import Table, pack, unpack
from .from_text import FromText
from .provenance import Provenance
from .ranking import Ranking, pmi


class NgramDictionary(FromText, Mapping[str, int]):
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

        ngrams (Mapping[str, int]): The n-grams with their counts.
        words (Optional[Mapping[str, int]]): The single words with theirs, for PMI.
        attr (str): "LOWER" if case is folded, "ORTH" if not.
        provenance (Optional[Provenance]): Where the counts come from.
        """
        check_mapping("ngrams", ngrams)
        for ngram, count in ngrams.items():
            check(ngram, count)
        words = {} if words is None else words
        check_mapping("words", words)
        for word, count in words.items():
            check_word(word, count)
        if attr == "LOWER":
            ngrams, words = folded(ngrams), folded(words)
        provenance = Provenance() if provenance is None else provenance
        if not isinstance(provenance, Provenance):
            message = Errors.NOT_PROVENANCE.format(value=shown(provenance))
            raise DictionaryError(message)
        counts = in_order(ngrams)
        used = words_in(counts, in_order(words))
        self._set(counts, used, attr, provenance)

    def _set(
        self,
        counts: dict[str, int],
        words: dict[str, int],
        attr: Attr,
        provenance: Provenance,
    ) -> None:
        """Take over n-grams that are in order, and the words in them."""
        if attr not in get_args(Attr):
            raise DictionaryError(Errors.BAD_ATTR.format(value=shown(attr)))
        self.attr: Attr = attr
        self.provenance = provenance
        self._counts = counts
        self._words = words
        self._packed: bytes | None = None

    @classmethod
    def _trusted(
        cls,
        counts: dict[str, int],
        words: dict[str, int],
        attr: Attr,
        provenance: Provenance,
    ) -> Self:
        """Make a dictionary of parts that need no check: it is ten times faster."""
        self = cls.__new__(cls)
        self._set(counts, words, attr, provenance)
        return self

    # Looking up

    def __getitem__(self, ngram: str) -> int:
        if ngram not in self:
            raise KeyError(ngram)
        return self._counts[self._fold(ngram)]

    def __contains__(self, ngram: object) -> bool:
        return isinstance(ngram, str) and self._fold(ngram) in self._counts

    def __iter__(self) -> Iterator[str]:
        return iter(self._counts)

    def __len__(self) -> int:
        return len(self._counts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NgramDictionary):
            return NotImplemented
        mine, theirs = (d._to_table() for d in (self, other))
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        sources = ", ".join(self.provenance.sources) or "counts given"
        return f"<NgramDictionary: {len(self):,} n-grams, {self.attr}, from {sources}>"

    def _fold(self, ngram: str) -> str:
        return ngram.lower() if self.attr == "LOWER" else ngram

    @property
    def words(self) -> Mapping[str, int]:
        """The single words in the n-grams with their counts, if they are known."""
        return MappingProxyType(self._words)

    @property
    def max_n(self) -> int:
        """The number of words in the longest n-gram, 0 if there are none."""
        return max((ngram.count(" ") + 1 for ngram in self._counts), default=0)

    def sizes(self) -> dict[int, int]:
        """Count the n-grams of each length.

        RETURNS (dict[int, int]): n to the number of n-grams, ascending.
        """
        sizes: dict[int, int] = {}
        for ngram in self._counts:
            n = ngram.count(" ") + 1
            sizes[n] = sizes.get(n, 0) + 1
        return dict(sorted(sizes.items()))

    # Ranking and cutting

    def pmi(self, ngram: str) -> float:
        """Pointwise mutual information of an n-gram's words; see `ranking.pmi`.

        ngram (str): An n-gram of the dictionary.
        RETURNS (float): How many bits it is more than its parts.
        """
        if ngram not in self:
            raise KeyError(ngram)
        n_tokens = self.provenance.n_tokens
        return pmi(self._fold(ngram), self._counts, self._words, n_tokens)

    def ranked(self, by: Ranking = "count") -> list[tuple[str, float]]:
        """Rank the n-grams.

        by (str): "count" or "pmi".
        RETURNS (list[tuple[str, float]]): N-grams and scores, best first; n-grams
            of one score stand in the order of their counts.
        """
        if by not in get_args(Ranking):
            raise DictionaryError(Errors.BAD_RANKING.format(value=by))
        if by == "count":
            return list(self._counts.items())
        n_tokens = self.provenance.n_tokens
        scores = [(g, pmi(g, self._counts, self._words, n_tokens)) for g in self]
        return sorted(scores, key=lambda item: -item[1])

    def top(self, k: int, by: Ranking = "count") -> Self:
        """Keep the k best n-grams.

        k (int): How many to keep.
        by (str): "count" or "pmi".
        RETURNS (NgramDictionary): The k best.
        """
        if not is_whole(k) or k < 0:
            raise DictionaryError(Errors.BAD_TOP.format(value=k))
        best = {ngram for ngram, _ in self.ranked(by)[:k]}
        return self._cut(best, f"top {k} by {by}")

    def filter(self, min_count: int = 1, max_n: int | None = None) -> Self:
        """Keep the n-grams that occur often enough and are not too long.

        min_count (int): The smallest count, inclusive.
        max_n (Optional[int]): The largest n; None for any.
        RETURNS (NgramDictionary): What is left.
        """
        check_limits(LARGEST_N if max_n is None else max_n, min_count)
        spaces = LARGEST_N if max_n is None else max_n - 1
        kept = {
            ngram
            for ngram, count in self._counts.items()
            if count >= min_count and ngram.count(" ") <= spaces
        }
        return self._cut(kept, f"filtered to min_count {min_count}, max_n {max_n}")

    def _cut(self, kept: set[str], step: str) -> Self:
        counts = {ngram: n for ngram, n in self._counts.items() if ngram in kept}
        words = words_in(counts, self._words)
        return self._trusted(counts, words, self.attr, self.provenance.after(step))

    # Two dictionaries

    def merge(self, other: "NgramDictionary") -> Self:
        """Add the counts of another dictionary.

        An n-gram that one of them has cut for being too rare counts as 0 there, so
        its sum may be up to that threshold too small.

        other (NgramDictionary): The other one.
        RETURNS (NgramDictionary): The n-grams of both.
        """
        self._check_attr(other)
        return self._trusted(
            in_order(added(self._counts, other._counts)),
            in_order(added(self._words, other._words)),
            self.attr,
            self.provenance.merged(other.provenance),
        )

    def diff(self, other: "NgramDictionary") -> NgramDiff:
        """Compare with another dictionary.

        other (NgramDictionary): The other one.
        RETURNS (NgramDiff): What is in one of them, and what in both.
        """
        self._check_attr(other)
        left, right = self._counts, other._counts
        return NgramDiff(
            only_left=[ngram for ngram in left if ngram not in right],
            only_right=[ngram for ngram in right if ngram not in left],
            common={g: (n, right[g]) for g, n in left.items() if g in right},
        )

    def _check_attr(self, other: "NgramDictionary") -> None:
        if not isinstance(other, NgramDictionary):
            kind = type(other).__name__
            raise DictionaryError(Errors.NOT_A_MAPPING.format(value=other, type=kind))
        if self.attr != other.attr:
            raise DictionaryError(
                Errors.OTHER_ATTR.format(ours=self.attr, theirs=other.attr)
            )

    # Serialization

    def _to_table(self) -> Table:
        header = {"attr": self.attr, "provenance": self.provenance.to_dict()}
        return Table(header, self._counts, self._words)

    def to_bytes(self) -> bytes:
        """Write the dictionary as the bytes of its file.

        RETURNS (bytes): The file; equal dictionaries give equal bytes.
        """
        if self._packed is None:  # a training saves it again and again
            self._packed = pack(self._to_table())
        return self._packed

    @classmethod
    def from_bytes(cls, data: bytes, *, name: str = "The data") -> Self:
        """Read a dictionary. Nothing in the data is ever executed.

        data (bytes): What `to_bytes` wrote, or a file's content.
        name (str): What error messages call it.
        RETURNS (NgramDictionary): The dictionary.
        """
        header, ngrams, words = unpack(data, name)
        if not is_in_order(ngrams):  # somebody else wrote the table
            ngrams = in_order(ngrams)
        try:
            provenance = Provenance.from_dict(header.get("provenance", {}))
            attr = header.get("attr", "LOWER")
            return cls._trusted(ngrams, words, attr, provenance)
        except (DictionaryError, TypeError, AttributeError) as error:
            reason = f"its header says: {without_code(error)}".rstrip(".")
            raise DictionaryError(
                Errors.NOT_A_DICTIONARY.format(path=name, reason=reason)
            ) from error

    def to_disk(self, path: str | Path) -> None:
        """Save the dictionary to one file; a killed run leaves the old one as it was.

        path (Union[str, Path]): The file, by convention ending in .tsv.gz.
        """
        write_whole(path, self.to_bytes())

    @classmethod
    def from_disk(cls, path: str | Path) -> Self:
        """Read a dictionary from its file.

        path (Union[str, Path]): The file.
        RETURNS (NgramDictionary): The dictionary.
        """
        return cls.from_bytes(read_whole(path), name=str(path))
