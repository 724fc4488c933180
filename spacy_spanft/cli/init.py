"""`python -m spacy spanft init | add`."""

from pathlib import Path
from shlex import quote
from textwrap import indent
from typing import Annotated, Literal

from typer import Argument, Option

from ..errors import SpanftError, report, visible
from . import options as opt
from .util import given

# The names of configs.TASKS and REGIMES, which take seconds to import.
Pipeline = Literal["textcat", "textcat_multilabel", "pair", "score", "text_score", "ner", "bilou_ner", "spancat", "tagger"]  # noqa: E501  # fmt: skip
Encoder = Literal["spanft", "spacy-transformers"]
Regime = Literal["everything", "grouped", "head-first"]


def init_cli(
    output: opt.ConfigOutput,
    pipeline: Annotated[Pipeline | None, Option("--pipeline", "-p", help="The task. Detected from --train if omitted; textcat without it")] = None,  # noqa: E501
    lang: opt.Lang = "en",
    encoder: Annotated[Encoder, Option("--encoder", help="The component that encodes: our own, or that of spacy-transformers")] = "spanft",  # noqa: E501
    transformer: opt.Transformer = None,
    gpu: Annotated[bool, Option("--gpu", "-G", help="Choose an encoder for a GPU, such as BERT-base, not a small one")] = False,  # noqa: E501
    dictionary: opt.DictionaryFile = None,
    regime: Annotated[Regime | None, Option("--regime", "-r", help="Train everything at one rate, the head at its own rate, or the head first; default: head-first for ner, bilou_ner, spancat and tagger, otherwise everything; with up to 32 texts, or 3 to 16 labels of up to 2,000, the encoder may then learn by contrast first")] = None,  # noqa: E501
    segmentation: opt.Pooled = None,
    no_spans: Annotated[bool, Option("--no-spans", help="The baseline: the same model without spans or windows")] = False,  # noqa: E501
    train: Annotated[str | None, Option(help="The training data: a CSV, TSV, JSONL, Parquet, CoNLL or .spacy file, or a dataset: a folder, or NAME or NAME:CONFIG on the Hugging Face hub")] = None,  # noqa: E501
    dev: Annotated[str | None, Option(help="The data to evaluate on during training; default: a fifth of --train, or none of few texts. Of a dataset, its validation split")] = None,  # noqa: E501
    text: opt.Text = None,
    text_pair: opt.TextPair = None,
    label: opt.Label = None,
    score: opt.Score = None,
    label_separator: opt.LabelSeparator = None,
    incomplete: opt.Incomplete = None,
    errors: opt.BadBytesOfPipeline = None,
    encoding: opt.EncodingOfPipeline = None,
    force: opt.Force = False,
) -> None:  # fmt: skip
    """Write the config of a training, fitted to your data.

    The task and the columns are guessed from the data; texts are classified over the
    spans of a dictionary, or without any (--no-spans, the baseline).
    """
    from ..configs import encoders, making

    if no_spans and (dictionary is not None or segmentation is not None):
        raise SpanftError("--no-spans excludes --dictionary and --segmentation.")
    # Before data are read for minutes.
    _check_files(output, [train, dev], dictionary, force)
    name = transformer or encoders.default_encoder(lang, gpu=gpu)
    encoders.check_encoder(name)
    about = [f"Encoder: {encoders.describe_encoder(name)}."]
    if transformer is None and not gpu:
        larger = encoders.default_encoder(lang, gpu=True)
        about.append(f"It is small, for a CPU; a larger one: --transformer {larger}.")
    columns = given(text=text, text_pair=text_pair, label=label, score=score)
    columns |= given(label_separator=label_separator, incomplete=incomplete)
    columns |= given(errors=errors, encoding=encoding)
    made = making.config_for_data(
        train,
        dev,
        task=pipeline,
        lang=lang,
        columns=columns,
        encoder=encoder,
        transformer=name,
        dictionary=dictionary,
        spans=not no_spans,
        segmentation=segmentation,
        regime=regime,
    )
    for note in (*made.notes, " ".join([*about, *made.changes])):
        report(f"ℹ {note}")
    for warning in made.warnings:
        report(f"⚠ {warning}")
    file = "config.cfg" if output == "-" else output
    command = indent(making.train_command(made.config, made.task, file), "  ")
    next_step = f"Train it with (for a GPU, add --gpu-id 0):\n{command}"
    if train and output != "-" and not gpu:
        from ..configs.timing import duration, training_seconds

        if not encoders.is_here(name):
            next_step += "\nℹ Once the encoder is downloaded, init estimates the time."
        elif seconds := training_seconds(made):
            next_step += f"\nℹ Training takes about {duration(seconds)} on this CPU."
    _write(output, making.config_text(made.config, made.task, file), next_step)


def add_cli(
    base: Annotated[str, Argument(help="A config, such as one of `spacy init config`")],
    output: opt.ConfigOutput,
    transformer: Annotated[str | None, Option("--transformer", "-t", help="Let all components use this encoder, by name or folder; default: the transformer or tok2vec of the config")] = None,  # noqa: E501
    dictionary: opt.DictionaryFile = None,
    component: Annotated[list[str] | None, Option("--component", "-c", help="A component with a tok2vec; can be repeated. Default: all text classifiers, entity recognizers and span categorizers")] = None,  # noqa: E501
    segmentation: opt.Pooled = None,
    force: opt.Force = False,
) -> None:  # fmt: skip
    """Add spans, or an encoder, to an existing config.

    Text classifiers get a model that pools spans; token-level components (ner, spancat)
    use context windows by default. All else stays as it is, except for comments, which
    spaCy does not keep.
    """
    from ..configs.adding import add_spans
    from ..configs.encoders import check_encoder
    from ..configs.templates import read_config

    _check_files(output, [base], dictionary, force)
    if transformer is not None:
        check_encoder(transformer)
    how = (dictionary, component or (), segmentation, transformer)
    added = add_spans(read_config(base), *how)
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
