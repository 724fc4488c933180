"""Counting n-grams: ours against `Counter` over `nltk.everygrams` and polars.

    python -m benchmarks.counting enwiki2015.txt.zst --n-tokens 20000000

All read the same file of lower-case tokens with single spaces between them, a paragraph
a line, and return the n-grams of two to five words, each with a letter or digit, that
occur at least ten times. --identical compares the results, too.
"""

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import typer

from .harness import in_turns, needs, read_lines, without_missing
from .report import report_runs

MAX_N, MIN_COUNT = 5, 10


def ours(path: str, keep: bool) -> Any:
    from spacy_spanft import NgramDictionary

    ngrams = NgramDictionary.from_files(path, tokenizer="whitespace")
    return dict(ngrams) if keep else len(ngrams)


def nltk_everygrams(path: str, keep: bool) -> Any:
    from nltk.util import everygrams

    counts: Counter[tuple[str, ...]] = Counter()
    with open(path, encoding="utf8") as file:
        for line in file:
            counts.update(everygrams(line.split(), 2, MAX_N))
    frequent = {
        " ".join(ngram): count
        for ngram, count in counts.items()
        if count >= MIN_COUNT and all(any(map(str.isalnum, w)) for w in ngram)
    }
    return frequent if keep else len(frequent)


def polars_group_by(path: str, keep: bool) -> Any:
    import polars as pl

    lines = pl.scan_csv(
        path, has_header=False, separator="\n", quote_char=None, new_columns=["line"]
    )
    # A null after each line and for each token without letter or digit: group_by over n
    # shifted columns then drops every n-gram across one.
    tokens = lines.select(
        pl.concat_list(pl.col("line").str.split(" "), pl.lit("", pl.String))
        .explode()
        .alias("word")
    ).with_columns(
        pl.when(pl.col("word").str.contains(r"[\p{L}\p{N}]")).then(pl.col("word"))
    )
    tokens = tokens.collect(engine="streaming").lazy()
    distinct = pl.col("word").drop_nulls().unique()
    names = tokens.select(distinct).collect(engine="streaming")["word"]
    number = pl.col("word").cast(pl.Enum(names)).to_physical().alias("w0")
    ids = tokens.select(number).collect(engine="streaming").lazy()
    del tokens
    frequent: dict[str, int] = {}
    n_frequent = 0
    for n in range(2, MAX_N + 1):
        columns = [f"w{i}" for i in range(n)]
        shifted = [pl.col("w0").shift(-i).alias(f"w{i}") for i in range(n)]
        counts = (
            ids.select(shifted)
            .drop_nulls()
            .group_by(columns)
            .len()
            .filter(pl.col("len") >= MIN_COUNT)
            .collect(engine="streaming")
        )
        n_frequent += len(counts)
        if keep:
            for *row, count in counts.iter_rows():
                frequent[" ".join(names[i] for i in row)] = count
    return frequent if keep else n_frequent


CONTESTANTS = {
    function.__name__: function for function in (ours, nltk_everygrams, polars_group_by)
}
CHECKS = {"nltk_everygrams": needs("nltk"), "polars_group_by": needs("polars")}


def main(
    text: Path, n_tokens: int = 20_000_000, repeat: int = 3, identical: bool = False
) -> None:
    """Measure."""
    able = without_missing(CONTESTANTS, CHECKS)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "tokens.txt")
        n = _write_tokens(text, path, n_tokens)
        print(f"{n:,} tokens, n = 2 to {MAX_N}, min count {MIN_COUNT}")
        runs = in_turns({name: (able[name], path, identical) for name in able}, repeat)
    report_runs(runs, "ours", list(CONTESTANTS))
    results = {name: theirs[0].result for name, theirs in runs.items() if theirs}
    for name, result in results.items():
        size = len(result) if identical else result
        print(f"{name}: {size:,} n-grams", end="")
        print(
            f", the same as ours: {result == results.get('ours')}" if identical else ""
        )


def _write_tokens(text: Path, path: str, n_tokens: int) -> int:
    n_written = 0
    with open(path, "w", encoding="utf8") as file:
        for line in read_lines(text):
            tokens = line.lower().split()
            if tokens:
                file.write(" ".join(tokens) + "\n")
            n_written += len(tokens)
            if n_written >= n_tokens:
                break
    return n_written


if __name__ == "__main__":
    typer.run(main)
