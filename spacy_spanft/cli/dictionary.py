"""`python -m spacy spanft dictionary build | info | top | diff`."""

import os
from collections.abc import Iterator
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option
from wasabi import msg
from wasabi.tables import table

from ..errors import CorpusError, DictionaryError, Errors
from ..errors.visible import visible
from ..util.files import check_target
from .util import OnBadBytes, short_errors

if TYPE_CHECKING:
    from ..ngrams.counting.settings import CountSettings
    from ..ngrams.dictionary import NgramDictionary
    from ..segmenters.coverage import Coverage


class RankBy(Enum):
    """What ranks n-grams."""

    count = "count"
    pmi = "pmi"


_ALIGNS: tuple[Literal["l", "r"], ...] = ("l", "r", "r")
_N_CORES = os.cpu_count() or 1

# fmt: off
TextFiles = Annotated[list[str] | None, Argument(help="Text files, one text a line; .gz, .bz2 and .zst are decompressed; '-' is the standard input", show_default=False)]  # noqa: E501
Output = Annotated[Path, Option("--output", "-o", help="The dictionary file to write (.tsv.gz)")]  # noqa: E501
Dataset = Annotated[str | None, Option(help="Instead of files: a dataset by its hub name, or a local folder")]  # noqa: E501
Config = Annotated[str | None, Option(help="The dataset's configuration, e.g. wikitext-103-raw-v1")]  # noqa: E501
Split = Annotated[str, Option(help="The dataset's split")]
Column = Annotated[str, Option(help="The dataset's column that holds the text")]
Lang = Annotated[str, Option("--lang", "-l", help="The language of the tokenizer")]
Pretokenized = Annotated[bool, Option("--pretokenized", "-t", help="The text is tokenized already: split it at white space")]  # noqa: E501
Cased = Annotated[bool, Option("--cased", help="Do not fold case")]
MaxN = Annotated[int, Option("--max-n", "-n", help="The largest n")]
MinCount = Annotated[int, Option("--min-count", "-c", help="How often an n-gram must occur")]  # noqa: E501
TopK = Annotated[int | None, Option("--top", "-k", help="Keep only the k best")]
By = Annotated[RankBy, Option(help="What the best are ranked by")]
BadBytes = Annotated[OnBadBytes, Option("--errors", help="What to do about bytes that are no text")]  # noqa: E501
Processes = Annotated[int, Option("--n-process", help="How many processes tokenize")]
Quiet = Annotated[bool, Option("--quiet", "-q", help="No progress bars, no report")]
DictionaryFile = Annotated[Path, Argument(help="A dictionary file", show_default=False)]
# fmt: on


def build_cli(
    texts: TextFiles = None,
    *,
    output: Output,
    dataset: Dataset = None,
    config: Config = None,
    split: Split = "train",
    column: Column = "text",
    lang: Lang = "en",
    pretokenized: Pretokenized = False,
    cased: Cased = False,
    max_n: MaxN = 5,
    min_count: MinCount = 10,
    top: TopK = None,
    by: By = RankBy.count,
    errors: BadBytes = OnBadBytes.strict,
    n_process: Processes = _N_CORES,
    quiet: Quiet = False,
) -> None:
    """Count the n-grams of a corpus, and write those that occur often enough."""
    pretokenized = pretokenized or lang == "whitespace"
    settings: CountSettings = {
        "tokenizer": "whitespace" if pretokenized else lang,
        "attr": "ORTH" if cased else "LOWER",
        "max_n": max_n,
        "min_count": min_count,
        "n_process": n_process,
        "progress": not quiet,
    }
    with short_errors():
        from ..ngrams.dictionary import NgramDictionary
        from ..segmenters.coverage import LineSample, held_out_coverage

        check_target(output, [] if dataset else texts or [])
        if top is not None and top < 1:
            raise DictionaryError(Errors.BAD_OPTION.format(option="--top", value=top))
        if dataset is None:
            blocks, sources = _read_files(texts or [], errors)
        elif texts:
            raise CorpusError(Errors.TWO_INPUTS)
        else:
            blocks, sources = _read_dataset(dataset, config, split, column)
        sample = LineSample()
        dictionary = NgramDictionary.from_blocks(
            sample.watch(blocks), sources, **settings
        )
        if top is not None:
            dictionary = dictionary.top(top, by.value)
        dictionary.to_disk(output)
        if quiet:
            return
        _print_info(dictionary)
        if dictionary and sample.lines:
            language = None if pretokenized else lang
            covered = held_out_coverage(dictionary, sample, lang=language, **settings)
            _print_coverage(covered)
        msg.good(f"Wrote {len(dictionary):,} n-grams to {visible(str(output))}")


def _read_files(
    texts: list[str], errors: OnBadBytes
) -> tuple[Iterator[bytes], list[str]]:
    from ..ngrams.text.blocks import blocks_from_files

    if not texts:
        raise CorpusError(Errors.NO_INPUT)
    return blocks_from_files(texts, errors=errors.value), texts


def _read_dataset(
    name: str, config: str | None, split: str, column: str
) -> tuple[Iterator[bytes], list[str]]:
    from ..ngrams.text.blocks import blocks_from_texts
    from ..ngrams.text.hub import texts_from_dataset

    texts = texts_from_dataset(name, config, split=split, column=column)
    return blocks_from_texts(texts), ["/".join(filter(None, (name, config, split)))]


def info_cli(path: DictionaryFile) -> None:
    """Show where a dictionary comes from, and what is in it."""
    with short_errors():
        from ..ngrams.dictionary import NgramDictionary

        _print_info(NgramDictionary.from_disk(path))


def top_cli(
    path: DictionaryFile,
    k: Annotated[int, Option("--k", "-k", help="How many to show")] = 20,
    by: By = RankBy.count,
    n: Annotated[int | None, Option(help="Only n-grams of this length")] = None,
) -> None:
    """Show the best n-grams of a dictionary."""
    with short_errors():
        from ..ngrams.dictionary import NgramDictionary

        _check_k(k)
        dictionary = NgramDictionary.from_disk(path)
        with_score = by is RankBy.pmi
        rows = (
            (visible(ngram), f"{dictionary[ngram]:,}", *[f"{score:.2f}"] * with_score)
            for ngram, score in dictionary.ranked(by.value)
            if n is None or ngram.count(" ") + 1 == n
        )
        header = ("n-gram", "count", *["PMI (bits)"] * with_score)
        shown = list(islice(rows, k))
        print(table(shown, header=header, divider=True, aligns=_ALIGNS[: len(header)]))


def diff_cli(
    left: DictionaryFile,
    right: DictionaryFile,
    k: Annotated[int, Option("--k", "-k", help="How many to show")] = 10,
) -> None:
    """Compare two dictionaries."""
    with short_errors():
        from ..ngrams.dictionary import NgramDictionary

        _check_k(k)
        one, two = NgramDictionary.from_disk(left), NgramDictionary.from_disk(right)
        only_left, only_right, common = one.diff(two)
        union = len(only_left) + len(only_right) + len(common)
        names = [visible(str(path)) for path in (left, right)]
        rows = [
            (f"only in {names[0]}", f"{len(only_left):,}"),
            (f"only in {names[1]}", f"{len(only_right):,}"),
            ("in both", f"{len(common):,}"),
            ("in both, of all", f"{len(common) / max(1, union):.1%}"),
        ]
        print(table(rows, aligns=("l", "r")))
        for name, ngrams in zip(names, (only_left, only_right), strict=True):
            print(f"\nMost frequent of those only in {name}:")
            print("  " + (visible(", ".join(ngrams[:k])) or "(none)"))


def _check_k(k: int) -> None:
    if k < 1:
        raise DictionaryError(Errors.BAD_OPTION.format(option="--k", value=k))


def _print_info(dictionary: "NgramDictionary") -> None:
    from ..ngrams.facts import facts_of

    rows = facts_of(dictionary)
    print(table([(name, visible(value)) for name, value in rows]))


def _print_coverage(covered: "Coverage") -> None:
    rows = [
        ("held-out text", f"{covered.n_sentences:,} sentences"),
        ("tokens in a match", f"{covered.share:.1%}"),
        ("spans a sentence", f"{covered.spans_per_sentence:.1f}"),
    ]
    print(table(rows))
