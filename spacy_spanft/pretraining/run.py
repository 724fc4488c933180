"""Pre-training from the first file to the last."""

import math
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import Errors, PretrainingError
from ..ngrams.text.blocks import STDIN
from ..util.extras import require
from . import encoder, folder
from .collator import SpanMaskingCollator
from .masking import LONGEST
from .memory import check_memory
from .objective import SpanObjective
from .order import HeldOut, Passes, hold_out
from .settings import Settings
from .text import LineEncoder, Sequences, lines_of, read_sequences

# A step that sees each sequence more often than this was not meant.
_MANY = 50


class Pretrained(NamedTuple):
    """What came out.

    output (Path): The folder with the encoder.
    steps (int): How often the weights were changed.
    perplexity (Optional[float]): That of the masked tokens of the held-out text.
    """

    output: Path
    steps: int
    perplexity: float | None


def pretrain(
    model: str | Path,
    texts: str | Path | Sequence[str | Path],
    output: str | Path,
    settings: Settings | None = None,
    *,
    resume: bool = False,
    overwrite: bool = False,
) -> Pretrained:
    """Pre-train an encoder.

    model (Union[str, Path]): The model to begin with, by name or path.
    texts (Union[str, Path, Sequence[Union[str, Path]]]): A text file or several,
        compressed or not, with a text or a paragraph a line; an empty line ends a text
        of several lines.
    output (Union[str, Path]): The folder that spaCy can take as a transformer's name.
    settings (Optional[Settings]): The settings; None for those of the paper.
    resume (bool): Go on from the last checkpoint in the output.
    overwrite (bool): Start over, whatever the output holds.
    RETURNS (Pretrained): What came out.
    """
    require("Pre-training", "accelerate")
    settings = Settings() if settings is None else settings
    texts = [texts] if isinstance(texts, str | Path) else texts
    output, files = Path(output), [str(path) for path in texts]
    if not files:
        raise PretrainingError(Errors.NO_INPUT_TEXT)
    if files.count(STDIN) > 1:
        raise PretrainingError(Errors.STDIN_TWICE)
    _check_precision(settings.precision)
    if is_main():
        folder.check_output(str(model), output, resume, overwrite)
    checkpoint = folder.last_whole(output) if resume else None
    source, how = str(model), settings
    if checkpoint is not None:
        source, how = str(checkpoint), settings.go_on()
    start, sequences = _read(source, files, settings, how)
    record = {
        **settings.fixed(),
        "model": os.path.normpath(model) if Path(model).exists() else str(model),
        "text": _describe(sequences),
        "processes": _n_processes(),
    }
    if resume:
        folder.check_record(output, record)
        _check_checkpoint(output, checkpoint)
    if is_main():
        folder.begin(output, record, settings, new=checkpoint is None)
    objective = _make_objective(source, start, settings, how)
    trainer = _make_trainer(objective, start.tokenizer, sequences, settings, output)
    trainer.train(resume_from_checkpoint=checkpoint and str(checkpoint))
    perplexity = _perplexity(trainer)
    if is_main():
        folder.export(objective, start.tokenizer, output)
    return Pretrained(output, trainer.state.global_step, perplexity)


def is_main() -> bool:
    """Say whether this process speaks and writes, if there are several.

    RETURNS (bool): True for the first one, and for one that is alone.
    """
    # A rank that a cluster has left in the environment is none.
    return _n_processes() == 1 or os.environ.get("RANK", "0") == "0"


def _n_processes() -> int:
    return int(os.environ.get("WORLD_SIZE") or 1)


def _check_checkpoint(output: Path, checkpoint: Path | None) -> None:
    """Say it if training does not go on, but starts over."""
    if checkpoint is not None:
        folder.check_checkpoint(checkpoint)
    elif folder.is_finished(output):
        raise PretrainingError(Errors.NOTHING_TO_GO_ON_FROM.format(path=str(output)))
    elif is_main():
        print(f"ℹ {Errors.NO_CHECKPOINT.format(path=output)}", file=sys.stderr)


def _check_precision(precision: str) -> None:
    from transformers import TrainingArguments

    if precision == "fp32":
        return
    if TrainingArguments(report_to="none").device.type == "cpu":
        raise PretrainingError(Errors.NEEDS_GPU.format(precision=precision))


def _read(
    source: str, texts: list[str], settings: Settings, how: Settings
) -> tuple[encoder.Start, Sequences]:
    """Find the encoder and read the text."""

    def blocks() -> Iterable[list[str]]:
        return lines_of(texts, settings.errors)

    read = blocks
    if STDIN in texts and how.vocab_size is not None:  # which can be read only once
        held = list(blocks())
        read = lambda: held  # noqa: E731
    start = encoder.find(source, how, read)
    encode = LineEncoder(start.tokenizer, _dictionary(settings), settings.lang)
    sequences = read_sequences(
        read(), encode, start.tokenizer, start.max_length, settings.pack
    )
    names = ", ".join(map(repr, texts))
    if not sequences.n_words:
        raise PretrainingError(Errors.NO_TEXT.format(sources=names))
    needed = LONGEST + 1 if settings.masking == "spans" else 2
    if sequences.most_words < needed:
        raise PretrainingError(
            Errors.TEXT_TOO_SHORT.format(
                sources=names,
                most=sequences.most_words,
                needed=needed,
                length=start.max_length,
            )
        )
    return start, sequences


def _dictionary(settings: Settings) -> Any:
    if settings.masking != "ngrams":
        return None
    from ..ngrams.readers import default_dictionary, read_dictionary

    if settings.dictionary is None:
        return default_dictionary(settings.lang)
    return read_dictionary(settings.dictionary)


def _describe(sequences: Sequences) -> dict[str, int]:
    """Describe the text, so that another one is noticed."""
    return {
        "words": sequences.n_words,
        "tokens": len(sequences.ids),
        "sequences": sequences.n_sequences,
        "checksum": sequences.checksum,
    }


def _make_objective(
    source: str, start: encoder.Start, settings: Settings, how: Settings
) -> SpanObjective:
    from transformers import set_seed

    set_seed(settings.seed % 2**32)
    heads = Path(source) / folder.HEADS
    has_heads = not how.from_scratch and heads.exists()
    model = encoder.make(source, start, how, has_heads)
    return folder.make_objective(model, settings.sbo, heads if has_heads else None)


def _make_trainer(
    objective: SpanObjective,
    tokenizer: Any,
    sequences: Sequences,
    settings: Settings,
    output: Path,
) -> Any:
    """Tell the Trainer all of it."""
    from .trainer import LogWriter, SpanTrainer, arguments, measure

    train, held = hold_out(sequences.n_sequences, settings.eval_share)
    settings = settings if len(held) else replace(settings, eval_share=0.0)
    devices = arguments(output, settings, n_steps=1)
    per_step = devices.train_batch_size * devices.world_size * settings.accumulate
    n_steps = settings.steps or math.ceil(settings.epochs * len(train) / per_step)
    if per_step > _MANY * len(train):
        sizes = {"per_step": per_step, "n_sequences": len(train)}
        raise PretrainingError(Errors.BATCH_TOO_LARGE.format(**sizes))
    if is_main():
        n_weights = sum(one.numel() for one in objective.parameters())
        device, shape = devices.device.type, objective.encoder.config
        check_memory(shape, n_weights, sequences.longest, settings, device)
    trainer = SpanTrainer(
        objective,
        arguments(output, settings, n_steps),
        SpanMaskingCollator(tokenizer, settings.masking, settings.share, settings.seed),
        train_dataset=Passes(sequences, train, n_steps * per_step, settings.seed),
        eval_dataset=HeldOut(sequences, held) if len(held) else None,
        processing_class=tokenizer,
        compute_metrics=measure,
        callbacks=[LogWriter(output, len(train))],
    )
    # PyTorch gives only one GPU of a single process what comes without a row for each.
    trainer.model_accepts_loss_kwargs = devices.n_gpu <= 1
    return trainer


def _perplexity(trainer: Any) -> float | None:
    """Find the perplexity of what was learned, if there is text to measure it on."""
    if trainer.eval_dataset is None:
        return None
    for entry in trainer.state.log_history:
        if entry["step"] == trainer.state.global_step and "eval_loss" in entry:
            return entry.get("eval_perplexity")  # type: ignore[no-any-return]
    return trainer.evaluate().get("eval_perplexity")  # type: ignore[no-any-return]
