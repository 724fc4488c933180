"""A dictionary's file written of counts: no n-gram of it is kept as a string."""

import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import CorpusError, Errors, Warnings
from ...util.files import write_whole
from ..counting.levels import Level
from ..counting.settings import Attr, Settings
from ..format import packed
from ..provenance import Provenance
from .build import Counted

_N_SHOWN = 5
_ROWS_AT_ONCE = 1 << 16


class Written:
    """What can be said about a dictionary that is in its file alone.

    attr (str): "LOWER" if case is folded, "ORTH" if not.
    provenance (Provenance): Where the counts come from.
    """

    def __init__(self, attr: Attr, provenance: Provenance, levels: list[Level]) -> None:
        """Begin.

        levels (list[Level]): The n-grams.
        """
        self.attr = attr
        self.provenance = provenance
        self.first: list[str] = []
        self._sizes = {one.words.shape[1]: len(one.counts) for one in levels}

    def sizes(self) -> dict[int, int]:
        """Say how many n-grams there are of each length.

        RETURNS (dict[int, int]): n to the number of n-grams, ascending.
        """
        return self._sizes

    def __len__(self) -> int:
        """Say how many n-grams there are."""
        return sum(self._sizes.values())

    def __iter__(self) -> Iterator[str]:
        """Give the most frequent n-grams."""
        return iter(self.first)


def write_table(
    path: str | Path, counted: Counted, sources: Sequence[str], settings: Settings
) -> Written:
    """Write the file of the dictionary that `NgramDictionary.from_counted` makes.

    path (Union[str, Path]): The file.
    counted (Counted): The counts.
    sources (Sequence[str]): What the provenance calls the text.
    settings (Settings): How it was counted.
    RETURNS (Written): What can be said about it.
    """
    levels, vocabulary = list(counted.levels), counted.vocabulary
    if not vocabulary.n_tokens:
        raise CorpusError(Errors.NO_TEXT.format(sources=", ".join(sources)))
    origin = Provenance.of_count(sources, settings, vocabulary.n_tokens)
    found = Written(settings.attr, origin, levels)
    if not len(found):
        n_tokens = vocabulary.n_tokens
        threshold = {"min_count": settings.min_count, "n_tokens": n_tokens}
        warnings.warn(Warnings.NO_NGRAMS.format(**threshold), stacklevel=2)
    names = ["", *vocabulary.names]  # word ids begin at 1
    found.first = [text for text, _ in islice(_ngrams(levels, names), _N_SHOWN)]
    header = {"attr": settings.attr, "provenance": origin.to_dict()}

    def rows() -> Iterator[tuple[str, int]]:
        yield from _ngrams(levels, names)
        for i in _used(levels).tolist():
            yield names[i], int(vocabulary.counts[i - 1])

    write_whole(path, lambda file: file.writelines(packed(header, rows())))
    return found


def _used(levels: list[Level]) -> NDArray[np.uint32]:
    """Find the words that some n-gram holds, the most frequent first."""
    parts = [np.unique(column) for one in levels for column in one.words.T]
    return np.unique(np.concatenate([np.zeros(0, np.uint32), *parts]))


def _ngrams(levels: list[Level], names: list[str]) -> Iterator[tuple[str, int]]:
    """Give n-grams in the order of `counts.in_order`, some of them at a time."""
    counts = np.concatenate([np.zeros(0, np.int64), *(one.counts for one in levels)])
    sizes = [len(one.counts) for one in levels]
    which = np.repeat(np.arange(len(levels)), sizes)
    firsts: list[int] = np.cumsum([0, *sizes]).tolist()
    order = np.lexsort((which, -counts))
    # N-grams of one count and one length are sorted as strings: never cut between.
    is_new = np.diff(counts[order]) != 0
    is_new |= np.diff(which[order]) != 0
    ends = np.append(np.flatnonzero(is_new) + 1, len(order))
    begin = 0
    while begin < len(order):
        wanted = int(np.searchsorted(ends, begin + _ROWS_AT_ONCE))
        end = int(ends[min(wanted, len(ends) - 1)])
        rows: list[tuple[int, int, str]] = []
        for i in order[begin:end].tolist():
            level = int(which[i])
            words: list[int] = levels[level].words[i - firsts[level], :].tolist()
            rows.append((-int(counts[i]), level, " ".join([names[w] for w in words])))
        rows.sort()
        for count, _, text in rows:
            yield text, -count
        begin = end
