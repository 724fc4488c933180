"""`python -m spacy spanft convert`."""

import json
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from ..errors import Errors, ReaderError
from ..errors.visible import visible
from ..ml.pairs import SEPARATOR
from ..util.languages import blank
from .util import OnBadBytes, short_errors

if TYPE_CHECKING:
    from spacy.language import Language


class InputFormat(Enum):
    """What is read."""

    tsv = "tsv"
    csv = "csv"
    jsonl = "jsonl"
    conll = "conll"


class OnIncomplete(Enum):
    """What to do about rows that lack cells or a label."""

    error = "error"
    skip = "skip"


class Unit(Enum):
    """What becomes one Doc."""

    sentence = "sentence"
    document = "document"


# fmt: off
Input = Annotated[str, Argument(help="A table (TSV, CSV or JSONL), or CoNLL's columns; .gz, .bz2 and .zst are decompressed", show_default=False)]  # noqa: E501
Output = Annotated[Path, Argument(help="The .spacy file to write", show_default=False)]
Format = Annotated[InputFormat | None, Option("--format", "-f", help="What the input is; if left out, its ending tells")]  # noqa: E501
Text = Annotated[str | None, Option(help="The column of the text, or of the first of two (text)", show_default=False)]  # noqa: E501
TextPair = Annotated[str | None, Option(help="The column of the second text of a pair", show_default=False)]  # noqa: E501
Label = Annotated[str | None, Option(help="The column of the label (label)", show_default=False)]  # noqa: E501
NoLabel = Annotated[bool, Option("--no-label", help="Read the texts alone")]
Labels = Annotated[str | None, Option(help="What each value of that column is called: 0=bad,1=good, or a JSON object", show_default=False)]  # noqa: E501
Score = Annotated[str | None, Option(help="The column of a number, in the place of labels", show_default=False)]  # noqa: E501
Separator = Annotated[str | None, Option(help=f"Stands between the texts of a pair ({SEPARATOR}); that of the pipeline's tokenizer", show_default=False)]  # noqa: E501
Header = Annotated[str | None, Option(help="The names of the columns, if the file has none: id,label,text, or a JSON list", show_default=False)]  # noqa: E501
Incomplete = Annotated[OnIncomplete | None, Option(help="What to do about rows that lack cells or a label (error)", show_default=False)]  # noqa: E501
UnitOf = Annotated[Unit | None, Option(help="CoNLL: what becomes one Doc (sentence)", show_default=False)]  # noqa: E501
GoldTokens = Annotated[bool | None, Option("--gold-tokens/--no-gold-tokens", help="CoNLL: whether pipelines get the file's tokens, or cut the text themselves (gold tokens)", show_default=False)]  # noqa: E501
SpansKey = Annotated[str | None, Option(help="CoNLL: a key in doc.spans for the entities too, for spancat", show_default=False)]  # noqa: E501
BadBytes = Annotated[OnBadBytes, Option("--errors", help="How to handle invalid UTF-8")]
Limit = Annotated[int, Option(help="Read only so many Docs; 0 reads all")]
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
    """Convert a table or CoNLL's columns to spaCy's format, which all commands read."""
    with short_errors():
        from tqdm import tqdm

        from ..training.readers.conll import conll_corpus
        from ..training.readers.docbins import convert
        from ..training.readers.textcat import table_corpus
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
        for_conll = {
            "unit": unit and unit.value,
            "gold_tokens": gold_tokens,
            "spans_key": spans_key,
        }
        how: Any = {"errors": errors.value, "limit": limit}
        if _is_conll(input_path, format):
            _check_none(for_tables, "CoNLL's columns")
            corpus = conll_corpus(input_path, **_given(for_conll), **how)
        else:
            _check_none(for_conll, "a table")
            how["format"] = format and format.value
            corpus = table_corpus(input_path, **_for_table(_given(for_tables)), **how)
        nlp = _blank(lang, (separator or SEPARATOR) if text_pair else None)
        examples = tqdm(corpus(nlp), "Converting", unit=" docs", disable=None)
        found = convert(
            examples, score=score is not None, gold_tokens=gold_tokens is not False
        )
        if not len(found.docs):
            raise ReaderError(Errors.ONLY_EMPTY.format(source=repr(input_path)))
        write_whole(output, found.docs.to_bytes())
        print(f"✔ {visible(f'{output}: {found}')}", file=sys.stderr)


def _is_conll(path: str, format: InputFormat | None) -> bool:
    from ..training.readers.conll import CONLL_ENDING

    if format is None:
        return CONLL_ENDING.search(path) is not None
    return format is InputFormat.conll


def _given(settings: dict[str, Any]) -> dict[str, Any]:
    """Leave the rest to the readers, which have the same defaults."""
    return {name: value for name, value in settings.items() if value is not None}


def _check_paths(input_path: str, output: Path) -> None:
    if input_path.endswith(".spacy"):
        raise ReaderError(Errors.CONVERTED.format(path=input_path))
    if output.suffix != ".spacy":
        raise ReaderError(Errors.NOT_SPACY.format(path=str(output)))


def _check_none(settings: dict[str, Any], kind: str) -> None:
    """Raise for settings that the other kind of input has."""
    if given := _given(settings):
        options = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        place = {"options": options, "kind": kind}
        raise ReaderError(Errors.OTHER_KIND_OF_INPUT.format(**place))


def _for_table(settings: dict[str, Any]) -> dict[str, Any]:
    """Look for contradictions, and turn --no-label into what the reader is told."""
    if "separator" in settings and "text_pair" not in settings:
        raise ReaderError(Errors.SEPARATOR_ALONE.format(**settings))
    if "score" in settings and "label" in settings:
        raise ReaderError(Errors.LABEL_AND_SCORE)
    if not settings.pop("no_label", False):
        return settings
    if there := settings.keys() & {"label", "labels", "score"}:
        others = ", ".join(f"--{name}" for name in sorted(there))
        raise ReaderError(Errors.NO_LABEL_AND.format(others=others))
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
        raise ReaderError(Errors.BAD_LABELS_OPTION.format(value=value))
    return {key: name for key, _, name in pairs}


def _json(option: str, value: str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        message = Errors.BAD_JSON_OPTION.format(option=option, reason=error)
        raise ReaderError(message) from error


def _blank(lang: str, separator: str | None) -> "Language":
    """Make a pipeline that cuts texts into tokens, and perhaps knows a separator."""
    tokenizer = {
        "@tokenizers": "spacy-spanft.PairTokenizer.v1",
        "separator": separator,
    }
    config = {} if separator is None else {"nlp": {"tokenizer": tokenizer}}
    return blank(lang, config)
