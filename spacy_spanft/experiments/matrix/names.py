"""Names that become folders, and a part of the paths in a config."""

import unicodedata
from collections.abc import Iterable

# The folder of a run is beside others whose names have something added.
MAX_BYTES = 100
_SIGNS = '/\\:*?"<>|'
# What stands in the folder of a task beside its arms.
_TAKEN = ("arms.json",)


def fault_of(name: str) -> str | None:
    """Say why a name cannot be that of a folder, on any system.

    RETURNS (Optional[str]): The reason; None if it can.
    """
    if not name:
        return "is empty"
    if name.startswith(".") or name.endswith("."):
        return "begins or ends with a dot"
    if name != name.strip():
        return "begins or ends with a space"
    for sign in name:
        if sign in _SIGNS:
            return f"has the character {sign!r}"
        if unicodedata.category(sign) in ("Cc", "Cs"):
            return f"has the control character {sign!r}"
    if "${" in name:
        return "has '${', which is a variable in a config"
    if folded(name) in _TAKEN:
        return "is that of a file beside the arms"
    if len(name.encode("utf8")) > MAX_BYTES:
        return f"is longer than {MAX_BYTES} bytes"
    return None


def folded(name: str) -> str:
    """Give what names have in common that are the same folder on some systems.

    RETURNS (str): The name without case, its accents composed.
    """
    return unicodedata.normalize("NFC", name.casefold())


def same_folder(names: Iterable[str]) -> tuple[str, str] | None:
    """Find two names that would be the same folder, on some systems at least.

    RETURNS (Optional[tuple[str, str]]): The first two; None if all differ.
    """
    seen: dict[str, str] = {}
    for name in names:
        if folded(name) in seen:
            return seen[folded(name)], name
        seen[folded(name)] = name
    return None
