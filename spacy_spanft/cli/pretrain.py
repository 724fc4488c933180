"""`python -m spacy spanft pretrain`."""

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors import Errors
from .util import OnBadBytes, short_errors


class Unit(Enum):
    """What is masked at once."""

    tokens = "tokens"
    words = "words"
    spans = "spans"
    ngrams = "ngrams"


class Precision(Enum):
    """How exact numbers are."""

    fp32 = "fp32"
    fp16 = "fp16"
    bf16 = "bf16"


# fmt: off
Model = Annotated[str, Option("--model", "-m", help="The model to begin with, by name or path", show_default=False)]  # noqa: E501
Texts = Annotated[list[str], Option("--text", "-t", help="Text files, compressed or not, with a text or paragraph a line; '-' is the standard input", show_default=False)]  # noqa: E501
More = Annotated[list[str] | None, Argument(help="More text files", metavar="[FILE]...", show_default=False)]  # noqa: E501
Output = Annotated[Path, Option("--output", "-o", help="The folder to write", show_default=False)]  # noqa: E501
Masking = Annotated[Unit, Option("--masking", help="What is masked at once")]
Sbo = Annotated[bool, Option("--sbo/--no-sbo", help="Predict spans from their boundaries, too")]  # noqa: E501
Share = Annotated[float, Option("--share", help="The share of the tokens that is masked")]  # noqa: E501
DictionaryFile = Annotated[Path | None, Option("--dictionary", "-d", help="The n-grams to mask; the default English ones if there is none")]  # noqa: E501
Lang = Annotated[str, Option("--lang", "-l", help="The language whose tokenizer finds the n-grams")]  # noqa: E501
MaxLength = Annotated[int | None, Option("--max-length", help="How many tokens a sequence has at most; else as many as the encoder takes, up to 512", show_default=False)]  # noqa: E501
Pack = Annotated[bool, Option("--pack/--no-pack", help="Fill sequences with the lines that follow, up to the next empty one")]  # noqa: E501
BadBytes = Annotated[OnBadBytes, Option("--errors", help="What to do about bytes in the files that are no text")]  # noqa: E501
FromScratch = Annotated[bool, Option("--from-scratch", help="Begin with fresh weights, not with the model's")]  # noqa: E501
Layers = Annotated[int | None, Option("--layers", help="From scratch: how many layers", show_default=False)]  # noqa: E501
Width = Annotated[int | None, Option("--width", help="From scratch: how wide they are", show_default=False)]  # noqa: E501
VocabSize = Annotated[int | None, Option("--vocab-size", help="From scratch: make a vocabulary of this size of the text", show_default=False)]  # noqa: E501
Epochs = Annotated[float, Option("--epochs", help="How often to pass over the text")]
Steps = Annotated[int | None, Option("--steps", help="How often to change the weights, instead", show_default=False)]  # noqa: E501
BatchSize = Annotated[int, Option("--batch-size", "-b", help="How many sequences each GPU takes at once; more need more memory")]  # noqa: E501
Accumulate = Annotated[int, Option("--accumulate", help="How many batches make one step")]  # noqa: E501
LearningRate = Annotated[float, Option("--learning-rate", help="The highest learning rate")]  # noqa: E501
Warmup = Annotated[float, Option("--warmup", help="The share of the steps in which it rises")]  # noqa: E501
WeightDecay = Annotated[float, Option("--weight-decay", help="How fast weights shrink")]
Exactness = Annotated[Precision, Option("--precision", help="fp16 and bf16 are mixed precision")]  # noqa: E501
EvalShare = Annotated[float, Option("--eval-share", help="The share of the text that is held out")]  # noqa: E501
EvalEvery = Annotated[int, Option("--eval-every", help="After how many steps to measure on it")]  # noqa: E501
SaveEvery = Annotated[int, Option("--save-every", help="After how many steps to save")]
LogEvery = Annotated[int, Option("--log-every", help="After how many steps to write the loss down")]  # noqa: E501
Workers = Annotated[int, Option("--workers", help="How many processes prepare batches")]
Seed = Annotated[int, Option("--seed", help="Another seed, other weights, order and masks")]  # noqa: E501
Resume = Annotated[bool, Option("--resume", help="Go on from the last checkpoint in the output; begin if there is none")]  # noqa: E501
Overwrite = Annotated[bool, Option("--overwrite", help="Begin anew, whatever the output holds")]  # noqa: E501
# fmt: on


def pretrain_cli(
    model: Model,
    text: Texts,
    output: Output,
    more: More = None,
    masking: Masking = Unit.spans,
    sbo: Sbo = True,
    share: Share = 0.15,
    dictionary: DictionaryFile = None,
    lang: Lang = "en",
    max_length: MaxLength = None,
    pack: Pack = True,
    errors: BadBytes = OnBadBytes.strict,
    from_scratch: FromScratch = False,
    layers: Layers = None,
    width: Width = None,
    vocab_size: VocabSize = None,
    epochs: Epochs = 1.0,
    steps: Steps = None,
    batch_size: BatchSize = 4,
    accumulate: Accumulate = 8,
    learning_rate: LearningRate = 1e-4,
    warmup: Warmup = 0.1,
    weight_decay: WeightDecay = 0.01,
    precision: Exactness = Precision.fp32,
    eval_share: EvalShare = 0.01,
    eval_every: EvalEvery = 500,
    save_every: SaveEvery = 500,
    log_every: LogEvery = 50,
    workers: Workers = 0,
    seed: Seed = 0,
    resume: Resume = False,
    overwrite: Overwrite = False,
) -> None:
    """Pre-train an encoder on text of your own, as SpanBERT was.

    Spans of words are masked, and predicted from their context, and from the two
    tokens beside them. The output is a folder that spaCy takes as the name of a
    transformer. `torchrun -m spacy spanft pretrain ...` uses several GPUs.
    """
    given = {**locals()}
    with short_errors():
        from ..pretraining import Settings, pretrain
        from ..pretraining.folder import last_whole
        from ..pretraining.run import is_main

        names = ("model", "text", "output", "more", "resume", "overwrite")
        settings = {
            name: value.value if isinstance(value, Enum) else value
            for name, value in given.items()
            if name not in names
        }
        try:
            done = pretrain(
                model,
                [*text, *(more or ())],
                output,
                Settings(**settings),
                resume=resume,
                overwrite=overwrite,
            )
        except KeyboardInterrupt:
            has_one = last_whole(output) is not None
            message = Errors.STOPPED_TRAINING if has_one else Errors.STOPPED_EARLY
            print(message, file=sys.stderr)
            raise
        if not is_main():
            return
        reached = ""
        if done.perplexity is not None:
            reached = f", held-out perplexity {done.perplexity:.2f}"
        print(f"✔ Wrote {output}: {done.steps:,} steps{reached}", file=sys.stderr)
