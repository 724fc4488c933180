"""`python -m spacy spanft dictionary build`."""

import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option
from wasabi import msg
from wasabi.tables import table

from ..errors import SpanftError, visible
from ..util.files import check_target
from .util import Address, Engine, EngineName, OnBadBytes, short_errors

if TYPE_CHECKING:
    from ..ngrams.dictionary import NgramDictionary
    from ..ngrams.provenance import CountSettings
    from ..segmenters.ngram import Coverage


class RankBy(Enum):
    """A ranking of n-grams."""

    count = "count"
    pmi = "pmi"


# fmt: off
TextFiles = Annotated[list[str] | None, Argument(help="Text files with one text per line, JSONL (.jsonl) or Parquet (.parquet); text and JSONL can be compressed (.gz, .bz2, .zst); '-' for standard input", show_default=False)]  # noqa: E501
Output = Annotated[Path, Option("--output", "-o", help="The dictionary file to write (.tsv.gz)")]  # noqa: E501
Dataset = Annotated[str | None, Option(help="Instead of files: a dataset by its hub name, or a local folder")]  # noqa: E501
Config = Annotated[str | None, Option(help="The dataset's configuration, e.g. wikitext-103-raw-v1")]  # noqa: E501
Split = Annotated[str, Option(help="The dataset's split")]
Column = Annotated[str, Option(help="The column of a dataset or of Parquet, or the key in JSONL, that holds the text")]  # noqa: E501
Lang = Annotated[str, Option("--lang", "-l", help="The language of the tokenizer")]
Pretokenized = Annotated[bool, Option("--pretokenized", "-t", help="The text is tokenized already: split it at white space")]  # noqa: E501
Cased = Annotated[bool, Option("--cased", help="Do not fold case")]
MaxN = Annotated[int, Option("--max-n", "-n", help="The largest n")]
MinCount = Annotated[int, Option("--min-count", "-c", help="How often an n-gram must occur")]  # noqa: E501
TopK = Annotated[int | None, Option("--top", "-k", min=1, help="Keep only the k best")]
By = Annotated[RankBy, Option(help="What the best are ranked by")]
BadBytes = Annotated[OnBadBytes, Option("--errors", help="How to handle invalid UTF-8 and null in a column")]  # noqa: E501
Processes = Annotated[int | None, Option("--n-process", help="Number of processes; default: one per core", show_default=False)]  # noqa: E501
Memory = Annotated[str | None, Option("--memory", help="Memory that counting may use, such as 2GB; the text waits on disk, in $TMPDIR or --work")]  # noqa: E501
Work = Annotated[Path | None, Option("--work", help="Folder for temporary files with --memory; all machines of a cluster must see it")]  # noqa: E501
Quiet = Annotated[bool, Option("--quiet", "-q", help="Do not show progress or a summary")]  # noqa: E501
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
    n_process: Processes = None,
    engine: Engine = EngineName.local,
    address: Address = None,
    memory: Memory = None,
    work: Work = None,
    quiet: Quiet = False,
) -> None:
    """Count the n-grams of a corpus, and write those that occur often enough."""
    with short_errors():
        from ..ngrams.dictionary import NgramDictionary
        from ..ngrams.text import sampled
        from ..util.threads import n_cores

        check_target(output, texts or [])
        settings: CountSettings = {
            "tokenizer": "whitespace" if pretokenized else lang,
            "attr": "ORTH" if cased else "LOWER",
            "max_n": max_n,
            "min_count": min_count,
            "n_process": n_cores() if n_process is None else n_process,
            "progress": not quiet,
            "memory": None if memory is None else parse_memory(memory),
            "engine": engine.value,
            "address": address,
            "work": work,
        }
        if dataset is None:
            sources = texts or []
            blocks = _blocks_of_files(sources, column, errors)
        else:
            sources = ["/".join(filter(None, (dataset, config, split)))]
            blocks = _blocks_of_dataset(texts, dataset, config, split, column)
        sample: list[bytes] = []
        blocks = sampled(blocks, sample)
        dictionary = NgramDictionary.from_blocks(blocks, sources, **settings)
        if top is not None:
            dictionary = dictionary.top(top, by.value)
        dictionary.to_disk(output)
        if not quiet:
            _report(dictionary, sample, settings)
            path = visible(str(output))
            msg.good(f"Wrote {len(dictionary):,} n-grams to {path}")


def _blocks_of_files(
    paths: list[str], column: str, errors: OnBadBytes
) -> Iterator[bytes]:
    from ..ngrams.text import blocks_of

    if not paths:
        raise SpanftError(
            "There is nothing to read. Name text files ('-' is the standard input), "
            "or a dataset with --dataset."
        )
    return blocks_of(paths, column=column, errors=errors.value)


def _blocks_of_dataset(
    paths: list[str] | None, name: str, config: str | None, split: str, column: str
) -> Iterator[bytes]:
    from ..ngrams.text import blocks_from_texts, texts_from_dataset

    if paths:
        raise SpanftError("Name either text files or a --dataset, not both.")
    return blocks_from_texts(
        texts_from_dataset(name, config, split=split, column=column)
    )


def parse_memory(value: str) -> int:
    """Parse an amount of memory.

    value (str): A number and a unit, such as 2GB.
    RETURNS (int): The number of bytes.
    """
    match = re.fullmatch(r"\s*(\d*\.?\d+)\s*([KMGT]?)I?B\s*", value.upper())
    if match is None:
        raise SpanftError(
            f"--memory is {value!r}, but it must be a number with a unit, such as "
            "500MB or 2GB."
        )
    return int(float(match[1]) * 1024 ** " KMGT".index(match[2] or " "))


def _report(
    dictionary: "NgramDictionary", sample: list[bytes], settings: "CountSettings"
) -> None:
    from ..segmenters.ngram import held_out_coverage

    print_info(dictionary)
    if dictionary and sample:
        _print_coverage(held_out_coverage(dictionary, sample, **settings))


def print_info(dictionary: "NgramDictionary") -> None:
    """Print where a dictionary comes from, and its sizes."""
    from ..ngrams.provenance import facts_of

    rows = facts_of(dictionary)
    print(table([(name, visible(value)) for name, value in rows]))


def _print_coverage(covered: "Coverage") -> None:
    rows = [
        ("held-out text", f"{covered.n_sentences:,} sentences"),
        ("tokens in a match", f"{covered.share:.1%}"),
        ("spans a sentence", f"{covered.spans_per_sentence:.1f}"),
    ]
    print(table(rows))
