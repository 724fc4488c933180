"""Checks before training that the two parts of a corpus are two."""

from typing import Any

from ...errors import Errors, SpanftError

_HELD_OUT = "spacy-spanft.HeldOutCorpus.v1"


def check_parts(config: Any) -> None:
    """Raise for parts of a corpus that overlap, or that are not of the same one.

    config (Config): The pipeline's config, interpolated.
    """
    corpora = config.get("corpora", {})
    blocks = {name: corpora.get(name, {}) for name in ("train", "dev")}
    if any(block.get("@readers") != _HELD_OUT for block in blocks.values()):
        return
    for name, block in blocks.items():
        if block.get("part") != name:
            place = {"name": name, "part": block.get("part")}
            raise SpanftError(Errors.OTHER_PART.format(**place))
    train, dev = ({**block, "part": None} for block in blocks.values())
    keys = sorted({*train, *dev})
    if other := [key for key in keys if train.get(key) != dev.get(key)]:
        raise SpanftError(Errors.OTHER_PARTS.format(names=", ".join(other)))
