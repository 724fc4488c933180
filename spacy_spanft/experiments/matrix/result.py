"""What a training leaves behind, and whether it is still there."""

import json
from pathlib import Path
from typing import Any, Literal

State = Literal["done", "changed", "damaged", "new"]

# What a training writes: facts, when it is done; scores, as it evaluates; a pipeline.
RESULT = "run.json"
SCORES = "log.jsonl"
MODEL = "model"
# What any pipeline has, for runs of which it was not written down.
_ALWAYS = ("config.cfg", "meta.json", "tokenizer", "vocab/strings.json")


def state_of(folder: Path, fingerprint: str) -> State:
    """Say whether a run was done.

    RETURNS (Literal["done", "changed", "damaged", "new"]): "changed" if it was done
        with other settings or files, "damaged" if something of it is gone or cut.
    """
    try:
        found = json.loads((folder / RESULT).read_text("utf8"))
    except FileNotFoundError:
        return "new"
    except (OSError, ValueError, RecursionError):
        return "damaged"
    if not isinstance(found, dict):
        return "damaged"
    if found.get("fingerprint") != fingerprint:
        return "changed"
    return "done" if _is_whole(folder / MODEL, found.get("files")) else "damaged"


def sizes_in(folder: Path) -> dict[str, int]:
    """List the files of a folder, and of those in it.

    RETURNS (dict[str, int]): Their paths in it, and their sizes.
    """
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}


def best_score(folder: Path) -> float | None:
    """Read the score of a run's best evaluation, which is that of its pipeline.

    folder (Path): The folder of the run.
    RETURNS (Optional[float]): The score; None if the log has none.
    """
    try:
        lines = (folder / SCORES).read_text("utf8").splitlines()
        return max(float(json.loads(line)["score"]) for line in lines if line.strip())
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _is_whole(model: Path, files: Any) -> bool:
    if not isinstance(files, dict):
        return all((model / name).is_file() for name in _ALWAYS)
    try:
        return all((model / name).stat().st_size == files[name] for name in files)
    except (OSError, ValueError):
        return False
