"""`python -m spacy spanft init`."""

import sys
from enum import Enum
from pathlib import Path
from textwrap import indent
from typing import Annotated

from typer import Argument, Option

from ..errors import SpanftError, check_setting, visible
from .util import Segmentation


class Pipeline(str, Enum):
    """What a config trains."""

    textcat = "textcat"
    textcat_multilabel = "textcat_multilabel"
    pair = "pair"
    score = "score"
    text_score = "text_score"
    ner = "ner"
    bilou_ner = "bilou_ner"
    spancat = "spancat"
    tagger = "tagger"


class Encoder(str, Enum):
    """Which component encodes."""

    spanft = "spanft"
    spacy_transformers = "spacy-transformers"


class Regime(str, Enum):
    """How a config trains."""

    everything = "everything"
    grouped = "grouped"
    head_first = "head-first"


# fmt: off
Output = Annotated[str, Argument(help="The config to write; '-' for standard output", show_default=False)]  # noqa: E501
Which = Annotated[Pipeline | None, Option("--pipeline", "-p", help="The task. Detected from --train if omitted; textcat without it", show_default=False)]  # noqa: E501
Lang = Annotated[str, Option("--lang", "-l", help="The code of the language")]
WhichEncoder = Annotated[Encoder, Option("--encoder", help="The component that encodes: our own, or that of spacy-transformers")]  # noqa: E501
Transformer = Annotated[str | None, Option("--transformer", "-t", help="The encoder, by name or folder; default: bert-base-uncased, or that of `spacy init config` for the language", show_default=False)]  # noqa: E501
DictionaryFile = Annotated[Path | None, Option("--dictionary", "-d", help="The n-grams; default: the built-in English dictionary", show_default=False)]  # noqa: E501
HowTrained = Annotated[Regime | None, Option("--regime", "-r", help="Train everything at one rate, the head at its own rate, or the head first; default: head-first for ner, bilou_ner, spancat and tagger, otherwise everything", show_default=False)]  # noqa: E501
Train = Annotated[str | None, Option("--train", help="The training data: a TSV, CSV, JSONL, CoNLL or .spacy file, or a dataset: a folder, or NAME or NAME:CONFIG on the Hugging Face hub", show_default=False)]  # noqa: E501
Dev = Annotated[str | None, Option("--dev", help="The data to evaluate on during training; default: a fifth of --train. Of a dataset, its validation split", show_default=False)]  # noqa: E501
Text = Annotated[str | None, Option("--text", help="The column of the text", show_default=False)]  # noqa: E501
TextPair = Annotated[str | None, Option("--text-pair", help="The column of the second text", show_default=False)]  # noqa: E501
Label = Annotated[str | None, Option("--label", help="The column of the label", show_default=False)]  # noqa: E501
Score = Annotated[str | None, Option("--score", help="The column of the score", show_default=False)]  # noqa: E501
Pooled = Annotated[Segmentation | None, Option("--segmentation", help="Use spans, or context windows without spans (none); default: none for ner, bilou_ner, spancat and tagger, otherwise spans", show_default=False)]  # noqa: E501
NoSpans = Annotated[bool, Option("--no-spans", help="The baseline: the same model without spans or windows")]  # noqa: E501
Force = Annotated[bool, Option("--force", "-F", help="Overwrite an existing config")]
# fmt: on


def init_cli(
    output: Output,
    pipeline: Which = None,
    lang: Lang = "en",
    encoder: WhichEncoder = Encoder.spanft,
    transformer: Transformer = None,
    dictionary: DictionaryFile = None,
    regime: HowTrained = None,
    segmentation: Pooled = None,
    no_spans: NoSpans = False,
    train: Train = None,
    dev: Dev = None,
    text: Text = None,
    text_pair: TextPair = None,
    label: Label = None,
    score: Score = None,
    force: Force = False,
) -> None:
    """Write a config that trains a pipeline with spans, with windows, or its baseline.

    With --train it inspects the data, and fits the config to them.
    """
    from ..configs import (
        config_text,
        fit_to_data,
        guess_columns,
        guess_task,
        task_config,
        train_command,
    )
    from ..util.files import check_target, write_whole

    _check_options(lang, transformer, dictionary, segmentation, no_spans)
    if train is None and dev is not None:
        raise SpanftError("--dev is given without --train: add the training data.")
    if output != "-":
        check_target(output, [train, dev, dictionary], force=force)
    options = {"text": text, "text_pair": text_pair, "label": label, "score": score}
    columns = {name: value for name, value in options.items() if value is not None}
    task = pipeline.value if pipeline else "textcat"
    if train is not None and pipeline in (None, Pipeline.score, Pipeline.text_score):
        columns = guess_columns(train, columns)
    if train is not None and pipeline is None:
        task = guess_task(train, columns, lang)
        _print(f"ℹ Detected from the data: --pipeline {task}")
    files = {"train": train, "dev": dev}
    config = task_config(
        task,
        lang=lang,
        encoder=encoder.value,
        transformer=transformer,
        dictionary=dictionary,
        files={part: path for part, path in files.items() if path is not None},
        columns=columns,
        spans=not no_spans,
        segmentation=segmentation.value if segmentation else None,
        regime=regime.value if regime else None,
    )
    if train is not None:
        fitted = fit_to_data(config, task, train, dev)
        for note in fitted.notes:
            _print(f"ℹ {note}")
        for warning in fitted.warnings:
            _print(f"⚠ {warning}")
    name = "config.cfg" if output == "-" else output
    written = config_text(config, task, name)
    if output == "-":
        print(written, end="")
        return
    write_whole(output, written.encode())
    _print(f"✔ Wrote {output}. Train it with (for a GPU, add --gpu-id 0):")
    print(indent(train_command(config, task, name), "  "), file=sys.stderr)


def _check_options(
    lang: str,
    transformer: str | None,
    dictionary: Path | None,
    segmentation: Segmentation | None,
    no_spans: bool,
) -> None:
    """Raise for wrong options, before data are read for minutes."""
    from ..configs import check_encoder
    from ..ngrams.dictionary import NgramDictionary
    from ..util.pipelines import blank

    if no_spans and (dictionary is not None or segmentation is not None):
        raise SpanftError(
            "--no-spans makes the baseline, which has no use for --dictionary or "
            "--segmentation. Leave out either."
        )
    if transformer is not None:
        expected = "the name or the folder of an encoder"
        check_setting("--transformer", transformer, bool(transformer.strip()), expected)
        check_encoder(transformer)
    blank(lang)
    if dictionary is not None:
        NgramDictionary.from_disk(dictionary)


def _print(message: str) -> None:
    print(visible(message), file=sys.stderr)
