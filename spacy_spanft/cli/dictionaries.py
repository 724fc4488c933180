"""`python -m spacy spanft dictionary info | top | diff`."""

from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option
from wasabi.tables import table

from ..errors import visible
from .build import By, RankBy, print_info
from .util import short_errors

_ALIGNS: tuple[Literal["l", "r"], ...] = ("l", "r", "r")

# fmt: off
DictionaryFile = Annotated[Path, Argument(help="A dictionary file", show_default=False)]
HowMany = Annotated[int, Option("--k", "-k", min=1, help="How many to show")]
Length = Annotated[int | None, Option(help="Only n-grams of this length")]
# fmt: on


def info_cli(path: DictionaryFile) -> None:
    """Show where a dictionary comes from, and what is in it."""
    with short_errors():
        from ..ngrams.dictionary import NgramDictionary

        print_info(NgramDictionary.from_disk(path))


def top_cli(
    path: DictionaryFile, k: HowMany = 20, by: By = RankBy.count, n: Length = None
) -> None:
    """Show the best n-grams of a dictionary."""
    with short_errors():
        from ..ngrams.dictionary import NgramDictionary

        dictionary = NgramDictionary.from_disk(path)
        with_score = by is RankBy.pmi
        rows = (
            (visible(ngram), f"{dictionary[ngram]:,}", *[f"{score:.2f}"] * with_score)
            for ngram, score in dictionary.ranked(by.value)
            if n is None or ngram.count(" ") + 1 == n
        )
        header = ("n-gram", "count", *["PMI (bits)"] * with_score)
        best = list(islice(rows, k))
        print(table(best, header=header, divider=True, aligns=_ALIGNS[: len(header)]))


def diff_cli(left: DictionaryFile, right: DictionaryFile, k: HowMany = 10) -> None:
    """Compare two dictionaries."""
    with short_errors():
        from ..ngrams.dictionary import NgramDictionary

        diff = NgramDictionary.from_disk(left).diff(NgramDictionary.from_disk(right))
        only_left, only_right, common = diff
        n_all = len(only_left) + len(only_right) + len(common)
        names = [visible(str(path)) for path in (left, right)]
        rows = [
            (f"only in {names[0]}", f"{len(only_left):,}"),
            (f"only in {names[1]}", f"{len(only_right):,}"),
            ("in both", f"{len(common):,}"),
            ("in both, of all", f"{len(common) / max(1, n_all):.1%}"),
        ]
        print(table(rows, aligns=("l", "r")))
        for name, ngrams in zip(names, (only_left, only_right), strict=True):
            print(f"\nMost frequent of those only in {name}:")
            print("  " + (visible(", ".join(ngrams[:k])) or "(none)"))
