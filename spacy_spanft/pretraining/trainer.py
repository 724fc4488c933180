"""Hugging Face's Trainer, told what is particular here: order, saving, perplexity."""

import errno
import json
import math
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from torch.utils.data import SequentialSampler
from transformers import Trainer, TrainerCallback, TrainingArguments

from ..errors import Errors
from ..util.files import write_whole
from .folder import CHECKPOINTS, LOG, save_encoder
from .settings import Settings

# One to go on from, and one in case that the machine stops while the last is written.
_KEPT_CHECKPOINTS = 2


class SpanTrainer(Trainer):
    """The Trainer for a `SpanObjective`."""

    def _get_train_sampler(self, train_dataset: Any = None) -> SequentialSampler:
        # The data set is in random order, and the same one after an interruption.
        return SequentialSampler(self.train_dataset)

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        # Shared weights are saved by Hugging Face's models alone, and it shall be one
        # that spaCy can take.
        folder = Path(output_dir or self.args.output_dir)
        save_encoder(self.model, self.processing_class, folder)

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        with _disk_errors(self.args.output_dir), warnings.catch_warnings():
            # Two checkpoints in one second are in order of their numbers.
            warnings.filterwarnings("ignore", "mtime may not be reliable")
            super()._save_checkpoint(model, trial)

    def _load_from_checkpoint(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: the model was made of the checkpoint."""


@contextmanager
def _disk_errors(path: str) -> Iterator[None]:
    """Raise as an OSError what PyTorch raises as another when the disk is full."""
    try:
        yield
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        if not re.search("inline_container|PytorchStreamWriter|iostream", reason):
            raise
        message = Errors.NOT_WRITTEN.format(reason=reason)
        raise OSError(errno.EIO, message, path) from error


class LogWriter(TrainerCallback):
    """Keeps the log as JSON lines, beside what is trained."""

    def __init__(self, output: Path, n_sequences: int) -> None:
        """Make a writer.

        output (Path): The folder.
        n_sequences (int): How many sequences are passed over.
        """
        self._path = output / LOG
        self._n_sequences = n_sequences

    def on_log(
        self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any
    ) -> None:
        """Write the whole log: after an interruption, nothing is in it twice.

        args (TrainingArguments): The Trainer's arguments.
        state (TrainerState): How far it is.
        control (TrainerControl): What it will do.
        logs (dict[str, float]): What is new.
        """
        if not state.is_world_process_zero:
            return
        per_step = args.gradient_accumulation_steps * args.train_batch_size
        per_step *= args.world_size
        lines = []
        for entry in state.log_history:
            passes = entry["step"] * per_step / self._n_sequences
            lines.append(json.dumps({**entry, "epoch": round(passes, 4)}))
        write_whole(self._path, "".join(f"{line}\n" for line in lines).encode())


def arguments(output: Path, settings: Settings, n_steps: int) -> TrainingArguments:
    """Tell the Trainer what is set.

    output (Path): The folder.
    n_steps (int): How many steps there are.
    """
    import torch

    has_held_out = settings.eval_share > 0
    return TrainingArguments(
        output_dir=str(output / CHECKPOINTS),
        max_steps=n_steps,
        per_device_train_batch_size=settings.batch_size,
        per_device_eval_batch_size=settings.batch_size,
        gradient_accumulation_steps=settings.accumulate,
        average_tokens_across_devices=True,
        learning_rate=settings.learning_rate,
        warmup_steps=math.ceil(settings.warmup * n_steps),
        weight_decay=settings.weight_decay,
        fp16=settings.precision == "fp16",
        bf16=settings.precision == "bf16",
        eval_strategy="steps" if has_held_out else "no",
        eval_steps=settings.eval_every,
        save_steps=settings.save_every,
        save_total_limit=_KEPT_CHECKPOINTS,
        logging_steps=settings.log_every,
        dataloader_num_workers=settings.workers,
        dataloader_pin_memory=torch.cuda.is_available(),
        remove_unused_columns=False,
        label_names=["labels"],
        disable_tqdm=not sys.stderr.isatty(),
        report_to="none",
        seed=settings.seed % 2**32,
    )


def measure(prediction: Any) -> dict[str, float]:
    """Compute what there is to say of the held-out sequences.

    prediction (EvalPrediction): Of each sequence, sums of losses and what they sum.
    RETURNS (dict[str, float]): The mean loss of each objective, and the perplexity.
    """
    found = prediction.predictions
    parts = found if isinstance(found, tuple) else (found,)
    measured: dict[str, float] = {}
    for name, sums in zip(("mlm", "sbo"), parts, strict=False):
        lost, n_tokens = np.asarray(sums, np.float64).sum(0)
        if not n_tokens:  # of very little text nothing may be masked
            continue
        measured[f"{name}_loss"] = loss = float(lost / n_tokens)
        prefix = "" if name == "mlm" else f"{name}_"
        measured[f"{prefix}perplexity"] = math.exp(min(loss, 700))
    return measured
