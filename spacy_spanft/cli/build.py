"""`python -m spacy spanft dictionary build | shard | join`."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option
from wasabi import msg
from wasabi.tables import table

from ..errors import DictionaryError, Errors, SpanftError, visible
from ..util.files import check_target
from ..util.processes import n_cores
from .engine import Address, Engine, EngineName
from .util import OnBadBytes, short_errors

if TYPE_CHECKING:
    from ..ngrams.counting.settings import CountSettings
    from ..ngrams.dictionary import NgramDictionary
    from ..ngrams.shards.build import Where
    from ..ngrams.shards.source import Part, Text
    from ..ngrams.shards.table import Written
    from ..ngrams.text.blocks import LineSample
    from ..segmenters.coverage import Coverage


class RankBy(Enum):
    """A ranking of n-grams."""

    count = "count"
    pmi = "pmi"


# From how many bytes on files are counted in pieces by several processes: for less,
# starting these takes longer than what they save.
_LARGE = 1 << 26

# fmt: off
TextFiles = Annotated[list[str] | None, Argument(help="Text files with one text per line, JSONL (.jsonl) or Parquet (.parquet); text and JSONL can be compressed (.gz, .bz2, .zst); '-' for standard input", show_default=False)]  # noqa: E501
ShardFiles = Annotated[list[Path], Argument(help="Files that spanft dictionary shard wrote, in the order of the text", show_default=False)]  # noqa: E501
Output = Annotated[Path, Option("--output", "-o", help="The dictionary file to write (.tsv.gz)")]  # noqa: E501
ShardOutput = Annotated[Path, Option("--output", "-o", help="The file to write (.npz), for spanft dictionary join")]  # noqa: E501
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
Processes = Annotated[int, Option("--n-process", help="Number of processes")]
Memory = Annotated[str | None, Option("--memory", help="Memory limit for counting, such as 2GB: data is kept on disk, in $TMPDIR or --work")]  # noqa: E501
Work = Annotated[Path | None, Option("--work", help="Folder for intermediate results: after an interruption the same command resumes from it")]  # noqa: E501
PartOption = Annotated[str | None, Option("--part", help="Count one part of the files, such as 3/16, e.g. one per job of a Slurm array")]  # noqa: E501
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
    n_process: Processes = n_cores(),  # noqa: B008
    engine: Engine = EngineName.local,
    address: Address = None,
    memory: Memory = None,
    work: Work = None,
    quiet: Quiet = False,
) -> None:
    """Count the n-grams of a corpus, and write those that occur often enough."""
    settings = _settings(lang, pretokenized, cased, max_n, min_count, n_process, quiet)
    with short_errors():
        check_target(output, [] if dataset else texts or [])
        where = _where(engine, address, memory, work)
        if dataset is None:
            text = _files(texts, column, errors, is_kept=work is not None)
        elif texts:
            raise SpanftError("Pass files or --dataset, not both.")
        else:
            text = _dataset(dataset, config, split, column)
        is_large = n_process > 1 and text.n_bytes >= _LARGE
        if where.memory is not None and top is None:
            written = _write_in_shards(text, where, settings, output)
            if not quiet:
                print_info(written)
                _print_written(written, output)
            return
        is_plain = where == _where() and not is_large
        counted = _count_here if is_plain else _count_in_shards
        with counted(text, where, settings) as (dictionary, sample):
            if top is not None:
                dictionary = dictionary.top(top, by.value)
            dictionary.to_disk(output)
        if not quiet:
            language = None if settings.get("tokenizer") == "whitespace" else lang
            _report(dictionary, sample, language, output, settings)


def shard_cli(
    texts: TextFiles = None,
    *,
    output: ShardOutput,
    part: PartOption = None,
    column: Column = "text",
    lang: Lang = "en",
    pretokenized: Pretokenized = False,
    cased: Cased = False,
    errors: BadBytes = OnBadBytes.strict,
    n_process: Processes = n_cores(),  # noqa: B008
    memory: Memory = None,
    quiet: Quiet = False,
) -> None:
    """Tokenize one shard of a corpus anywhere; `join` counts the n-grams of all."""
    settings = _settings(lang, pretokenized, cased, 2, 1, n_process, quiet)
    with short_errors():
        from ..ngrams.counting.settings import Settings
        from ..ngrams.shards.partial import write_partial

        check_target(output, texts or [])
        where = _where(memory=memory)
        chosen = None if part is None else _part(part)
        text = _files(texts, column, errors, part=chosen)
        n_tokens = write_partial(output, text, Settings(**settings), where)
        if not quiet:
            msg.good(f"Wrote {n_tokens:,} tokens to {visible(str(output))}")


def join_cli(
    shards: ShardFiles,
    *,
    output: Output,
    max_n: MaxN = 5,
    min_count: MinCount = 10,
    top: TopK = None,
    by: By = RankBy.count,
    n_process: Processes = n_cores(),  # noqa: B008
    engine: Engine = EngineName.local,
    address: Address = None,
    memory: Memory = None,
    work: Work = None,
    quiet: Quiet = False,
) -> None:
    """Count the n-grams of shards, and write the dictionary of the whole corpus."""
    with short_errors():
        from ..ngrams.dictionary import NgramDictionary
        from ..ngrams.shards.join import join_partials, settings_of_join
        from ..ngrams.shards.table import write_table

        check_target(output, shards)
        limits = {"max_n": max_n, "min_count": min_count}
        settings = settings_of_join(shards, **limits, n_process=n_process, quiet=quiet)
        where = _where(engine, address, memory, work)
        found: NgramDictionary | Written
        with join_partials(shards, settings, where) as (counted, sources):
            if top is None:
                found = write_table(output, counted, sources, settings)
            else:
                whole = NgramDictionary.from_counted(counted, sources, settings)
                found = whole.top(top, by.value)
                found.to_disk(output)
        if not quiet:
            print_info(found)
            _print_written(found, output)


def _settings(
    lang: str,
    pretokenized: bool,
    cased: bool,
    max_n: int,
    min_count: int,
    n_process: int,
    quiet: bool,
) -> "CountSettings":
    pretokenized = pretokenized or lang == "whitespace"
    return {
        "tokenizer": "whitespace" if pretokenized else lang,
        "attr": "ORTH" if cased else "LOWER",
        "max_n": max_n,
        "min_count": min_count,
        "n_process": n_process,
        "progress": not quiet,
    }


def _where(
    engine: EngineName = EngineName.local,
    address: str | None = None,
    memory: str | None = None,
    work: Path | None = None,
) -> "Where":
    from ..ngrams.shards.build import Where
    from ..ngrams.shards.sizes import parse_memory

    n_bytes = None if memory is None else parse_memory(memory)
    return Where(engine.value, address, n_bytes, work)


def _part(value: str) -> "Part":
    from ..ngrams.shards.source import Part

    number, _, n_parts = value.partition("/")
    if number.isdecimal() and n_parts.isdecimal() and 1 <= int(number) <= int(n_parts):
        return Part(int(number), int(n_parts))
    raise DictionaryError(Errors.BAD_PART.format(value=value))


def _files(
    texts: list[str] | None,
    column: str,
    errors: OnBadBytes,
    *,
    part: "Part | None" = None,
    is_kept: bool = False,
) -> "Text":
    from ..ngrams.shards.source import text_of_files

    if not texts:
        raise SpanftError("There is no text to count. Name files, or a --dataset.")
    how = {"column": column, "part": part, "is_kept": is_kept}
    return text_of_files(texts, errors=errors.value, **how)  # type: ignore[arg-type]


def _dataset(name: str, config: str | None, split: str, column: str) -> "Text":
    from ..ngrams.shards.source import Text
    from ..ngrams.text.blocks import blocks_from_texts
    from ..ngrams.text.hub import texts_from_dataset

    texts = texts_from_dataset(name, config, split=split, column=column)
    source = "/".join(filter(None, (name, config, split)))
    identity = [name, config, split, column]
    return Text([source], blocks=blocks_from_texts(texts), identity=identity)


@contextmanager
def _count_here(
    text: "Text", where: "Where", settings: "CountSettings"
) -> Iterator["tuple[NgramDictionary, LineSample]"]:
    from ..ngrams.dictionary import NgramDictionary
    from ..ngrams.text.blocks import LineSample
    from ..ngrams.text.units import blocks_of

    sample = LineSample()
    blocks = blocks_of(text.paths, **text.how) if text.blocks is None else text.blocks
    watched = sample.watch(blocks)
    yield NgramDictionary.from_blocks(watched, text.names, **settings), sample


@contextmanager
def _count_in_shards(
    text: "Text", where: "Where", settings: "CountSettings"
) -> Iterator["tuple[NgramDictionary, LineSample]"]:
    from ..ngrams.counting.settings import Settings
    from ..ngrams.dictionary import NgramDictionary
    from ..ngrams.shards.build import count_text

    chosen = Settings(**settings)
    with count_text(text, chosen, where) as counted:
        dictionary = NgramDictionary.from_counted(counted, text.names, chosen)
        yield dictionary, counted.sample


def _write_in_shards(
    text: "Text", where: "Where", settings: "CountSettings", output: Path
) -> "Written":
    """Write a dictionary that may be larger than the memory that is allowed."""
    from ..ngrams.counting.settings import Settings
    from ..ngrams.shards.build import count_text
    from ..ngrams.shards.table import write_table

    chosen = Settings(**settings)
    with count_text(text, chosen, where) as counted:
        return write_table(output, counted, text.names, chosen)


def _report(
    dictionary: "NgramDictionary",
    sample: "LineSample",
    lang: str | None,
    output: Path,
    settings: "CountSettings",
) -> None:
    from ..segmenters.coverage import held_out_coverage

    print_info(dictionary)
    if dictionary and sample.lines:
        _print_coverage(held_out_coverage(dictionary, sample, lang=lang, **settings))
    _print_written(dictionary, output)


def _print_written(dictionary: "NgramDictionary | Written", output: Path) -> None:
    msg.good(f"Wrote {len(dictionary):,} n-grams to {visible(str(output))}")


def print_info(dictionary: "NgramDictionary | Written") -> None:
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
