"""The folders that pre-training writes: a plain encoder, and its heads beside it.

A checkpoint looks like the output, with the Trainer's state beside it.
"""

import errno
import json
import os
import shutil
import uuid
from pathlib import Path
from typing import Any

from ..errors import Errors, PretrainingError
from ..files import write_whole
from .boundary import OutputEmbeddings, SpanBoundaryHead
from .objective import SpanObjective
from .settings import Settings

HEADS = "pretraining_heads.safetensors"
RECORD = "pretraining.json"
LOG = "pretraining_log.jsonl"
CHECKPOINTS = "checkpoints"
_MLM, _SBO = "mlm.", "sbo."


def make_objective(encoder: Any, sbo: bool, heads: Path | None) -> SpanObjective:
    """Give an encoder its heads.

    encoder (PreTrainedModel): A model of AutoModelForMaskedLM.
    sbo (bool): Whether it has a head for span boundaries.
    heads (Optional[Path]): A file of heads to go on with.
    RETURNS (SpanObjective): All of it.
    """
    boundary = None
    if sbo:
        config = encoder.config
        boundary = SpanBoundaryHead(
            config.hidden_size,
            OutputEmbeddings(encoder).width,
            epsilon=getattr(config, "layer_norm_eps", 1e-12),
            spread=getattr(config, "initializer_range", 0.02),
        )
    if heads is not None:
        _load_heads(heads, encoder, boundary)
    return SpanObjective(encoder, boundary)


def _load_heads(path: Path, encoder: Any, boundary: SpanBoundaryHead | None) -> None:
    from safetensors.torch import load_file

    try:
        state = load_file(path)
        odd = encoder.load_state_dict(_part(state, _MLM), strict=False).unexpected_keys
        if odd:
            raise ValueError(f"it has no {odd[0]!r}")
        sbo = _part(state, _SBO)
        if boundary is not None and sbo:
            boundary.load_state_dict(sbo)
    except Exception as error:  # safetensors has an error of its own, without a base
        reason = str(error).strip().splitlines()[0]
        raise PretrainingError(
            Errors.BAD_HEADS.format(path=str(path), reason=reason)
        ) from error


def _part(state: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {
        key.removeprefix(prefix): value
        for key, value in state.items()
        if key.startswith(prefix)
    }


def save_encoder(objective: SpanObjective, tokenizer: Any, folder: Path) -> None:
    """Write an encoder, its tokenizer and its heads.

    objective (SpanObjective): The encoder and the heads.
    tokenizer (PreTrainedTokenizerFast): The tokenizer.
    folder (Path): Where to.
    """
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    encoder = objective.encoder
    inner = f"{encoder.base_model_prefix}."
    shared = {weight.data_ptr() for weight in encoder.base_model.parameters()}
    state = {
        _MLM + key: value.detach().clone().contiguous()
        for key, value in encoder.state_dict().items()
        if not key.startswith(inner) and value.data_ptr() not in shared
    }
    if objective.boundary is not None:
        parts = objective.boundary.state_dict().items()
        state |= {_SBO + key: value.contiguous() for key, value in parts}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        encoder.base_model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        save_file(state, folder / HEADS)
    except SafetensorError as error:  # which is no OSError, when the disk is full
        raise OSError(errno.EIO, str(error), str(folder)) from error


def export(objective: SpanObjective, tokenizer: Any, output: Path) -> None:
    """Write what was learnt: all of it first, then each file to its place.

    objective (SpanObjective): The encoder and the heads.
    tokenizer (PreTrainedTokenizerFast): The tokenizer.
    output (Path): The folder.
    """
    temporary = output / f".{uuid.uuid4().hex}"
    try:
        save_encoder(objective, tokenizer, temporary)
        # The config last: without it there is no model here.
        for file in sorted(temporary.iterdir(), key=lambda f: f.name == "config.json"):
            os.replace(file, output / file.name)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def check_output(output: Path, resume: bool, overwrite: bool) -> None:
    """Raise for a folder that cannot be meant.

    output (Path): The folder for the output.
    resume (bool): Whether to go on with a training in it.
    overwrite (bool): Whether what is there may go.
    """
    if resume and overwrite:
        raise PretrainingError(Errors.RESUME_OR_OVERWRITE)
    if output.exists() and not output.is_dir():
        raise PretrainingError(Errors.OUTPUT_IS_FILE.format(path=str(output)))
    is_taken = output.is_dir() and any(output.iterdir())
    if is_taken and not (resume or overwrite):
        raise PretrainingError(Errors.OUTPUT_TAKEN.format(path=str(output)))


def last_whole(output: Path) -> Path | None:
    """Find the last whole checkpoint, and remove those that are not.

    output (Path): The folder.
    RETURNS (Optional[Path]): The checkpoint, if there is one.
    """
    folders = list((output / CHECKPOINTS).glob("checkpoint-*"))
    for folder in sorted(folders, key=_step, reverse=True):
        try:
            # The Trainer writes it last, so if it is whole, all else is.
            json.loads((folder / "trainer_state.json").read_bytes())
        except (OSError, ValueError):
            shutil.rmtree(folder, ignore_errors=True)
        else:
            return folder
    return None


def _step(folder: Path) -> int:
    number = folder.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else -1


def check_record(output: Path, record: dict[str, Any]) -> None:
    """Raise if what goes on is not what was begun.

    output (Path): The folder.
    record (dict[str, Any]): What the training is made of now.
    """
    path = output / RECORD
    if not path.exists():
        return
    try:
        before = json.loads(path.read_bytes())
        changed = [key for key in record if before[key] != record[key]]
    except (ValueError, KeyError, TypeError) as error:
        raise PretrainingError(Errors.BAD_RECORD.format(path=str(path))) from error
    if changed:
        there = ", ".join(f"{k} was {before[k]!r}, is {record[k]!r}" for k in changed)
        raise PretrainingError(
            Errors.OTHER_TRAINING.format(path=str(output), changes=there)
        )


def begin(output: Path, record: dict[str, Any], settings: Settings, new: bool) -> None:
    """Make the folder, and write down what the training is made of.

    output (Path): The folder.
    record (dict[str, Any]): What must stay as it is.
    settings (Settings): All settings.
    new (bool): Remove the checkpoints of another training.
    """
    checkpoints = output / CHECKPOINTS
    if new and checkpoints.is_dir():
        shutil.rmtree(checkpoints)
    text = json.dumps({**settings.to_json(), **record}, indent=2, ensure_ascii=False)
    write_whole(output / RECORD, f"{text}\n".encode())
