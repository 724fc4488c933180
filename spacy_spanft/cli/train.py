"""`python -m spacy spanft train | pretrain`."""

import os
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Context, Option

from ..errors import report
from . import options as opt
from .util import read_overrides, report_texts

Unit = Literal["tokens", "words", "spans", "ngrams"]
Precision = Literal["fp32", "fp16", "bf16"]


def train_cli(
    ctx: Context,
    config_path: Annotated[Path, Argument(help="The config")],
    output: Annotated[Path | None, Option("--output", "-o", help="Directory to save the pipelines to")] = None,  # noqa: E501
    code: opt.Code = None,
    gpu_id: Annotated[int, Option("--gpu-id", "-g", min=-1, max=0, help="0 to give each process its own GPU; -1 for CPU")] = -1,  # noqa: E501
) -> None:  # fmt: skip
    """Train like `spacy train`, but on several GPUs.

    Started by torchrun --nproc-per-node 4 -m spacy spanft train CONFIG. Settings are
    given as to `spacy train`: --training.max_steps 10.
    """
    from ..configs.templates import change, read_config
    from ..training.parallel import train_in_group
    from ..util._compat import spacy_cli
    from ..util.files import check_folder

    if output is not None:
        check_folder(output)
    config = read_config(config_path)
    for name, value in read_overrides(ctx.args).items():
        change(config, name, value, "The command line")
    spacy_cli().import_code(code)
    train_in_group(config, output, on_gpus=gpu_id >= 0)


def pretrain_cli(
    ctx: Context,
    texts: Annotated[list[Path], Argument(help="Text files with a text or paragraph a line, or tables; compressed or not")],  # noqa: E501
    *,
    model: Annotated[str, Option("--model", "-m", help="The model to begin with, by name or path")],  # noqa: E501
    output: Annotated[Path, Option("--output", "-o", help="The folder to write; an interrupted training in it is resumed")],  # noqa: E501
    overwrite: Annotated[bool, Option("--overwrite", help="Start over, even if the output holds an encoder")] = False,  # noqa: E501
    column: opt.Column = None,
    masking: Annotated[Unit, Option(help="What is masked at once")] = "spans",
    sbo: Annotated[bool, Option("--sbo/--no-sbo", help="Predict spans from their boundaries, too")] = True,  # noqa: E501
    share: Annotated[float, Option(help="The share of the tokens that is masked")] = 0.15,  # noqa: E501
    dictionary: opt.DictionaryFile = None,
    lang: opt.Lang = "en",
    max_length: Annotated[int | None, Option(help="The largest number of tokens of a sequence. Default: what the encoder takes, up to 512")] = None,  # noqa: E501
    errors: opt.BadBytes = "strict",
    encoding: opt.Encoding = "utf-8",
    from_scratch: Annotated[bool, Option("--from-scratch", help="Begin with random weights, of the shape in the model's config.json")] = False,  # noqa: E501
    epochs: Annotated[float, Option(min=0, help="The number of passes over the text")] = 1.0,  # noqa: E501
    steps: Annotated[int | None, Option(min=1, help="The number of steps, instead of epochs")] = None,  # noqa: E501
    batch_size: Annotated[int, Option("--batch-size", "-b", min=1, help="The number of sequences that each GPU takes at once")] = 4,  # noqa: E501
    accumulate: Annotated[int, Option(min=1, help="The number of batches in a step")] = 8,  # noqa: E501
    learning_rate: Annotated[float, Option(min=0, help="The highest learning rate")] = 1e-4,  # noqa: E501
    precision: Annotated[Precision, Option(help="fp16 and bf16 are mixed precision")] = "fp32",  # noqa: E501
    eval_share: Annotated[float, Option(min=0, max=0.5, help="The share of the text that is held out")] = 0.01,  # noqa: E501
    save_every: Annotated[int, Option(min=1, help="The steps between two checkpoints, and two measurements")] = 500,  # noqa: E501
    seed: Annotated[int, Option(help="Of the weights, the order and the masks")] = 0,
) -> None:  # fmt: skip
    """Pre-train an encoder on your own text.

    As in SpanBERT, spans of words are masked, and predicted from their context and from
    the two tokens beside them. The output is a folder that spaCy takes as the name of a
    transformer. Rerun the same command to resume. `torchrun -m spacy spanft pretrain
    ...` uses several GPUs.
    """
    from ..pretraining import Settings, pretrain

    # The settings are named as the options.
    names = {field.name for field in fields(Settings)}
    options = {name: value for name, value in ctx.params.items() if name in names}
    settings = Settings(**{**options, "dictionary": dictionary})
    report_texts(texts, column, errors=errors, encoding=encoding)
    try:
        pretrained = pretrain(model, texts, output, settings, overwrite=overwrite)
    except KeyboardInterrupt:
        report("Run the same command again to resume.")
        raise
    if os.environ.get("RANK", "0") != "0":
        return
    measured = ""
    if pretrained.perplexity is not None:
        measured = f", held-out perplexity {pretrained.perplexity:.2f}"
    report(f"✔ Wrote {output}: {pretrained.steps:,} steps{measured}")
