"""Pre-training from text files to a folder with an encoder, by Hugging Face's Trainer.

Checkpoints are the Trainer's, in the folder of the output: whoever runs the same
command again goes on from the last one. The masks of a sequence depend on the seed, the
pass over the text and the sequence alone, so an interruption changes none of them.
"""

import json
import math
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..errors import SpanftError, listed, shown
from ..util import require
from ..util.files import check_folder, digest_of, write_whole
from ..util.text_files import UTF8, ErrorHandling
from .collator import SpanMaskingCollator
from .masking import Masking

if TYPE_CHECKING:
    from transformers import Trainer, TrainingArguments

CHECKPOINTS = "checkpoints"
RECORD = "pretraining.json"
# What may change from one run to the next that goes on from its checkpoint.
_FREE = {"epochs", "steps", "save_every"}


@dataclass(frozen=True)
class Settings:
    """The settings of a training, which `spanft pretrain` describes one by one."""

    masking: Masking = "spans"
    sbo: bool = True
    share: float = 0.15
    dictionary: Path | None = None
    lang: str = "en"
    max_length: int | None = None
    errors: ErrorHandling = "strict"
    column: str | None = None
    encoding: str = UTF8
    from_scratch: bool = False
    epochs: float = 1.0
    steps: int | None = None
    batch_size: int = 4
    accumulate: int = 8
    learning_rate: float = 1e-4
    precision: Literal["fp32", "fp16", "bf16"] = "fp32"
    eval_share: float = 0.01
    save_every: int = 500
    seed: int = 0

    def __post_init__(self) -> None:
        if self.dictionary is not None and self.masking != "ngrams":
            raise SpanftError("Only masking='ngrams' uses a dictionary.")


class Pretrained(NamedTuple):
    """The folder, the number of steps, and the perplexity of the held-out text."""

    output: Path
    steps: int
    perplexity: float | None


def pretrain(
    model: str | Path,
    texts: str | Path | Sequence[str | Path],
    output: str | Path,
    settings: Settings | None = None,
    *,
    overwrite: bool = False,
) -> Pretrained:
    """Pre-train an encoder, or go on from the last checkpoint in the output.

    texts (Union[str, Path, Sequence[Union[str, Path]]]): Text files, compressed or not,
        with a text or a paragraph a line; an empty line ends a text of several lines.
    output (Union[str, Path]): The folder that spaCy can take as a transformer's name.
    settings (Optional[Settings]): None takes those of the paper.
    overwrite (bool): Start over, even if the output holds an encoder or checkpoints.
    """
    require("Pre-training", "accelerate")
    settings = Settings() if settings is None else settings
    files = [texts] if isinstance(texts, str | Path) else list(texts)
    output, source = Path(output), str(model)
    record = {**asdict(settings), "model": source, "texts": [*map(str, files)]}
    read = [*files, *filter(None, [settings.dictionary])]
    record["digests"] = [digest_of(Path(path)) for path in read]
    # By way of JSON, which knows no paths and tuples, as what is compared with it.
    record = json.loads(json.dumps(record, default=str))
    _check_output(output, record, overwrite)
    checkpoint = None if overwrite else _last_checkpoint(output)
    if checkpoint is not None:
        source, settings = str(checkpoint), replace(settings, from_scratch=False)
    trainer = _make_trainer(source, files, output, settings)
    if trainer.is_world_process_zero():
        if checkpoint is None:
            # Without it there is no model.
            (output / "config.json").unlink(missing_ok=True)
            shutil.rmtree(output / CHECKPOINTS, ignore_errors=True)
        write_whole(output / RECORD, f"{json.dumps(record, indent=2)}\n".encode())
    if checkpoint is None or _step(checkpoint) < trainer.args.max_steps:
        trainer.train(resume_from_checkpoint=checkpoint and str(checkpoint))
    perplexity = None
    if trainer.eval_dataset is not None:
        perplexity = trainer.evaluate().get("eval_perplexity")
    if trainer.is_world_process_zero():
        trainer.model.save_pretrained(output)
        trainer.processing_class.save_pretrained(output)
    return Pretrained(output, trainer.args.max_steps, perplexity)


def _check_output(output: Path, record: dict[str, Any], overwrite: bool) -> None:
    """Raise for a folder with something else in it than what the record describes."""
    check_folder(output)
    path = output / RECORD
    if not path.is_file():
        if output.is_dir() and any(output.iterdir()):
            raise SpanftError(f"{str(output)!r} has other files. Name another folder.")
        return
    if overwrite and Path(record["model"]).resolve().is_relative_to(output.resolve()):
        raise SpanftError(f"The model {record['model']!r} would be overwritten.")
    before = record if overwrite else json.loads(path.read_bytes())
    for name, value in record.items():
        if name in _FREE or before.get(name, value) == value:
            continue
        if name == "digests":
            raise SpanftError(
                f"The text or the dictionary of the training in {str(output)!r} has "
                "changed since it was begun. Start over (--overwrite), or name another "
                "output."
            )
        raise SpanftError(
            f"The training in {str(output)!r} was begun with {name} = "
            f"{shown(before.get(name))}, not {shown(value)}. Set it as it was, "
            "start over (--overwrite), or name another output."
        )


def _last_checkpoint(output: Path) -> Path | None:
    """Return the last whole checkpoint: the Trainer writes its state last."""
    folders = sorted((output / CHECKPOINTS).glob("checkpoint-*"), key=_step)
    for folder in reversed(folders):
        with suppress(OSError, ValueError):
            json.loads((folder / "trainer_state.json").read_bytes())
            return folder
    return None


def _step(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("-")[2])


def _arguments(output: Path, settings: Settings) -> "TrainingArguments":
    import torch
    from transformers import TrainingArguments

    return TrainingArguments(
        output_dir=str(output / CHECKPOINTS),
        per_device_train_batch_size=settings.batch_size,
        per_device_eval_batch_size=settings.batch_size,
        gradient_accumulation_steps=settings.accumulate,
        average_tokens_across_devices=True,
        learning_rate=settings.learning_rate,
        weight_decay=0.01,
        fp16=settings.precision == "fp16",
        bf16=settings.precision == "bf16",
        eval_steps=settings.save_every,
        save_steps=settings.save_every,
        save_total_limit=2,  # the machine may stop while the last one is written
        logging_steps=max(1, settings.save_every // 10),
        dataloader_pin_memory=torch.cuda.is_available(),
        remove_unused_columns=False,
        label_names=["labels"],
        disable_tqdm=not sys.stderr.isatty(),
        report_to="none",
        seed=settings.seed % 2**32,
    )


def _make_trainer(
    source: str, files: list[str | Path], output: Path, settings: Settings
) -> "Trainer":
    from transformers import Trainer, set_seed

    from ..ngrams.dictionary import default_dictionary, read_dictionary
    from . import objective, starting_model
    from .segments import Packer, Passes, StartPass, read_lines

    args = _arguments(output, settings)
    with args.main_process_first():  # the others find it in the cache
        how: Any = {"errors": settings.errors, "encoding": settings.encoding}
        lines = read_lines(files, settings.column, **how)
        config, tokenizer = starting_model.load_parts(source)
        length = starting_model.max_length_of(config, tokenizer, settings.max_length)
        dictionary = None
        if settings.masking == "ngrams":
            path, lang = settings.dictionary, settings.lang
            dictionary = read_dictionary(path) if path else default_dictionary(lang)
        packer = Packer(tokenizer, length, dictionary, settings.lang)
        sequences = lines.map(packer, batched=True, remove_columns=["text"])
    if not len(sequences):
        raise SpanftError(f"There is no text in {listed(files)}.")
    train, held_out = Passes(sequences, 1), None
    if settings.eval_share and len(sequences) > 1:
        parts = sequences.train_test_split(settings.eval_share, seed=args.seed)
        train, held_out = Passes(parts["train"], 1), Passes(parts["test"], 0)
    per_step = args.train_batch_size * args.world_size * settings.accumulate
    of_epochs = math.ceil(settings.epochs * len(train) / per_step)
    args.max_steps = of_epochs if settings.steps is None else settings.steps
    args.warmup_steps = math.ceil(0.1 * args.max_steps)
    args.eval_strategy = "steps" if held_out else "no"
    set_seed(args.seed)
    trainer = Trainer(
        starting_model.make_model(source, config, settings.sbo, settings.from_scratch),
        args,
        SpanMaskingCollator(tokenizer, settings.masking, settings.share, settings.seed),
        train_dataset=train,
        eval_dataset=held_out,
        processing_class=tokenizer,
        compute_metrics=objective.measure,
        callbacks=[StartPass(train)],
    )
    # PyTorch gives only one GPU of a single process what comes without a row for each.
    trainer.model_accepts_loss_kwargs = args.n_gpu <= 1
    return trainer
