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
from zipfile import BadZipFile, ZipFile

from ..errors import Errors, PretrainingError
from ..util.files import check_folder, write_whole
from .boundary import OutputEmbeddings, SpanBoundaryHead
from .objective import SpanObjective
from .settings import Settings

HEADS = "pretraining_heads.safetensors"
RECORD = "pretraining.json"
LOG = "pretraining_log.jsonl"
CHECKPOINTS = "checkpoints"
CONFIG = "config.json"
_MLM, _SBO = "mlm.", "sbo."
_FILES = "files"  # in the record: what the encoder consists of


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
    """Write what was learned: all of it first, then each file to its place.

    objective (SpanObjective): The encoder and the heads.
    output (Path): The folder.
    """
    temporary = output / f".{uuid.uuid4().hex}"
    try:
        save_encoder(objective, tokenizer, temporary)
        # The config last: without it there is no model here.
        files = sorted(temporary.iterdir(), key=lambda f: f.name == CONFIG)
        _write_record(output, {**_read_record(output), _FILES: [f.name for f in files]})
        for file in files:
            os.replace(file, output / file.name)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def check_output(model: str, output: Path, resume: bool, overwrite: bool) -> None:
    """Raise for a folder that cannot be meant.

    model (str): The model to begin with, by name or path.
    output (Path): The folder for the output.
    resume (bool): Whether to go on with a training in it.
    overwrite (bool): Whether what is there may go.
    """
    if resume and overwrite:
        raise PretrainingError(Errors.RESUME_OR_OVERWRITE)
    check_folder(output)
    if not output.is_dir() or not any(output.iterdir()):
        return
    source = Path(model).resolve()
    if overwrite and output.resolve() in (source, *source.parents):
        text = {"model": model, "path": str(output)}
        raise PretrainingError(Errors.MODEL_IN_OUTPUT.format(**text))
    if not (resume or overwrite):
        raise PretrainingError(Errors.OUTPUT_TAKEN.format(path=str(output)))
    if not (output / RECORD).is_file():
        # Somebody else's: nothing in it may be lost.
        raise PretrainingError(Errors.OUTPUT_NOT_OURS.format(path=str(output)))


def last_whole(output: Path) -> Path | None:
    """Find the last whole checkpoint.

    output (Path): The folder.
    RETURNS (Optional[Path]): The checkpoint, if there is one.
    """
    return max(filter(_is_whole, _checkpoints(output)), key=_step, default=None)


def _checkpoints(output: Path) -> list[Path]:
    found = (output / CHECKPOINTS).glob("checkpoint-*")
    return [folder for folder in found if _step(folder) >= 0]


def _step(folder: Path) -> int:
    number = folder.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else -1


def _is_whole(folder: Path) -> bool:
    try:
        # The Trainer writes it last, so if it is whole, all else was written.
        json.loads((folder / "trainer_state.json").read_bytes())
    except (OSError, ValueError):
        return False
    return True


def check_checkpoint(checkpoint: Path) -> None:
    """Raise if a file of a checkpoint was damaged since.

    PyTorch's files are zip archives, with checksums.
    """
    for file in sorted(checkpoint.glob("*.pt*")):
        try:
            with ZipFile(file) as archive:
                odd = archive.testzip()
            reason = odd and f"{odd} in it has another checksum"
        except (BadZipFile, OSError) as error:
            reason = str(error)
        if reason:
            place = {"path": str(file), "checkpoint": str(checkpoint)}
            message = Errors.BAD_CHECKPOINT.format(reason=reason, **place)
            raise PretrainingError(message)


def check_record(output: Path, record: dict[str, Any]) -> None:
    """Raise if what goes on is not what was begun.

    output (Path): The folder.
    record (dict[str, Any]): What the training is made of now.
    """
    before = _read_record(output)
    if not before:
        return
    try:
        changed = [key for key in record if before[key] != record[key]]
    except KeyError as error:
        path = str(output / RECORD)
        raise PretrainingError(Errors.BAD_RECORD.format(path=path)) from error
    if changed:
        there = ", ".join(
            Errors.OTHER_TEXT
            if key == "text"
            else f"{key} was {before[key]!r}, is {record[key]!r}"
            for key in changed
        )
        raise PretrainingError(
            Errors.OTHER_TRAINING.format(path=str(output), changes=there)
        )


def _read_record(output: Path) -> dict[str, Any]:
    """Read what was written down; nothing if it never was."""
    path = output / RECORD
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_bytes())
    except ValueError as error:
        raise PretrainingError(Errors.BAD_RECORD.format(path=str(path))) from error
    if not isinstance(found, dict):
        raise PretrainingError(Errors.BAD_RECORD.format(path=str(path)))
    return found


def _write_record(output: Path, record: dict[str, Any]) -> None:
    text = json.dumps(record, indent=2, ensure_ascii=False)
    write_whole(output / RECORD, f"{text}\n".encode())


def begin(output: Path, record: dict[str, Any], settings: Settings, new: bool) -> None:
    """Make the folder, and write down what the training is made of.

    output (Path): The folder.
    record (dict[str, Any]): What must stay as it is.
    new (bool): Remove what another training wrote.
    """
    files = _exported(output)
    if new:
        # The config first: without it there is no model here.
        for name in sorted({LOG, *files}, key=lambda name: name != CONFIG):
            (output / name).unlink(missing_ok=True)
        files = []
    for checkpoint in _checkpoints(output):
        if new or not _is_whole(checkpoint):
            shutil.rmtree(checkpoint)
    _write_record(output, {**settings.to_json(), **record, _FILES: files})


def is_finished(output: Path) -> bool:
    """Say whether a folder holds an encoder.

    output (Path): The folder.
    RETURNS (bool): Whether one was written.
    """
    return (output / CONFIG).exists()


def _exported(output: Path) -> list[str]:
    """Name the files of the encoder that was written."""
    try:
        names = _read_record(output).get(_FILES, [])
    except PretrainingError:
        return []  # --overwrite fixes it
    # They become paths, and the record is a file that anybody may have written.
    return [name for name in names if isinstance(name, str) and Path(name).name == name]
