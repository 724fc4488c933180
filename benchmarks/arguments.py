"""The arguments of benchmarks, checked before any work."""

from pathlib import Path
from typing import Annotated

import typer

_CONFIG = "config.json"
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")  # in several files, if it is large


def checked_encoder(path: Path) -> Path:
    """Return the folder of an encoder, or raise if it holds none."""
    if not (path / _CONFIG).is_file() or not weights_of(path):
        named = f"{_CONFIG}, and {' or '.join(_WEIGHTS)}"
        raise typer.BadParameter(f"{str(path)!r} holds no encoder ({named}).")
    return path


def weights_of(encoder: Path) -> list[Path]:
    """Return the files of an encoder's weights, sorted by name."""
    return sorted(path for name in _WEIGHTS for path in encoder.glob(name))


Folder = Annotated[Path, typer.Argument(exists=True, file_okay=False)]
File = Annotated[Path, typer.Argument(exists=True, dir_okay=False)]
Encoder = Annotated[Path, typer.Argument(callback=checked_encoder)]
