"""The rows of a dictionary file: an n-gram or a word, a tab, its count.

Thousands of rows are checked at once, as the one text that they are: that takes a
tenth of the time of looking at each. Where anything is not as it should be, they are
read one by one, and what is wrong is said.
"""

import re
from itertools import islice

from ..errors import DictionaryError, Errors, without_code
from .counting.settings import LARGEST_N
from .counts import LONGEST_COUNT, check, check_word

_SEPARATORS = " \t\n"
_END_OF_ROW = re.compile(rf"\t([0-9]{{1,{LONGEST_COUNT}}})\n")
_COUNT = re.compile(rf"[0-9]{{1,{LONGEST_COUNT}}}")
# Where a word is missing: between two separators.
_GAPS = ("  ", " \t", "\n ", "\n\t")
# All else that `str.split` takes for white space: no word holds any of it.
_OTHER_SPACES = (
    "\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)


class BadRow(DictionaryError):
    """A row that is none; who knows the file's name adds it."""

    def __init__(self, line: int, reason: str) -> None:
        """Make the error.

        line (int): The number of the line.
        reason (str): What is wrong.
        """
        super().__init__(Errors.BAD_LINE.format(line=line, reason=reason))


class Rows:
    """Gathers the rows of a file, piece by piece."""

    def __init__(self, *, is_folded: bool, first: int = 1) -> None:
        """Begin with none.

        is_folded (bool): Whether all must be in lower case.
        first (int): The number of the first line, for errors.
        """
        self.counts: dict[str, int] = {}
        self._is_folded = is_folded
        self._line = first

    def add(self, text: str) -> None:
        """Read more rows, none of which may have come before.

        text (str): The rows, each with a newline after it.
        """
        names, counts = self._all_at_once(text) or self._one_by_one(text)
        n_before = len(self.counts)
        self.counts.update(zip(names, counts, strict=True))
        if len(self.counts) < n_before + len(names):
            self._find_twice(names, n_before)
        self._line += len(names)

    def _all_at_once(self, text: str) -> tuple[list[str], list[int]] | None:
        """Read rows fast, or give None if any of them may be wrong."""
        names = _END_OF_ROW.split(text)
        digits = names[1::2]
        del names[1::2]
        # One tab a row, and nothing where the row after the last would be.
        if names.pop() or not text.count("\t") == text.count("\n") == len(digits):
            return None
        if any(gap in text for gap in _GAPS) or text[0] in _SEPARATORS:
            return None
        if any(space in text for space in _OTHER_SPACES):
            return None
        # The first is fast and nearly always says it; not where no letter is at all.
        if self._is_folded and not text.islower() and text != text.lower():
            return None
        if max(map(len, names)) > 2 * LARGEST_N:  # so many words have more characters
            return None
        counts = list(map(int, digits))
        return (names, counts) if min(counts) else None

    def _one_by_one(self, text: str) -> tuple[list[str], list[int]]:
        """Read rows, and raise for the first that is wrong."""
        names: list[str] = []
        counts: list[int] = []
        for line, row in enumerate(text[:-1].split("\n"), self._line):
            name, _, digits = row.partition("\t")
            if not _COUNT.fullmatch(digits):
                raise BadRow(line, Errors.BAD_ROW.format(row=row[:80]))
            names.append(name)
            counts.append(int(digits))
            try:
                (check if " " in name else check_word)(name, counts[-1])
            except DictionaryError as error:
                raise BadRow(line, without_code(error)) from error
            if self._is_folded and name != name.lower():
                raise BadRow(line, Errors.NOT_FOLDED.format(row=name[:80]))
        return names, counts

    def _find_twice(self, names: list[str], n_before: int) -> None:
        """Raise for the first name that was there already."""
        new = set(islice(self.counts, n_before, None))
        for line, name in enumerate(names, self._line):
            if name not in new:
                raise BadRow(line, Errors.TWICE.format(row=name[:80]))
            new.remove(name)
