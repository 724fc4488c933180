"""`python -m spacy spanft init | add`."""

from pathlib import Path
from shlex import quote
from textwrap import indent
from typing import Annotated, Literal

from typer import Argument, Option

from ..errors import SpanftError, visible
from . import options as opt
from .util import report

# The names of configs.TASKS, ENCODERS and REGIMES, which take seconds to import.
Pipeline = Literal["textcat", "textcat_multilabel", "pair", "score", "text_score", "ner", "bilou_ner", "spancat", "tagger"]  # noqa: E501  # fmt: skip
Encoder = Literal["spanft", "spacy-transformers"]
Regime = Literal["everything", "grouped", "head-first"]


def init_cli(
    output: opt.ConfigOutput,
    pipeline: Annotated[Pipeline | None, Option("--pipeline", "-p", help="The task. Detected from --train if omitted; textcat without it")] = None,  # noqa: E501
    lang: opt.Lang = "en",
    encoder: Annotated[Encoder, Option("--encoder", help="The component that encodes: our own, or that of spacy-transformers")] = "spanft",  # noqa: E501
    transformer: Annotated[str | None, Option("--transformer", "-t", help="The encoder, by name or folder; default: bert-base-uncased, or that of `spacy init config` for the language")] = None,  # noqa: E501
    dictionary: opt.DictionaryFile = None,
    regime: Annotated[Regime | None, Option("--regime", "-r", help="Train everything at one rate, the head at its own rate, or the head first; default: head-first for ner, bilou_ner, spancat and tagger, otherwise everything")] = None,  # noqa: E501
    segmentation: opt.Pooled = None,
    no_spans: Annotated[bool, Option("--no-spans", help="The baseline: the same model without spans or windows")] = False,  # noqa: E501
    train: Annotated[str | None, Option(help="The training data: a CSV, TSV, JSONL, Parquet, CoNLL or .spacy file, or a dataset: a folder, or NAME or NAME:CONFIG on the Hugging Face hub")] = None,  # noqa: E501
    dev: Annotated[str | None, Option(help="The data to evaluate on during training; default: a fifth of --train. Of a dataset, its validation split")] = None,  # noqa: E501
    text: opt.Text = None,
    text_pair: opt.TextPair = None,
    label: opt.Label = None,
    score: opt.Score = None,
    label_separator: opt.LabelSeparator = None,
    encoding: opt.EncodingOfPipeline = None,
    force: opt.Force = False,
) -> None:  # fmt: skip
    """Write a config that trains a pipeline with spans, with windows, or its baseline.

    With --train it inspects the data, and fits the config to them.
    """
    from ..configs import check_encoder, config_for_data, config_text, train_command
    from ..util.pipelines import blank

    if no_spans and (dictionary is not None or segmentation is not None):
        raise SpanftError(
            "--no-spans makes the baseline, which has no use for --dictionary or "
            "--segmentation. Leave out either."
        )
    # Before data are read for minutes.
    _check_files(output, [train, dev], dictionary, force)
    if transformer is not None:
        check_encoder(transformer)
    blank(lang)
    columns = {"text": text, "text_pair": text_pair, "label": label, "score": score}
    columns |= {"label_separator": label_separator, "encoding": encoding}
    made = config_for_data(
        train,
        dev,
        task=pipeline,
        lang=lang,
        columns={key: name for key, name in columns.items() if name is not None},
        encoder=encoder,
        transformer=transformer,
        dictionary=dictionary,
        spans=not no_spans,
        segmentation=segmentation,
        regime=regime,
    )
    for note in made.notes:
        report(f"ℹ {note}")
    for warning in made.warnings:
        report(f"⚠ {warning}")
    name = "config.cfg" if output == "-" else output
    command = indent(train_command(made.config, made.task, name), "  ")
    next_step = f"Train it with (for a GPU, add --gpu-id 0):\n{command}"
    _write(output, config_text(made.config, made.task, name), next_step)


def add_cli(
    base: Annotated[str, Argument(help="A config with a textcat, ner or spancat, best over a transformer")],  # noqa: E501
    output: opt.ConfigOutput,
    dictionary: opt.DictionaryFile = None,
    component: Annotated[list[str] | None, Option("--component", "-c", help="A component with a tok2vec; can be repeated. Default: all text classifiers, entity recognizers and span categorizers")] = None,  # noqa: E501
    segmentation: opt.Pooled = None,
    force: opt.Force = False,
) -> None:  # fmt: skip
    """Add spans to an existing config: the segmenter, and models that pool spans.

    Token-level components (ner, spancat) use context windows by default. All else stays
    as it is, except for comments, which spaCy does not keep.
    """
    from ..configs.adding import add_spans
    from ..configs.templates import read_config

    _check_files(output, [base], dictionary, force)
    added = add_spans(read_config(base), dictionary, component or (), segmentation)
    if output != "-":
        for change in added.changes:
            report(f"✔ {change}")
    command = f"  python -m spacy debug config {quote(visible(output))}"
    text = added.config.to_str(interpolate=False) + "\n"
    _write(output, text, f"Check it with:\n{command}")


def _check_files(
    output: str, sources: list[str | None], dictionary: Path | None, force: bool
) -> None:
    """Raise for an output that cannot be written, or a dictionary that is none."""
    from ..ngrams.dictionary import NgramDictionary
    from ..util.files import check_target

    if output != "-":
        check_target(output, [*sources, dictionary], force=force)
    if dictionary is not None:
        NgramDictionary.from_disk(dictionary)


def _write(output: str, text: str, next_step: str) -> None:
    from ..util.files import write_whole

    if output == "-":
        print(text, end="")
        return
    write_whole(output, text.encode())
    report(f"✔ Wrote {visible(output)}. {next_step}")
