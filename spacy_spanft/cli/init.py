"""`python -m spacy spanft init`."""

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors.visible import visible
from .util import blank, short_errors


class Pipeline(str, Enum):
    """What a config trains."""

    textcat = "textcat"
    textcat_multilabel = "textcat_multilabel"
    pair = "pair"
    score = "score"
    ner = "ner"
    bilou_ner = "bilou_ner"
    spancat = "spancat"
    tagger = "tagger"


class Regime(str, Enum):
    """How a config trains."""

    everything = "everything"
    grouped = "grouped"
    head_first = "head-first"


# fmt: off
Output = Annotated[str, Argument(help="The config to write; '-' is the standard output", show_default=False)]  # noqa: E501
Which = Annotated[Pipeline, Option("--pipeline", "-p", help="What is trained: labels of texts or of pairs of texts, scores of pairs, entities, spans, tags")]  # noqa: E501
Lang = Annotated[str, Option("--lang", "-l", help="The code of the language")]
Transformer = Annotated[str | None, Option("--transformer", "-t", help="The encoder, by name or folder; BERT's if there is none", show_default=False)]  # noqa: E501
DictionaryFile = Annotated[Path | None, Option("--dictionary", "-d", help="The n-grams; the default English ones if there is none", show_default=False)]  # noqa: E501
HowTrained = Annotated[Regime, Option("--regime", "-r", help="Everything at one rate, the head at a rate of its own, or the head alone at first")]  # noqa: E501
Train = Annotated[str | None, Option("--train", help="The training data: a TSV, CSV or JSONL file, CoNLL's columns, or spaCy's own format", show_default=False)]  # noqa: E501
Dev = Annotated[str | None, Option("--dev", help="The data that is scored while training", show_default=False)]  # noqa: E501
Text = Annotated[str | None, Option("--text", help="The column of the text", show_default=False)]  # noqa: E501
TextPair = Annotated[str | None, Option("--text-pair", help="The column of the second text", show_default=False)]  # noqa: E501
Label = Annotated[str | None, Option("--label", help="The column of the label", show_default=False)]  # noqa: E501
Score = Annotated[str | None, Option("--score", help="The column of the score", show_default=False)]  # noqa: E501
NoSpans = Annotated[bool, Option("--no-spans", help="The baseline: the same without phrases")]  # noqa: E501
Force = Annotated[bool, Option("--force", "-F", help="Write over a config that is there")]  # noqa: E501
# fmt: on


def init_cli(
    output: Output,
    pipeline: Which = Pipeline.textcat,
    lang: Lang = "en",
    transformer: Transformer = None,
    dictionary: DictionaryFile = None,
    regime: HowTrained = Regime.everything,
    no_spans: NoSpans = False,
    train: Train = None,
    dev: Dev = None,
    text: Text = None,
    text_pair: TextPair = None,
    label: Label = None,
    score: Score = None,
    force: Force = False,
) -> None:
    """Write a config that trains a pipeline with spans, or its baseline.

    With --train and --dev it says what is in the data, and what is wrong with it.
    """
    with short_errors():
        from ..configs import make_config
        from ..errors import ConfigError, Errors
        from ..ngrams.dictionary import NgramDictionary
        from ..util.files import check_target, write_whole

        if no_spans and dictionary is not None:
            raise ConfigError(Errors.DICTIONARY_WITHOUT_SPANS)
        if transformer is not None and not transformer.strip():
            place = {"name": "--transformer", "value": transformer}
            place["expected"] = "the name or the folder of an encoder"
            raise ConfigError(Errors.BAD_SETTING.format(**place))
        blank(lang)  # says now if there is no such language
        if output != "-":
            check_target(output, [])
            if Path(output).exists() and not force:
                raise ConfigError(Errors.CONFIG_EXISTS.format(path=output))
        if dictionary is not None:
            NgramDictionary.from_disk(dictionary)  # says now what is wrong with it
        columns = {"text": text, "text_pair": text_pair, "label": label}
        files = _given({"train": train, "dev": dev})
        config = make_config(
            pipeline.value,
            spans=not no_spans,
            regime=regime.value,
            lang=lang,
            transformer=transformer,
            dictionary=dictionary,
            files=files,
            columns=_given({**columns, "score": score}),
            name="config.cfg" if output == "-" else output,
        )
        _look(config, pipeline.value, files)
        if output == "-":
            print(config, end="")
            return
        write_whole(output, config.encode())
        print(f"✔ Written to {visible(output)}. Train it with:", file=sys.stderr)
        print(_command(config), file=sys.stderr)


def _given(values: dict[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


def _look(text: str, task: str, files: dict[str, str]) -> None:
    """Say what is in the data."""
    from confection import Config

    from ..configs import concerns, look, told

    config = Config().from_str(text, interpolate=False)
    seen = {part: look(config, task, part) for part in files}
    for part, one in seen.items():
        print(f"ℹ {visible(told(files[part], one))}", file=sys.stderr)
    for sentence in concerns(task, files, seen):
        print(f"⚠ {visible(sentence)}", file=sys.stderr)


def _command(config: str) -> str:
    """Find the command in the comment at the beginning of a config."""
    _, _, *lines = config.split("\n")
    return "\n".join(visible(line[2:]) for line in lines[: lines.index("#")])
