"""Which encoder is measured: the same one in all runs of a folder of results."""

import hashlib
import json
from pathlib import Path

import typer

_CONFIG, _CHUNK = "config.json", 2**20
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")


def checked_encoder(path: Path) -> Path:
    """Raise for a folder without an encoder, before any work.

    path (Path): The folder.
    RETURNS (Path): The same.
    """
    files = [path / _CONFIG, *(path / name for name in _WEIGHTS)]
    if not files[0].is_file() or not any(file.is_file() for file in files[1:]):
        named = f"{_CONFIG}, and {' or '.join(_WEIGHTS)}"
        raise typer.BadParameter(f"{str(path)!r} holds no encoder ({named}).")
    return path


def check_same(results: Path, encoder: Path) -> None:
    """Stop where earlier runs had another encoder: they would count as done.

    results (Path): The file that says which one they had; it is written if it is not
        there.
    encoder (Path): The folder of the encoder.
    """
    own = digest(encoder)
    if not results.exists():
        results.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"name": encoder.resolve().name, "sha256": own}, indent=2)
        results.write_text(text + "\n", "utf8")
    known = json.loads(results.read_text("utf8"))
    if known["sha256"] != own:
        raise SystemExit(
            f"The runs beside {results} have another encoder, {known['name']!r}, than "
            f"{str(encoder)!r}. Name another folder with --results."
        )


def digest(encoder: Path) -> str:
    """Compute the checksum of an encoder's weights.

    encoder (Path): The folder of the encoder.
    RETURNS (str): SHA-256, in hexadecimal digits.
    """
    weights = next(path for name in _WEIGHTS if (path := encoder / name).is_file())
    found = hashlib.sha256()
    with open(weights, "rb") as file:
        while part := file.read(_CHUNK):
            found.update(part)
    return found.hexdigest()
