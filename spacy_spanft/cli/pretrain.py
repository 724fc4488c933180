"""`python -m spacy spanft pretrain`."""

import os
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from .texts import BadBytes
from .util import OnBadBytes, short_errors


class MaskingUnit(str, Enum):
    """What is masked at once."""

    tokens = "tokens"
    words = "words"
    spans = "spans"
    ngrams = "ngrams"


class Precision(str, Enum):
    """The numbers that are computed with."""

    fp32 = "fp32"
    fp16 = "fp16"
    bf16 = "bf16"


# fmt: off
Model = Annotated[str, Option("--model", "-m", help="The model to begin with, by name or path", show_default=False)]  # noqa: E501
Texts = Annotated[list[Path], Option("--text", "-t", help="Text files, compressed or not, with a text or paragraph a line", show_default=False)]  # noqa: E501
More = Annotated[list[Path] | None, Argument(help="More text files", metavar="[FILE]...", show_default=False)]  # noqa: E501
Output = Annotated[Path, Option("--output", "-o", help="The folder to write; an interrupted training in it goes on", show_default=False)]  # noqa: E501
Overwrite = Annotated[bool, Option("--overwrite", help="Start over, even if the output holds an encoder")]  # noqa: E501
Masking = Annotated[MaskingUnit, Option("--masking", help="What is masked at once")]
Sbo = Annotated[bool, Option("--sbo/--no-sbo", help="Predict spans from their boundaries, too")]  # noqa: E501
Share = Annotated[float, Option("--share", help="The share of the tokens that is masked")]  # noqa: E501
Dictionary = Annotated[Path | None, Option("--dictionary", "-d", help="The n-grams to mask. Default: the English ones")]  # noqa: E501
Lang = Annotated[str, Option("--lang", "-l", help="The language whose tokenizer finds the n-grams")]  # noqa: E501
MaxLength = Annotated[int | None, Option("--max-length", help="The largest number of tokens of a sequence. Default: what the encoder takes, up to 512")]  # noqa: E501
Pack = Annotated[bool, Option("--pack/--no-pack", help="Fill sequences with the lines that follow, up to the next empty one")]  # noqa: E501
FromScratch = Annotated[bool, Option("--from-scratch", help="Begin with random weights")]  # noqa: E501
Layers = Annotated[int | None, Option("--layers", min=1, help="From scratch: the number of layers")]  # noqa: E501
Width = Annotated[int | None, Option("--width", min=1, help="From scratch: their width")]  # noqa: E501
VocabSize = Annotated[int | None, Option("--vocab-size", min=1, help="From scratch: make a vocabulary of this size of the text")]  # noqa: E501
Epochs = Annotated[float, Option("--epochs", min=0, help="The number of passes over the text")]  # noqa: E501
Steps = Annotated[int | None, Option("--steps", min=1, help="The number of steps, instead of epochs")]  # noqa: E501
BatchSize = Annotated[int, Option("--batch-size", "-b", min=1, help="The number of sequences that each GPU takes at once")]  # noqa: E501
Accumulate = Annotated[int, Option("--accumulate", min=1, help="The number of batches in a step")]  # noqa: E501
LearningRate = Annotated[float, Option("--learning-rate", min=0, help="The highest learning rate")]  # noqa: E501
FloatType = Annotated[Precision, Option("--precision", help="fp16 and bf16 are mixed precision")]  # noqa: E501
EvalShare = Annotated[float, Option("--eval-share", min=0, max=0.5, help="The share of the text that is held out")]  # noqa: E501
SaveEvery = Annotated[int, Option("--save-every", min=1, help="The steps between two checkpoints, and two measurements")]  # noqa: E501
LogEvery = Annotated[int, Option("--log-every", min=1, help="The steps between two losses in the log")]  # noqa: E501
Seed = Annotated[int, Option("--seed", help="Of the weights, the order and the masks")]
# fmt: on


def pretrain_cli(
    model: Model,
    text: Texts,
    output: Output,
    more: More = None,
    overwrite: Overwrite = False,
    masking: Masking = MaskingUnit.spans,
    sbo: Sbo = True,
    share: Share = 0.15,
    dictionary: Dictionary = None,
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
    precision: FloatType = Precision.fp32,
    eval_share: EvalShare = 0.01,
    save_every: SaveEvery = 500,
    log_every: LogEvery = 50,
    seed: Seed = 0,
) -> None:
    """Pre-train an encoder on your own text, as SpanBERT was.

    Spans of words are masked, and predicted from their context and from the two tokens
    beside them. The output is a folder that spaCy takes as the name of a transformer.
    Rerun the same command to resume. `torchrun -m spacy spanft pretrain ...` uses
    several GPUs.
    """
    with short_errors():
        from ..pretraining import Settings, pretrain

        settings = Settings(
            masking=masking.value,  # type: ignore[arg-type]
            sbo=sbo,
            share=share,
            dictionary=dictionary,
            lang=lang,
            max_length=max_length,
            pack=pack,
            errors=errors.value,  # type: ignore[arg-type]
            from_scratch=from_scratch,
            layers=layers,
            width=width,
            vocab_size=vocab_size,
            epochs=epochs,
            steps=steps,
            batch_size=batch_size,
            accumulate=accumulate,
            learning_rate=learning_rate,
            precision=precision.value,  # type: ignore[arg-type]
            eval_share=eval_share,
            save_every=save_every,
            log_every=log_every,
            seed=seed,
        )
        texts = [*text, *(more or ())]
        try:
            done = pretrain(model, texts, output, settings, overwrite=overwrite)
        except KeyboardInterrupt:
            print("Run the same command again to resume.", file=sys.stderr)
            raise
        if os.environ.get("RANK", "0") != "0":
            return
        measured = ""
        if done.perplexity is not None:
            measured = f", held-out perplexity {done.perplexity:.2f}"
        print(f"✔ Wrote {output}: {done.steps:,} steps{measured}", file=sys.stderr)
