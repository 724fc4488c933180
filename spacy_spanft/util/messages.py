"""Errors of spaCy and others in one line that says what the user can do about them."""

import re
from collections.abc import Iterator
from configparser import Error as ConfigParserError
from pathlib import Path
from textwrap import shorten
from types import FrameType, TracebackType
from typing import Any

from catalogue import RegistryError

from ..errors import Errors, SpanftError
from ..errors.shortening import listed
from .gpu import why_not

_LONGEST = 300
# Whatever loads an encoder goes through this function of spacy-transformers.
_LOADER = ("spacy_transformers.layers.transformer_model", "huggingface_from_pretrained")
# Whatever selects a GPU goes through this one of thinc.
_GPU = ("thinc.util", "require_gpu")
# Whatever reads spaCy's binary data goes through this one of spaCy.
_DOCBIN = ("spacy.tokens._serialize", "from_disk")
# What reads and writes the files that the user names on the command line.
_FILES = {"spacy.cli.train", "spacy.training.loop"}
_CODED = re.compile(r"\[(E\d+)\]")
_ONE_LABEL = "E867"


def message_of(error: BaseException, trace: TracebackType | None) -> str | None:
    """Say in one line what the user can do about an error.

    trace (Optional[TracebackType]): Where it was raised.
    RETURNS (Optional[str]): The message; None if the traceback says it better.
    """
    if isinstance(error, KeyboardInterrupt):
        return Errors.STOPPED
    if isinstance(error, SpanftError):
        return str(error)
    frames = {_place(frame): frame for frame in _frames(trace)}
    if isinstance(error, OSError | ValueError) and _LOADER in frames:
        return _no_encoder(str(frames[_LOADER].f_locals.get("source")), error)
    if isinstance(error, ValueError | RuntimeError) and _GPU in frames:
        return why_not(frames[_GPU].f_locals["gpu_id"], str(error))
    if not isinstance(error, OSError) and _DOCBIN in frames:
        # zlib and msgpack say many things of a broken file, none of them its name.
        return Errors.BAD_DATA.format(path=frames[_DOCBIN].f_locals["path"])
    if isinstance(error, IndexError | RuntimeError) and (long := _too_long(trace)):
        return long
    is_of_files = any(module in _FILES for module, _ in frames)
    if isinstance(error, OSError) and error.filename is not None and is_of_files:
        return Errors.UNUSABLE_PATH.format(
            path=str(error.filename), reason=error.strerror
        )
    if isinstance(error, ConfigParserError):
        return Errors.BAD_CONFIG_FILE.format(reason=_reason(error))
    return _of_spacy(error, frames)


def _too_long(trace: TracebackType | None) -> str | None:
    """Recognize a text that is longer than an encoder's positions."""
    for frame in _frames(trace):
        config = getattr(frame.f_locals.get("self"), "config", None)
        most = getattr(config, "max_position_embeddings", None)
        shape = getattr(frame.f_locals.get("input_ids"), "shape", ())
        # RoBERTa keeps two positions for itself.
        if isinstance(most, int) and shape and shape[-1] > most - 2:
            return Errors.LONGER_THAN_ENCODER.format(n=shape[-1], most=most)
    return None


def _of_spacy(
    error: BaseException, frames: dict[tuple[str, str], FrameType]
) -> str | None:
    """Shorten what spaCy tells the user, each with a number, and its registries."""
    coded = _CODED.match(_text(error))
    if coded is not None and coded[1] == _ONE_LABEL:
        for frame in frames.values():
            component: Any = frame.f_locals.get("self")
            if hasattr(component, "labels") and hasattr(component, "name"):
                place = {"name": component.name, "labels": listed(component.labels)}
                return Errors.TOO_FEW_LABELS.format(**place)
    if coded is not None or isinstance(error, RegistryError):
        return Errors.OF_SPACY.format(reason=_reason(error))
    return None


def _no_encoder(name: str, error: BaseException) -> str:
    # A path was made absolute: what stands in the config is not known any more.
    message = Errors.NOT_AN_ENCODER if Path(name).is_dir() else Errors.NO_SUCH_ENCODER
    return message.format(name=name, reason=_reason(error))


def _reason(error: BaseException) -> str:
    return shorten(_text(error), _LONGEST)


def _text(error: BaseException) -> str:
    # A KeyError shows its message with quotation marks.
    return str(error.args[0]) if isinstance(error, KeyError) else str(error)


def _place(frame: FrameType) -> tuple[str, str]:
    return str(frame.f_globals.get("__name__")), frame.f_code.co_name


def _frames(trace: TracebackType | None) -> Iterator[FrameType]:
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next
