"""What benchmarks are given, checked before any work."""

from pathlib import Path
from typing import Annotated

import typer

_CONFIG = "config.json"
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")  # in several files, if it is large


def checked_encoder(path: Path) -> Path:
    """Raise for a folder without an encoder.

    path (Path): The folder.
    RETURNS (Path): The same.
    """
    if not (path / _CONFIG).is_file() or not weights_of(path):
        named = f"{_CONFIG}, and {' or '.join(_WEIGHTS)}"
        raise typer.BadParameter(f"{str(path)!r} holds no encoder ({named}).")
    return path


def weights_of(encoder: Path) -> list[Path]:
    """Find the files of an encoder's weights.

    encoder (Path): The folder of the encoder.
    RETURNS (list[Path]): The files, in the order of their names.
    """
    return sorted(path for name in _WEIGHTS for path in encoder.glob(name))


Folder = Annotated[Path, typer.Argument(exists=True, file_okay=False)]
File = Annotated[Path, typer.Argument(exists=True, dir_okay=False)]
Encoder = Annotated[Path, typer.Argument(callback=checked_encoder)]
