"""Encoders by their names, before anything is loaded."""

import os
from pathlib import Path

from ..errors import Errors, SpanftError

# How nothing on the hub is named.
_OF_PATHS = (".", "~", "/")


def check_encoder(name: str) -> None:
    """Raise for a folder that is no encoder; names on the hub are not looked up.

    name (str): The name or the folder of an encoder.
    """
    folder = Path(name)
    if not os.path.exists(name):
        is_path = name.startswith(_OF_PATHS) or name.endswith("/")
        reason = "there is no such folder" if is_path or folder.is_absolute() else None
    elif not folder.is_dir():
        reason = "it is a file"
    else:
        is_whole = (folder / "config.json").is_file()
        reason = None if is_whole else "the folder has no config.json"
    if reason is not None:
        raise SpanftError(Errors.NO_ENCODER_THERE.format(name=name, reason=reason))
