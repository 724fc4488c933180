"""Check that all runs of a folder of results have the same encoder."""

import hashlib
import json
from pathlib import Path

from ..arguments import weights_of

NAME = "encoder.json"
_CHUNK = 2**20


def check_same(results: Path, encoder: Path) -> None:
    """Raise if earlier runs had another encoder: they would count as done.

    A file in the folder of the results names it, and is written if it is missing.
    """
    sha256, path = digest(encoder), results / NAME
    if not path.exists():
        results.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"name": encoder.resolve().name, "sha256": sha256}, indent=2)
        path.write_text(text + "\n", "utf8")
    try:
        known = dict(json.loads(path.read_bytes()))
        name, recorded = known["name"], known["sha256"]
    except (ValueError, TypeError, KeyError) as error:
        broken = f"{path} does not say which encoder the runs beside it have"
        raise SystemExit(f"{broken}: {error!r}.") from None
    if recorded != sha256:
        raise SystemExit(
            f"The runs in {results} have another encoder, {name!r}, than "
            f"{str(encoder)!r}. Name another folder with --results."
        )


def digest(encoder: Path) -> str:
    """Return the SHA-256 of an encoder's weights, in hexadecimal digits."""
    checksum = hashlib.sha256()
    for path in weights_of(encoder):
        with open(path, "rb") as file:
            while part := file.read(_CHUNK):
                checksum.update(part)
    return checksum.hexdigest()
