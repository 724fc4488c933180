"""`python -m spacy spanft init`."""

import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..errors.visible import visible
from ..util.languages import blank
from .util import Segmentation, short_errors

if TYPE_CHECKING:
    from confection import Config


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
Output = Annotated[str, Argument(help="The config to write; '-' is the standard output", show_default=False)]  # noqa: E501
_OF_SCORES = (Pipeline.score, Pipeline.text_score)
Which = Annotated[Pipeline | None, Option("--pipeline", "-p", help="What is trained: labels or scores of texts or of pairs of texts, entities, spans, tags; detected from --train if not given, otherwise textcat", show_default=False)]  # noqa: E501
Lang = Annotated[str, Option("--lang", "-l", help="The code of the language")]
WhichEncoder = Annotated[Encoder, Option("--encoder", help="The component that encodes: the package's own, or that of spacy-transformers")]  # noqa: E501
Transformer = Annotated[str | None, Option("--transformer", "-t", help="The encoder, by name or folder; default: bert-base-uncased, or what `spacy init config` takes for the language", show_default=False)]  # noqa: E501
DictionaryFile = Annotated[Path | None, Option("--dictionary", "-d", help="The n-grams, where the head looks at spans; default: the built-in English dictionary", show_default=False)]  # noqa: E501
HowTrained = Annotated[Regime | None, Option("--regime", "-r", help="Everything at one rate, the head at a rate of its own, or the head first; default: the head first for ner, bilou_ner, spancat and tagger, otherwise everything", show_default=False)]  # noqa: E501
Train = Annotated[str | None, Option("--train", help="The training data: a TSV, CSV or JSONL file, CoNLL's columns, spaCy's own format, or a dataset of `datasets`: a folder, or NAME or NAME:CONFIG on the hub", show_default=False)]  # noqa: E501
Dev = Annotated[str | None, Option("--dev", help="The data to evaluate on during training; without it, a fifth of --train is held out. A dataset gives its validation split, so that --train and --dev name the same folder or dataset", show_default=False)]  # noqa: E501
Text = Annotated[str | None, Option("--text", help="The column of the text", show_default=False)]  # noqa: E501
TextPair = Annotated[str | None, Option("--text-pair", help="The column of the second text", show_default=False)]  # noqa: E501
Label = Annotated[str | None, Option("--label", help="The column of the label", show_default=False)]  # noqa: E501
Score = Annotated[str | None, Option("--score", help="The column of the score", show_default=False)]  # noqa: E501
LooksAt = Annotated[Segmentation | None, Option("--segmentation", help="What the head looks at: spans, or windows over the text without spans; default: none for ner, bilou_ner, spancat and tagger, otherwise spans", show_default=False)]  # noqa: E501
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
    segmentation: LooksAt = None,
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

    With --train it inspects the data, reports possible problems, and picks a suitable
    reader.
    """
    with short_errors():
        from ..configs import guess_columns, guess_task, task_config, written
        from ..errors import Errors, SpanftError
        from ..util.files import write_whole

        for_spans = {"--dictionary": dictionary, "--segmentation": segmentation}
        if no_spans and (named := [k for k, v in for_spans.items() if v is not None]):
            text = Errors.SETTING_WITHOUT_SPANS.format(options=" and ".join(named))
            raise SpanftError(text)
        if train is None and dev is not None:
            raise SpanftError(Errors.DEV_WITHOUT_TRAIN)
        _check(output, lang, transformer, dictionary, (train, dev), force)
        columns = {"text": text, "text_pair": text_pair, "label": label, "score": score}
        known = _given(columns)
        task = pipeline.value if pipeline else Pipeline.textcat.value
        if train is not None and pipeline in (None, *_OF_SCORES):
            known = guess_columns(train, known)
        if pipeline is None and train is not None:
            task = guess_task(train, known, lang)
            print(f"ℹ Detected from the data: --pipeline {task}", file=sys.stderr)
        how = regime.value if regime else None
        config = task_config(
            task,
            lang=lang,
            encoder=encoder.value,
            transformer=transformer,
            dictionary=dictionary,
            files=_given({"train": train, "dev": dev}),
            columns=known,
            spans=not no_spans,
            segmentation=segmentation.value if segmentation else None,
            regime=how,
        )
        if train is not None:
            _look(config, task, train, dev)
        name = "config.cfg" if output == "-" else output
        done = written(config, task, regime=how, name=name)
        if output == "-":
            print(done, end="")
            return
        write_whole(output, done.encode())
        print(f"✔ Written to {visible(output)}. Train it with:", file=sys.stderr)
        print(_command(done), file=sys.stderr)
        print("For a GPU, add --gpu-id 0.", file=sys.stderr)


def _check(
    output: str,
    lang: str,
    transformer: str | None,
    dictionary: Path | None,
    data: tuple[str | None, ...],
    force: bool,
) -> None:
    """Say what is wrong with options, before data are read for minutes."""
    from ..configs import check_encoder
    from ..errors import check_setting
    from ..ngrams.dictionary import NgramDictionary
    from ..util.files import check_target

    if transformer is not None:
        expected = "the name or the folder of an encoder"
        check_setting("--transformer", transformer, bool(transformer.strip()), expected)
        check_encoder(transformer)
    blank(lang)
    if output != "-":
        check_target(output, [*data, dictionary], force=force)
    if dictionary is not None:
        NgramDictionary.from_disk(dictionary)


def _given(values: dict[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


def _look(config: "Config", task: str, train: str, dev: str | None) -> None:
    """Say what is in the data, and fit the config to it."""
    from ..configs import (
        check_learnable,
        concerns,
        fit_epochs,
        fit_range,
        fit_window,
        left_out_text,
        look,
        score_hint,
        told,
    )

    names = {"train": train, "dev": dev or f"the part of {train} held out as dev data"}
    if dev is None:
        names["train"] = f"the part of {train} to train on"
    seen = {part: look(config, task, part) for part in names}
    for part, one in seen.items():
        print(f"ℹ {visible(told(names[part], one))}", file=sys.stderr)
    if other := left_out_text(config, train):
        said = f"{train} also has the column {other!r}. If the texts are pairs, add "
        print(f"ℹ {visible(said)}--text-pair {visible(other)}.", file=sys.stderr)
    if hint := score_hint(task, seen["train"], config):
        print(f"ℹ {visible(hint)}", file=sys.stderr)
    check_learnable(seen["train"], task, train, config["nlp"]["lang"])
    fitted = (
        fit_epochs(config, seen["train"]),
        fit_window(config, task, seen["train"]),
        fit_range(config, task, seen.values()),
    )
    for said in filter(None, fitted):
        print(f"ℹ {said}", file=sys.stderr)
    for sentence in concerns(task, names, seen):
        print(f"⚠ {visible(sentence)}", file=sys.stderr)


def _command(config: str) -> str:
    """Find the command in the comment at the beginning of a config."""
    _, _, *lines = config.split("\n")
    return "\n".join(visible(line[2:]) for line in lines[: lines.index("#")])
