"""`python -m spacy spanft convert`."""

import json
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from ..errors import SpanftError, visible
from ..ml.pairs import SEPARATOR
from ..util.pipelines import blank
from .util import OnBadBytes, short_errors

if TYPE_CHECKING:
    from spacy.language import Language


class InputFormat(Enum):
    """The kinds of input."""

    tsv = "tsv"
    csv = "csv"
    jsonl = "jsonl"
    conll = "conll"


class OnIncomplete(Enum):
    """How rows are treated that lack cells or a label."""

    error = "error"
    skip = "skip"


class Unit(Enum):
    """What becomes one Doc."""

    sentence = "sentence"
    document = "document"


# fmt: off
Input = Annotated[str, Argument(help="A table (TSV, CSV or JSONL), CoNLL's columns, or JSONL with character offsets; .gz, .bz2 and .zst are decompressed", show_default=False)]  # noqa: E501
Output = Annotated[Path, Argument(help="The .spacy file to write", show_default=False)]
Format = Annotated[InputFormat | None, Option("--format", "-f", help="The format of the input; detected if omitted")]  # noqa: E501
Text = Annotated[str | None, Option(help="The column of the text, or of the first of two (text)", show_default=False)]  # noqa: E501
TextPair = Annotated[str | None, Option(help="The column of the second text of a pair", show_default=False)]  # noqa: E501
Label = Annotated[str | None, Option(help="The column of the label (label)", show_default=False)]  # noqa: E501
NoLabel = Annotated[bool, Option("--no-label", help="Read the texts alone")]
Labels = Annotated[str | None, Option(help="New names of the labels: 0=bad,1=good, or a JSON object", show_default=False)]  # noqa: E501
Score = Annotated[str | None, Option(help="The column of a number, in place of labels", show_default=False)]  # noqa: E501
Separator = Annotated[str | None, Option(help=f"Stands between the texts of a pair ({SEPARATOR}); that of the pipeline's tokenizer", show_default=False)]  # noqa: E501
Header = Annotated[str | None, Option(help="The names of the columns, if the file has none: id,label,text, or a JSON list", show_default=False)]  # noqa: E501
Incomplete = Annotated[OnIncomplete | None, Option(help="How to treat rows that lack cells or a label (error)", show_default=False)]  # noqa: E501
UnitOf = Annotated[Unit | None, Option(help="CoNLL: what becomes one Doc (sentence)", show_default=False)]  # noqa: E501
GoldTokens = Annotated[bool | None, Option("--gold-tokens/--no-gold-tokens", help="CoNLL: whether pipelines get the file's tokens, or tokenize the text themselves (gold tokens)", show_default=False)]  # noqa: E501
SpansKey = Annotated[str | None, Option(help="Entities: a key in doc.spans for them too, for spancat", show_default=False)]  # noqa: E501
BadBytes = Annotated[OnBadBytes, Option("--errors", help="How to handle invalid UTF-8")]
Limit = Annotated[int, Option(min=0, help="Read only so many Docs; 0 reads all")]
Lang = Annotated[str, Option("--lang", "-l", help="The language of the tokenizer")]
# fmt: on


def convert_cli(
    input_path: Input,
    output: Output,
    format: Format = None,
    text: Text = None,
    text_pair: TextPair = None,
    label: Label = None,
    no_label: NoLabel = False,
    labels: Labels = None,
    score: Score = None,
    separator: Separator = None,
    header: Header = None,
    incomplete: Incomplete = None,
    unit: UnitOf = None,
    gold_tokens: GoldTokens = None,
    spans_key: SpansKey = None,
    errors: BadBytes = OnBadBytes.strict,
    limit: Limit = 0,
    lang: Lang = "en",
) -> None:
    """Convert a table, CoNLL's columns or annotated JSONL to spaCy's own format."""
    with short_errors():
        from tqdm import tqdm

        from ..training.readers.classification import table_corpus
        from ..training.readers.conll import conll_corpus
        from ..training.readers.docbins import convert
        from ..util.files import check_target, write_whole

        _check_paths(input_path, output)
        check_target(output, [input_path])
        for_tables = {
            "text": text,
            "text_pair": text_pair,
            "label": label,
            "no_label": no_label or None,
            "labels": None if labels is None else _labels(labels),
            "score": score,
            "separator": separator,
            "header": None if header is None else _names(header),
            "incomplete": incomplete and incomplete.value,
        }
        for_entities = {
            "unit": unit and unit.value,
            "gold_tokens": gold_tokens,
            "spans_key": spans_key,
        }
        how: Any = {"errors": errors.value, "limit": limit}
        if _has_entities(input_path, format, _given(for_tables)):
            _check_none(for_tables, "entities")
            corpus = conll_corpus(input_path, **_given(for_entities), **how)
        else:
            _check_none(for_entities, "a table")
            how["format"] = format and format.value
            corpus = table_corpus(input_path, **_for_table(_given(for_tables)), **how)
        nlp = _blank(lang, (separator or SEPARATOR) if text_pair else None)
        examples = tqdm(corpus(nlp), "Converting", unit=" docs", disable=None)
        docs, summary = convert(
            examples, score=score is not None, gold_tokens=gold_tokens is not False
        )
        if not len(docs):
            raise SpanftError(f"All texts of {input_path!r} are empty.")
        write_whole(output, docs.to_bytes())
        print(f"✔ {visible(f'{output}: {summary}')}", file=sys.stderr)


def _has_entities(
    path: str, format: InputFormat | None, for_tables: dict[str, Any]
) -> bool:
    from ..training.readers.conll import CONLL_ENDING
    from ..training.readers.offsets import has_offsets

    if format is not None:
        return format is InputFormat.conll
    if CONLL_ENDING.search(path) is not None:
        return True
    return not for_tables and has_offsets(path)


def _given(settings: dict[str, Any]) -> dict[str, Any]:
    """Return what is set; the readers have the same defaults."""
    return {name: value for name, value in settings.items() if value is not None}


def _check_paths(input_path: str, output: Path) -> None:
    if input_path.endswith(".spacy"):
        raise SpanftError(f"{input_path!r} is in spaCy's format already.")
    if output.suffix != ".spacy":
        raise SpanftError(
            f"The output {str(output)!r} does not end in .spacy, and spaCy finds no "
            "data in files with other endings."
        )


def _check_none(settings: dict[str, Any], kind: str) -> None:
    """Raise for options of the other kind of input."""
    if given := _given(settings):
        options = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise SpanftError(
            f"The input is read as {kind}, so {options} would do nothing. Remove it, "
            "or set --format."
        )


def _for_table(settings: dict[str, Any]) -> dict[str, Any]:
    """Translate the options into settings of the reader."""
    if "separator" in settings and "text_pair" not in settings:
        raise SpanftError(
            f"--separator {settings['separator']!r} stands between two texts, but "
            "there is only one. Name the column of the second text with --text-pair."
        )
    if "score" in settings and "label" in settings:
        raise SpanftError("A text has a label or a score: remove --label or --score.")
    if not settings.pop("no_label", False):
        return settings
    if others := settings.keys() & {"label", "labels", "score"}:
        options = ", ".join(f"--{name}" for name in sorted(others))
        raise SpanftError(f"--no-label reads the texts alone: remove {options}.")
    return {**settings, "label": None}


def _names(value: str) -> list[str]:
    if not value.startswith("["):
        return value.split(",")
    return [str(name) for name in _json("--header", value)]


def _labels(value: str) -> dict[str, str]:
    if value.startswith("{"):
        return dict(_json("--labels", value))
    pairs = [pair.partition("=") for pair in value.split(",")]
    if not all(equals for _, equals, _ in pairs):
        raise SpanftError(
            f"--labels is {value!r}, but must be like 0=bad,1=good, or a JSON object."
        )
    return {key: name for key, _, name in pairs}


def _json(option: str, value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError as error:
        raise SpanftError(f"{option} is not JSON: {error}.") from error


def _blank(lang: str, separator: str | None) -> "Language":
    """Return a blank pipeline, whose tokenizer knows the separator of pairs."""
    tokenizer = {"@tokenizers": "spacy-spanft.PairTokenizer.v1", "separator": separator}
    config = {} if separator is None else {"nlp": {"tokenizer": tokenizer}}
    return blank(lang, config)
