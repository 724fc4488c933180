"""`python -m spacy spanft convert`."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from ..errors import SpanftError, report, shown
from ..ml.pairs import SEPARATOR
from . import options as opt
from .util import given, report_guess

if TYPE_CHECKING:
    from spacy.tokens import DocBin
    from spacy.training import Example

    from ..configs.summary import DataSummary

InputFormat = Literal["tsv", "csv", "jsonl", "parquet", "conll"]


def convert_cli(
    input_path: Annotated[str, Argument(help="A table (CSV, TSV, JSONL or Parquet), CoNLL's columns, or JSONL with character offsets; .gz, .bz2 and .zst are decompressed")],  # noqa: E501
    output: Annotated[Path, Argument(help="The .spacy file to write; as in `spacy convert`, an existing one is overwritten")],  # noqa: E501
    format: Annotated[InputFormat | None, Option("--format", "-f", help="The format of the input; detected if omitted")] = None,  # noqa: E501
    text: opt.Text = None,
    text_pair: opt.TextPair = None,
    label: opt.Label = None,
    label_separator: opt.LabelSeparator = None,
    labels: Annotated[str | None, Option(help="New names of the labels: 0=bad,1=good")] = None,  # noqa: E501
    score: opt.Score = None,
    separator: opt.Separator = None,
    header: Annotated[str | None, Option(help="The names of the columns, if the file has none: id,label,text")] = None,  # noqa: E501
    incomplete: opt.Incomplete = None,
    gold_tokens: Annotated[bool, Option("--gold-tokens/--no-gold-tokens", help="CoNLL: whether pipelines get the file's tokens, or tokenize the text themselves")] = True,  # noqa: E501
    spans_key: Annotated[str | None, Option(help="Entities: a key in doc.spans for them too, for spancat")] = None,  # noqa: E501
    errors: opt.BadBytes = "strict",
    encoding: opt.Encoding = "utf-8",
    limit: Annotated[int, Option(min=0, help="Read only so many Docs; 0 reads all")] = 0,  # noqa: E501
    lang: opt.Lang = "en",
) -> None:  # fmt: skip
    """Convert a table, CoNLL's columns, or JSONL with offsets to .spacy."""
    from ..configs.sources import data_format, refuse
    from ..training.readers.classification import table_corpus
    from ..training.readers.entities import conll_corpus
    from ..util.columns import find_columns
    from ..util.files import check_target, write_whole
    from ..util.pipelines import blank

    if output.suffix != ".spacy":
        raise SpanftError(f"The output {str(output)!r} does not end in .spacy.")
    check_target(output, [input_path])
    typed = given(text=text, text_pair=text_pair, label=label, score=score)
    of_rows = given(label_separator=label_separator, separator=separator)
    of_rows |= given(incomplete=incomplete)
    of_table = typed | of_rows | given(labels=labels, header=header)
    how: Any = {"errors": errors, "encoding": encoding}
    columns: dict[str, str] = {}
    is_conll = not (format or typed) and data_format(input_path) == "entities"
    if is_conll or format == "conll":
        refuse(of_table.keys(), shown(input_path))
        how |= {"gold_tokens": gold_tokens, "spans_key": spans_key}
        corpus = conll_corpus(input_path, limit=limit, **how)
    else:
        refuse(given(spans_key=spans_key).keys(), shown(input_path))
        names = [name.strip() for name in header.split(",")] if header else None
        how |= {"format": format, "header": names}
        columns = find_columns(input_path, typed, answer="either", **how)
        report_guess(columns, typed)
        renamed = None if labels is None else _new_names(labels)
        how |= columns | of_rows
        corpus = table_corpus(input_path, labels=renamed, limit=limit, **how)
        text_pair = columns.get("text_pair")
    tokenizer = {"@tokenizers": "spacy-spanft.PairTokenizer.v1"}
    tokenizer["separator"] = separator or SEPARATOR
    nlp = blank(lang, {"nlp": {"tokenizer": tokenizer}} if text_pair else {})
    docs, summary, n_empty = _references(corpus(nlp), gold_tokens)
    if not len(docs):
        raise SpanftError(f"All texts of {input_path!r} are empty.")
    if n_empty:
        report(f"⚠ Empty texts of {input_path!r}, which are left out: {n_empty:,}.")
    write_whole(output, docs.to_bytes())
    report(f"✔ {summary.describe(str(output))}")


def _new_names(value: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in value.split(",")]
    if not all(equals for _, equals, _ in pairs):
        raise SpanftError(f"--labels is {value!r}, but must be like 0=bad,1=good.")
    return {key.strip(): name.strip() for key, _, name in pairs}


def _references(
    examples: "Iterator[Example]", gold_tokens: bool
) -> "tuple[DocBin, DataSummary, int]":
    """Collect the references; spaCy would skip the empty ones, which are counted."""
    from spacy.tokens import DocBin

    from ..configs.summary import DataSummary
    from ..training.gold import entities_in, labels_in

    docs, summary, n_empty = DocBin(), DataSummary(), 0
    for doc in (example.reference for example in examples):
        if not len(doc):
            n_empty += 1
            continue
        if not gold_tokens:
            # spaCy gives pipelines the Docs' own tokens where spaces are unknown.
            doc.has_unknown_spaces = False
        # Spans are counted where there are no entities, which they repeat.
        summary.add(doc, list(entities_in(doc)) or list(labels_in(doc)))
        docs.add(doc)
    return docs, summary, n_empty
