"""Which encoder is measured: the same one in all runs of a folder of results."""

import hashlib
import json
from pathlib import Path

from ..arguments import weights_of

NAME = "encoder.json"
_CHUNK = 2**20


def check_same(results: Path, encoder: Path) -> None:
    """Stop where earlier runs had another encoder: they would count as done.

    results (Path): The folder of the results. A file says which one they had; it is
        written if it is not there.
    encoder (Path): The folder of the encoder.
    """
    own, path = digest(encoder), results / NAME
    if not path.exists():
        results.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"name": encoder.resolve().name, "sha256": own}, indent=2)
        path.write_text(text + "\n", "utf8")
    try:
        known = dict(json.loads(path.read_bytes()))
        name, sha256 = known["name"], known["sha256"]
    except (ValueError, TypeError, KeyError) as error:
        broken = f"{path} does not say which encoder the runs beside it have"
        raise SystemExit(f"{broken}: {error!r}.") from None
    if sha256 != own:
        raise SystemExit(
            f"The runs in {results} have another encoder, {name!r}, than "
            f"{str(encoder)!r}. Name another folder with --results."
        )


def digest(encoder: Path) -> str:
    """Compute the checksum of an encoder's weights.

    encoder (Path): The folder of the encoder.
    RETURNS (str): SHA-256, in hexadecimal digits.
    """
    found = hashlib.sha256()
    for path in weights_of(encoder):
        with open(path, "rb") as file:
            while part := file.read(_CHUNK):
                found.update(part)
    return found.hexdigest()
