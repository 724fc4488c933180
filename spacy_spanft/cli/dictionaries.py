"""`python -m spacy spanft dictionary build | info | top`."""

import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option
from wasabi import msg
from wasabi.tables import table

from ..errors import SpanftError, report, visible
from ..ngrams.counts import Ranking
from . import options as opt
from .util import report_texts

if TYPE_CHECKING:
    from ..ngrams.dictionary import NgramDictionary

_ALIGNS: tuple[Literal["l", "r"], ...] = ("l", "r", "r")

By = Annotated[Ranking, Option(help="What the best are ranked by")]
Dictionary = Annotated[Path, Argument(help="A dictionary file")]
HowMany = Annotated[int, Option("--k", "-k", min=1, help="How many to show")]


def build_cli(
    texts: Annotated[list[str] | None, Argument(help="Text files with one text per line, or tables (CSV, TSV, JSONL or Parquet); all but Parquet can be compressed (.gz, .bz2, .zst); '-' for standard input")] = None,  # noqa: E501
    *,
    output: Annotated[Path, Option("--output", "-o", help="The dictionary file to write (.tsv.gz); an existing one is overwritten")],  # noqa: E501
    dataset: Annotated[str | None, Option(help="Instead of files: a dataset by its hub name, or a local folder")] = None,  # noqa: E501
    config: Annotated[str | None, Option(help="The dataset's configuration, e.g. wikitext-103-raw-v1")] = None,  # noqa: E501
    split: Annotated[str, Option(help="The dataset's split")] = "train",
    column: opt.Column = None,
    lang: opt.Lang = "en",
    pretokenized: Annotated[bool, Option("--pretokenized", "-t", help="The text is tokenized already: split it at white space")] = False,  # noqa: E501
    cased: Annotated[bool, Option("--cased", help="Do not fold case")] = False,
    max_n: Annotated[int, Option("--max-n", "-n", help="The largest n")] = 5,
    min_count: Annotated[int, Option("--min-count", "-c", help="How often an n-gram must occur")] = 10,  # noqa: E501
    top: Annotated[int | None, Option("--top", "-k", min=1, help="Keep only the k best")] = None,  # noqa: E501
    by: By = "count",
    errors: opt.BadBytes = "strict",
    encoding: opt.Encoding = "utf-8",
    n_process: Annotated[int | None, Option("--n-process", help="Number of processes; default: one per core")] = None,  # noqa: E501
    engine: opt.Engine = "local",
    address: opt.Address = None,
    memory: Annotated[str | None, Option("--memory", help="Memory that counting may use, such as 2GB; the text waits on disk, in $TMPDIR or --work")] = None,  # noqa: E501
    work: Annotated[Path | None, Option("--work", help="Folder for temporary files with --memory; all machines of a cluster must see it")] = None,  # noqa: E501
    quiet: opt.Quiet = False,
) -> None:  # fmt: skip
    """Count the n-grams of texts, and write the frequent ones."""
    from pyarrow import cpu_count

    from ..ngrams.dictionary import NgramDictionary
    from ..util.files import check_target

    check_target(output, texts or [])
    if bool(texts) == (dataset is not None):
        raise SpanftError("Name either text files ('-' is the input) or a --dataset.")
    report_texts(texts or [], column, quiet, errors=errors, encoding=encoding)
    settings: dict[str, Any] = {
        "tokenizer": "whitespace" if pretokenized else lang,
        "attr": "ORTH" if cased else "LOWER",
        "max_n": max_n,
        "min_count": min_count,
        "n_process": cpu_count() if n_process is None else n_process,
        "progress": not quiet,
        "memory": None if memory is None else parse_memory(memory),
        "engine": engine,
        "address": address,
        "work": work,
    }
    if dataset is None:
        dictionary = NgramDictionary.from_files(
            texts or [], column=column, errors=errors, encoding=encoding, **settings
        )
    else:
        dictionary = NgramDictionary.from_dataset(
            dataset, config, split=split, column=column or "text", **settings
        )
    if top is not None:
        dictionary = dictionary.top(top, by)
    if not len(dictionary):
        raise SpanftError("An empty dictionary is not written. Lower --min-count.")
    dictionary.to_disk(output)
    if output.suffix != ".gz":
        report(f"⚠ {output} is compressed, so its name should end in .gz.")
    if not quiet:
        _print_facts(dictionary)
        msg.good(f"Wrote {len(dictionary):,} n-grams to {visible(str(output))}")


def parse_memory(value: str) -> int:
    """Return the bytes of a number with a unit, such as 2GB."""
    match = re.fullmatch(r"\s*(\d*\.?\d+)\s*([KMGT]?)I?B\s*", value.upper())
    if match is None:
        raise SpanftError(f"--memory is {value!r}, but it must be like 500MB or 2GB.")
    return int(float(match[1]) * 1024 ** " KMGT".index(match[2] or " "))


def info_cli(path: Dictionary) -> None:
    """Show where a dictionary comes from, and what is in it."""
    from ..ngrams.dictionary import NgramDictionary

    _print_facts(NgramDictionary.from_disk(path))


def _print_facts(dictionary: "NgramDictionary") -> None:
    origin = dictionary.provenance
    facts = [
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
    print(table([(name, visible(value)) for name, value in facts]))


def top_cli(
    path: Dictionary,
    k: HowMany = 20,
    by: By = "count",
    n: Annotated[int | None, Option(help="Only n-grams of this length")] = None,
) -> None:  # fmt: skip
    """Show the best n-grams of a dictionary."""
    from ..ngrams.dictionary import NgramDictionary

    dictionary = NgramDictionary.from_disk(path)
    has_score = by == "pmi"
    rows = (
        (visible(ngram), f"{dictionary[ngram]:,}", *[f"{score:.2f}"] * has_score)
        for ngram, score in dictionary.ranked(by)
        if n is None or ngram.count(" ") + 1 == n
    )
    header = ("n-gram", "count", *["PMI (bits)"] * has_score)
    best = list(islice(rows, k))
    print(table(best, header=header, divider=True, aligns=_ALIGNS[: len(header)]))
